package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// Syntax is a package that is not compiled into the kernel: cells get its functions, types and variables from its source.
type Syntax struct {
	Pkg   *types.Package
	Files []*ast.File
	Info  *types.Info // complete, with InitOrder
}

// fromSyntax returns a package that the library has as syntax, and makes the session know it and what it imports.
func (s *Session) fromSyntax(path string) *sourcePkg {
	if g := s.generic[path]; g != nil && g.syntax != nil {
		return g
	}
	syn := s.lib.Syntax(path)
	if syn == nil {
		return nil
	}
	g := &sourcePkg{pkg: syn.Pkg, decls: map[types.Object]decl{}, syntax: syn}
	for _, f := range syn.Files {
		recordDecls(g.decls, f, syn.Info)
	}
	s.generic[path] = g
	for _, imp := range syn.Pkg.Imports() {
		s.fromSyntax(imp.Path())
	}
	return g
}

// needPackage writes the variables of a package from syntax, and has them set before the cell runs.
func (l *lowerer) needPackage(path string) {
	g := l.s.fromSyntax(path)
	key := "package " + path
	if g == nil || l.im.emitted.at(key) {
		return
	}
	l.im.emitted.set(key, true)
	for _, imp := range g.pkg.Imports() {
		l.needPackage(imp.Path())
	}
	for _, name := range g.pkg.Scope().Names() {
		if v, ok := g.pkg.Scope().Lookup(name).(*types.Var); ok && name != "_" {
			l.im.names.set(v, l.im.fresh(l.prefix(g.pkg)+name))
			l.in(nil, "", func() { l.vars = append(l.vars, "var "+l.im.names.at(v)+" "+l.typeStr(v.Type())) })
		}
	}
	start := l.im.fresh(l.prefix(g.pkg) + "start")
	var b strings.Builder
	for _, in := range g.syntax.Info.InitOrder {
		d := decl{in.Rhs, g.syntax.Info}
		l.within(d, "", start, nil, in.Rhs, func() {
			l.sig = types.NewSignatureType(nil, nil, nil, nil, nil, false)
			l.initVars(&b, in)
		})
	}
	for _, f := range g.syntax.Files {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Recv != nil || fd.Name.Name != "init" {
				continue
			}
			name := l.im.fresh(l.prefix(g.pkg) + "init")
			l.writeFunc(name, g.syntax.Info.Defs[fd.Name].(*types.Func), decl{fd, g.syntax.Info}, nil)
			b.WriteString(name + "()\n")
		}
	}
	l.funcs = append(l.funcs, "func "+start+"() {\n"+b.String()+"}")
	l.starts = append(l.starts, start+"()")
}

// initVars writes one initialization of package variables.
func (l *lowerer) initVars(b *strings.Builder, in *types.Initializer) {
	if len(in.Lhs) == 1 {
		v := l.value(in.Rhs, in.Lhs[0].Type())
		if name := l.im.names.at(in.Lhs[0]); name != "" {
			fmt.Fprintf(b, "%s = %s\n", name, v)
		} else {
			fmt.Fprintf(b, "%s := %s\n", l.tmp("x"), v)
		}
		return
	}
	tuple := l.typeOf(in.Rhs).(*types.Tuple)
	var names []string
	var post strings.Builder
	for i, v := range in.Lhs {
		n := l.tmp("v")
		fmt.Fprintf(b, "var %s %s\n", n, l.typeStr(tuple.At(i).Type()))
		names = append(names, n)
		if name := l.im.names.at(v); name != "" {
			fmt.Fprintf(&post, "%s = %s\n", name, l.convert(n, tuple.At(i).Type(), v.Type()))
		}
	}
	fmt.Fprintf(b, "%s = %s\n%s", strings.Join(names, ", "), l.tupleText(in.Rhs), post.String())
}

// prefix starts the lowered names of what a package from source declares.
func (l *lowerer) prefix(p *types.Package) string {
	key := "prefix " + p.Path()
	name := l.im.alias.at(key)
	if name == "" {
		name = fmt.Sprintf("p%d_%s_", len(l.im.alias.m), p.Name())
		l.im.alias.set(key, name)
	}
	return name
}
