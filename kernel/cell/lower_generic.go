package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"strings"
)

// sourcePkg is a library package that was checked from source so that its generic functions can be instantiated.
type sourcePkg struct {
	pkg    *types.Package
	decls  map[types.Object]decl
	syntax *Syntax // of a package that is not compiled in
}

// source returns a library package with its syntax, nil if its source is not there.
func (s *Session) source(path string) *sourcePkg {
	if g, ok := s.generic[path]; ok {
		return g
	}
	s.generic[path] = nil
	files, ok := s.lib.Source(path)
	if !ok {
		return nil
	}
	var list []*ast.File
	for _, name := range sortedKeys(files) {
		f, err := parser.ParseFile(s.fset, path+"/"+name, files[name], parser.SkipObjectResolution)
		if err != nil {
			return nil
		}
		list = append(list, f)
	}
	info := newInfo()
	conf := types.Config{Importer: s.lib, Error: func(error) {}, IgnoreFuncBodies: false}
	pkg, _ := conf.Check(path, s.fset, list, info)
	if pkg == nil {
		return nil
	}
	g := &sourcePkg{pkg: pkg, decls: map[types.Object]decl{}}
	for _, f := range list {
		recordDecls(g.decls, f, info)
	}
	s.generic[path] = g
	return g
}

// srcDecl returns the syntax of a function, method or type that is lowered from source.
func (l *lowerer) srcDecl(o types.Object) (decl, bool) {
	if d, ok := l.s.decls[o]; ok {
		return d, true
	}
	if o.Pkg() == nil {
		return decl{}, false
	}
	if g := l.s.source(o.Pkg().Path()); g != nil {
		if d, ok := g.decls[o]; ok {
			return d, true
		}
	}
	return decl{}, false
}

// inSource returns the object of a compiled generic function that has syntax.
func (l *lowerer) inSource(f *types.Func) *types.Func {
	f = f.Origin()
	if l.s.fromSource(f.Pkg()) {
		return f
	}
	if g := l.s.source(f.Pkg().Path()); g != nil {
		if o, ok := g.pkg.Scope().Lookup(f.Name()).(*types.Func); ok {
			return o
		}
	}
	return f
}

// twin returns the instance of a library's generic type that is lowered from source, for one whose package is compiled.
func (l *lowerer) twin(t *types.Named) types.Type {
	if t.TypeArgs().Len() == 0 || l.instanceAlias(t) != "" {
		return nil
	}
	g := l.s.source(t.Obj().Pkg().Path())
	if g == nil || g.pkg == t.Obj().Pkg() {
		return nil
	}
	o, ok := g.pkg.Scope().Lookup(t.Obj().Name()).(*types.TypeName)
	if !ok {
		return nil
	}
	var args []types.Type
	for a := range t.TypeArgs().Types() {
		args = append(args, a)
	}
	if len(args) == 0 {
		return o.Type()
	}
	n, err := types.Instantiate(typeContext, o.Type(), args, false)
	if err != nil {
		return nil
	}
	return n
}

// instance returns the name of a function that is lowered from source, with these type arguments.
func (l *lowerer) instance(at ast.Node, f *types.Func, targs []types.Type) string {
	f = l.inSource(f)
	d, ok := l.srcDecl(f)
	if !ok {
		l.fail(at, "%s is generic, and its source is not part of this kernel", f.FullName())
	}
	name := l.im.names.at(f)
	if !l.s.own[f.Pkg()] {
		name = l.prefix(f.Pkg()) + f.Name()
	}
	for _, t := range targs {
		name += "__" + l.mangle(t)
	}
	if l.im.emitted.at(name) {
		return name
	}
	l.im.emitted.set(name, true)
	subst := map[*types.TypeParam]types.Type{}
	params := f.Signature().TypeParams()
	for i := range params.Len() {
		subst[params.At(i)] = targs[i]
	}
	l.queue = append(l.queue, func() { l.writeFunc(name, f, d, subst) })
	return name
}

// methodName returns the function that a method of a type from source has become.
func (l *lowerer) methodName(t *types.Named, m *types.Func) string {
	org := m.Origin()
	if !l.s.fromSource(org.Pkg()) || t.Obj().Pkg() != org.Pkg() {
		if twin, ok := l.twin(t).(*types.Named); ok {
			t = twin
			for k := range twin.Origin().Methods() {
				if k.Name() == m.Name() {
					org = k
				}
			}
		}
	}
	if l.fn != nil {
		l.deps[org] = true
	}
	if t.TypeArgs().Len() == 0 {
		if l.im.names.at(org) == "" {
			l.needMethod(org)
		}
		return l.im.names.at(org)
	}
	t = l.sub(t).(*types.Named)
	name := l.structName(t) + "_" + org.Name()
	if l.im.emitted.at(name) {
		return name
	}
	l.im.emitted.set(name, true)
	d, ok := l.srcDecl(org)
	if !ok {
		l.fail(nil, "method %s has no source", m.FullName())
	}
	subst := map[*types.TypeParam]types.Type{}
	rp := org.Signature().RecvTypeParams()
	for i := range rp.Len() {
		subst[rp.At(i)] = t.TypeArgs().At(i)
	}
	l.queueMethod(name, org, d, subst, t)
	return name
}

