package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// lateMethod is a method whose type an earlier cell declared. It is checked as a function whose first parameter is the
// receiver.
type lateMethod struct {
	decl   *ast.FuncDecl // as written
	stand  *ast.FuncDecl // the function that stands for it
	method *types.Func   // on the type
}

func recvName(fd *ast.FuncDecl) string {
	if fd.Recv == nil || len(fd.Recv.List) == 0 {
		return ""
	}
	x := fd.Recv.List[0].Type
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.ParenExpr:
			x = y.X
		case *ast.Ident:
			return y.Name
		default:
			return ""
		}
	}
}

func pointerRecv(fd *ast.FuncDecl) bool {
	_, ok := ast.Unparen(fd.Recv.List[0].Type).(*ast.StarExpr)
	return ok
}

// splitMethods takes methods of earlier cells' types out of decls. A method that the type lacks, or has with the same
// signature, is late: values that exist get it. One that changes its signature makes a new version of the type.
func (c *checker) splitMethods(decls *[]ast.Decl) {
	renew := map[string]bool{}
	var rest []ast.Decl
	var late []*ast.FuncDecl
	for _, d := range *decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil || c.inCell[recvName(fd)] {
			rest = append(rest, d)
			continue
		}
		named := c.earlierType(recvName(fd))
		switch {
		case named == nil:
			rest = append(rest, d)
		case named.TypeParams().Len() > 0:
			renew[recvName(fd)] = true
			rest = append(rest, d)
		default:
			late = append(late, fd)
		}
	}
	for _, fd := range late {
		name := recvName(fd)
		if renew[name] || !c.acceptLate(fd, c.earlierType(name)) {
			renew[name] = true
		}
	}
	kept := c.late[:0]
	for _, l := range c.late {
		if !renew[recvName(l.decl)] {
			kept = append(kept, l)
		}
	}
	c.late = kept
	for _, fd := range late {
		if renew[recvName(fd)] {
			rest = append(rest, fd)
		}
	}
	for name := range renew {
		rest = c.renewType(name, rest)
	}
	*decls = rest
}

// earlierType returns the defined type that a name has from an earlier cell.
func (c *checker) earlierType(name string) *types.Named {
	o, ok := c.s.scope[name].(*types.TypeName)
	if !ok || o.IsAlias() || o.Pkg() == nil || !c.s.own[o.Pkg()] {
		return nil
	}
	n, _ := types.Unalias(o.Type()).(*types.Named)
	return n
}

// acceptLate finds or makes the method's object; it says no if the type has another method or field of that name.
func (c *checker) acceptLate(fd *ast.FuncDecl, named *types.Named) bool {
	sig := c.signature(fd)
	if sig == nil {
		if c.mentionsCell(fd.Type) {
			return false
		}
		c.late = append(c.late, &lateMethod{decl: fd}) // the stand-in will say what is wrong
		return true
	}
	var recv types.Type = named
	if pointerRecv(fd) {
		recv = types.NewPointer(named)
	}
	for m := range named.Methods() {
		if m.Name() != fd.Name.Name {
			continue
		}
		have := m.Signature()
		same := types.Identical(types.NewSignatureType(nil, nil, nil, have.Params(), have.Results(), have.Variadic()), sig) &&
			types.Identical(have.Recv().Type(), recv)
		if same {
			c.late = append(c.late, &lateMethod{decl: fd, method: m})
		}
		return same
	}
	if st, ok := named.Underlying().(*types.Struct); ok {
		for f := range st.Fields() {
			if f.Name() == fd.Name.Name {
				c.errs.add(c.fset.Position(fd.Name.Pos()), fmt.Sprintf("field and method with the same name %s", f.Name()))
				return true
			}
		}
	}
	pkg := named.Obj().Pkg()
	m := types.NewFunc(fd.Name.Pos(), pkg, fd.Name.Name, types.NewSignatureType(types.NewVar(0, pkg, "", recv), nil, nil, sig.Params(), sig.Results(), sig.Variadic()))
	c.late = append(c.late, &lateMethod{decl: fd, method: m})
	return true
}

// mentionsCell says whether a signature uses a name that this cell declares.
func (c *checker) mentionsCell(ft *ast.FuncType) (yes bool) {
	ast.Inspect(ft, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && c.inCell[id.Name] {
			yes = true
		}
		return !yes
	})
	return yes
}

