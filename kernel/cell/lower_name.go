package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// instanceIdent is the identifier that carries the instance of a generic function.
func instanceIdent(x ast.Expr) *ast.Ident {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	case *ast.IndexExpr:
		return instanceIdent(x.X)
	case *ast.IndexListExpr:
		return instanceIdent(x.X)
	}
	return nil
}

func (l *lowerer) ident(id *ast.Ident) string {
	o := l.info.Uses[id]
	if o == nil {
		o = l.info.Defs[id]
	}
	if o == nil {
		return id.Name
	}
	return l.object(id, o)
}

// local is the lowered name of a variable of a function.
func (l *lowerer) local(o types.Object) string {
	if name, ok := l.rename[o]; ok {
		return name
	}
	return o.Name()
}

// define gives a variable of a function its lowered name: its own, unless that means something in lowered code.
func (l *lowerer) define(o types.Object, name string) string {
	if !reserved(name) {
		return name
	}
	name = "u_" + name
	if o != nil {
		l.rename[o] = name
	}
	return name
}

func reserved(name string) bool {
	for _, p := range []string{"k_", "g_", "p_", "u_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return name == "krt" || name == "main" || name == "init" || types.Universe.Lookup(name) != nil
}

// importPrefix goes before the import paths of lowered code: the interpreter treats some paths specially.
const importPrefix = "lib/"

// alias is the name by which lowered code imports a package.
func (l *lowerer) alias(path, name string) string {
	a, ok := l.im.alias.get(path)
	if !ok {
		a = fmt.Sprintf("k_p%d_%s", len(l.im.alias.m), name)
		l.im.alias.set(path, a)
		from := importPrefix + path
		if path == "unsafe" {
			from = path
		}
		l.imports = append(l.imports, fmt.Sprintf("%s %q", a, from))
	}
	return a
}

// object writes a use of a named thing.
func (l *lowerer) object(id *ast.Ident, o types.Object) string {
	switch o := o.(type) {
	case *types.Nil, *types.Builtin:
		return id.Name
	case *types.Func:
		if inst, ok := l.info.Instances[id]; ok {
			if to := replacedGeneric[o.FullName()]; to != "" {
				return "krt." + to
			}
			var targs []types.Type
			for a := range inst.TypeArgs.Types() {
				targs = append(targs, l.sub(a))
			}
			if l.s.own[o.Pkg()] {
				l.deps[o.Origin()] = true
			}
			return l.instance(id, o, targs)
		}
	}
	if o.Pkg() == nil {
		return id.Name
	}
	if l.s.isOwn(o) {
		l.deps[o] = true
		if name := l.im.names.at(o); name != "" {
			return name
		}
		l.fail(id, "%s has no value", o.Name())
	}
	if o.Parent() != o.Pkg().Scope() {
		name := l.local(o)
		if l.caps.boxed(o) {
			return "(*" + name + ")"
		}
		return name
	}
	if v, ok := o.(*types.Var); ok && l.im.names.at(v) != "" {
		return l.im.names.at(v) // of a package from syntax
	}
	if f, ok := o.(*types.Func); ok {
		if to := replaced[f.FullName()]; to != "" {
			return "krt." + to
		}
	}
	if o.Exported() && l.s.lib.Has(o.Pkg().Path(), o.Name()) {
		a := l.alias(o.Pkg().Path(), o.Pkg().Name())
		if _, ok := o.(*types.Var); ok {
			if to := replaced[o.Pkg().Path()+"."+o.Name()]; to != "" {
				return "krt." + to + "()"
			}
			return "(*" + a + "." + o.Name() + "__ptr)"
		}
		return a + "." + o.Name()
	}
	if f, ok := o.(*types.Func); ok {
		return l.instance(id, f, nil)
	}
	if v, ok := o.(*types.Var); ok && l.s.fromSource(o.Pkg()) {
		l.fail(id, "variable %s of package %s is not available in cells", v.Name(), o.Pkg().Path())
	}
	l.fail(id, "%s.%s is not available in cells", o.Pkg().Path(), o.Name())
	return ""
}