// needMethod gives a method of a plain type a function of a new name.
func (l *lowerer) needMethod(m *types.Func) {
	d, ok := l.srcDecl(m)
	if !ok {
		l.fail(nil, "method %s has no source", m.FullName())
	}
	t := recvNamed(m)
	name := l.im.fresh(t.Obj().Name() + "_" + m.Name())
	l.im.names.set(m, name)
	l.queueMethod(name, m, d, nil, t)
}

func (l *lowerer) queueMethod(name string, m *types.Func, d decl, subst map[*types.TypeParam]types.Type, t *types.Named) {
	var recv types.Type = t
	if pointerRecv(d.node.(*ast.FuncDecl)) {
		recv = types.NewPointer(t)
	}
	l.queue = append(l.queue, func() {
		l.writeMethod(name, m, d, subst, recv)
		l.in(nil, "", func() {
			l.defs = append(l.defs, fmt.Sprintf("krt.Method(%d, %q, %s)", l.typeRef(t), m.Name(), name))
		})
	})
}

func recvNamed(m *types.Func) *types.Named {
	t := m.Signature().Recv().Type()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Unalias(t).(*types.Named)
}

var typeContext = types.NewContext()

// sub replaces type parameters by the arguments of the instance that is being written.
func (l *lowerer) sub(t types.Type) types.Type {
	if t == nil || l.fn == nil || len(l.subst) == 0 {
		return t
	}
	return substitute(t, l.subst)
}

func (l *lowerer) under(t types.Type) types.Type { return l.sub(t).Underlying() }
func (l *lowerer) typeOf(x ast.Expr) types.Type  { return l.sub(l.info.TypeOf(x)) }

func substitute(t types.Type, m map[*types.TypeParam]types.Type) types.Type {
	switch t := t.(type) {
	case *types.TypeParam:
		if s, ok := m[t]; ok {
			return s
		}
	case *types.Alias:
		return substitute(types.Unalias(t), m)
	case *types.Named:
		if t.TypeArgs().Len() == 0 {
			return t
		}
		var args []types.Type
		for a := range t.TypeArgs().Types() {
			args = append(args, substitute(a, m))
		}
		if n, err := types.Instantiate(typeContext, t.Origin(), args, false); err == nil {
			return n
		}
	case *types.Pointer:
		return types.NewPointer(substitute(t.Elem(), m))
	case *types.Slice:
		return types.NewSlice(substitute(t.Elem(), m))
	case *types.Array:
		return types.NewArray(substitute(t.Elem(), m), t.Len())
	case *types.Map:
		return types.NewMap(substitute(t.Key(), m), substitute(t.Elem(), m))
	case *types.Chan:
		return types.NewChan(t.Dir(), substitute(t.Elem(), m))
	case *types.Tuple:
		return substituteTuple(t, m)
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, substituteTuple(t.Params(), m), substituteTuple(t.Results(), m), t.Variadic())
	case *types.Struct:
		var fields []*types.Var
		var tags []string
		for i := range t.NumFields() {
			f := t.Field(i)
			fields = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), substitute(f.Type(), m), f.Embedded()))
			tags = append(tags, t.Tag(i))
		}
		return types.NewStruct(fields, tags)
	}
	return t
}

func substituteTuple(t *types.Tuple, m map[*types.TypeParam]types.Type) *types.Tuple {
	var vars []*types.Var
	for v := range t.Variables() {
		vars = append(vars, types.NewVar(v.Pos(), v.Pkg(), v.Name(), substitute(v.Type(), m)))
	}
	return types.NewTuple(vars...)
}

// mangle makes a type part of an identifier. Types of one lowered form share instances unless their names differ.
func (l *lowerer) mangle(t types.Type) string {
	var b strings.Builder
	for _, r := range l.spell(t) {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			b.WriteRune(r)
		case r == '*':
			b.WriteString("P")
		case r == '[':
			b.WriteString("S")
		case r == '.', r == '/':
			b.WriteString("_")
		case r == ' ', r == ']':
		default:
			fmt.Fprintf(&b, "_%x", r)
		}
	}
	return b.String()
}

// spell writes a type so that two types have one spelling only if they are identical.
func (l *lowerer) spell(t types.Type) string {
	return spellType(l.sub(t), func(n *types.Named) string {
		o := n.Obj()
		if o.Pkg() == nil {
			return o.Name()
		}
		if !l.s.fromSource(o.Pkg()) {
			return o.Pkg().Path() + "." + o.Name()
		}
		return l.baseName(n)
	})
}

// typeRef numbers a type for calls of the run-time support, and makes the support know it.
func (l *lowerer) typeRef(t types.Type) int {
	t = l.sub(t)
	id := l.im.typeID(l.spell(t), t)
	if l.needsBox(t) {
		l.needBox(t)
	} else if n := l.s.ownNamed(t); n != nil {
		if st, ok := n.Underlying().(*types.Struct); ok {
			l.needStruct(n, st)
		}
	}
	return id
}