// signature checks a method's parameters and results alone; nil if they do not check.
func (c *checker) signature(fd *ast.FuncDecl) *types.Signature {
	pkg := types.NewPackage("main", "main")
	f := &ast.File{Name: c.decls.Name}
	names := map[string]string{}
	for name, path := range c.s.imports {
		names[name] = path
	}
	ast.Inspect(fd.Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if o := c.s.scope[id.Name]; o != nil {
			delete(names, id.Name)
			if c.imports[id.Name] == "" && !c.inCell[id.Name] && pkg.Scope().Lookup(id.Name) == nil {
				pkg.Scope().Insert(o)
			}
		}
		return true
	})
	for name, path := range c.imports {
		names[name] = path
	}
	for name, path := range names {
		f.Decls = append(f.Decls, &ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{importSpec(name, path)}})
	}
	g := &ast.FuncDecl{Name: &ast.Ident{Name: "sig·"}, Type: fd.Type, Body: &ast.BlockStmt{}}
	f.Decls = append(f.Decls, g)
	info := newInfo()
	bad := false
	conf := types.Config{Importer: c.s.lib, IgnoreFuncBodies: true, Error: func(err error) {
		if te := err.(types.Error); !te.Soft {
			bad = true
		}
	}}
	_ = types.NewChecker(&conf, c.fset, pkg, info).Files([]*ast.File{f})
	o := info.Defs[g.Name]
	if bad || o == nil {
		return nil
	}
	return o.Type().(*types.Signature)
}

// renewType declares a type of an earlier cell again, with its other methods, because a method of this cell changes it.
func (c *checker) renewType(name string, decls []ast.Decl) []ast.Decl {
	o := c.s.scope[name]
	ts, ok := c.s.decls[o].node.(*ast.TypeSpec)
	if !ok {
		return decls
	}
	here := map[string]bool{}
	for _, d := range decls {
		if fd, ok := d.(*ast.FuncDecl); ok && recvName(fd) == name {
			here[fd.Name.Name] = true
		}
	}
	spec := *ts
	decls = append(decls, &ast.GenDecl{Tok: token.TYPE, TokPos: ts.Pos(), Specs: []ast.Spec{&spec}})
	c.inCell[name] = true
	c.types[name] = typeSpec{text: c.s.specs[o].text}
	for m := range types.Unalias(o.Type()).(*types.Named).Methods() {
		if fd, ok := c.s.decls[m].node.(*ast.FuncDecl); ok && !here[m.Name()] && !c.s.dead[m] {
			decls = append(decls, fd)
		}
	}
	c.warn = append(c.warn, fmt.Sprintf("type %s has a new version; existing values keep the old one", name))
	return decls
}

// addLate puts late methods on their types and their stand-ins into the file.
func (c *checker) addLate(imports map[string]string) {
	for i, l := range c.late {
		fd := l.decl
		recv := fd.Recv.List[0]
		if len(recv.Names) == 0 && len(fd.Type.Params.List) > 0 && len(fd.Type.Params.List[0].Names) > 0 {
			recv = &ast.Field{Names: []*ast.Ident{{Name: "_"}}, Type: recv.Type}
		}
		params := append([]*ast.Field{recv}, fd.Type.Params.List...)
		if len(recv.Names) > 0 { // named and unnamed parameters do not mix
			for j, f := range params[1:] {
				if len(f.Names) == 0 {
					g := *f
					g.Names = []*ast.Ident{{Name: "_"}}
					params[j+1] = &g
				}
			}
		}
		l.stand = &ast.FuncDecl{
			Name: &ast.Ident{Name: fmt.Sprintf("method·%d", i), NamePos: fd.Name.NamePos},
			Type: &ast.FuncType{Func: fd.Type.Func, Params: &ast.FieldList{List: params}, Results: fd.Type.Results},
			Body: fd.Body,
		}
		c.file.Decls = append(c.file.Decls, l.stand)
		if c.partial || l.method == nil {
			continue
		}
		named := c.earlierType(recvName(fd))
		if delete(c.s.dead, l.method); !hasMethod(named, l.method) {
			named.AddMethod(l.method)
		}
	}
}

func hasMethod(named *types.Named, m *types.Func) bool {
	for have := range named.Methods() {
		if have == m {
			return true
		}
	}
	return false
}

// abandonLate takes back the late methods of a cell that failed.
func (c *checker) abandonLate() {
	for _, l := range c.late {
		if l.method != nil && c.s.decls[l.method].node == nil {
			c.s.dead[l.method] = true
		}
	}
}

// rejectDead reports uses of methods that a failed cell left on a type.
func (c *checker) rejectDead(info *types.Info) {
	if len(c.s.dead) == 0 {
		return
	}
	for x, sel := range info.Selections {
		if m, ok := sel.Obj().(*types.Func); ok && c.s.dead[m] {
			c.errs.add(c.fset.Position(x.Sel.Pos()), words(fmt.Sprintf("%s.%s undefined (type %s has no field or method %s)",
				types.ExprString(x.X), x.Sel.Name, types.TypeString(sel.Recv(), func(p *types.Package) string { return p.Name() }), x.Sel.Name)))
		}
	}
}
