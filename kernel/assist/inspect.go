package assist

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/format"
	"go/types"
	"strings"
)

// Inspection is what can be said about the thing at the cursor.
type Inspection struct {
	Name      string
	Signature string // its declaration in one or a few lines of Go
	Doc       string // doc comment, "" if none
	Value     string // present value of a session variable, "" if none
	Source    string // declaration in a cell, "" if it is not of a cell
	Cell      int    // that cell, 0 if unknown
}

// Inspect describes the identifier at the cursor; between the parentheses of a call, with no identifier at the cursor, the
// function that is called. ok is false when nothing is known there.
func Inspect(sc Scope, src string, cursor int) (ins Inspection, ok bool) {
	p := locate(src, cursor)
	if p.place != inCode {
		return ins, false
	}
	name := src[p.start:p.end]
	if name == "" || !isIdent([]rune(name)[0]) {
		return inspectCall(sc, src, cursor)
	}
	// The name itself goes through the check, behind a marker that is cut off again, so that it means what it means.
	o, c := resolve(sc, src, p, name)
	if o == nil {
		return inspectCall(sc, src, cursor)
	}
	return c.describe(sc, o), true
}

// resolve finds what name, at p, means.
func resolve(sc Scope, src string, p position, name string) (types.Object, *checked) {
	c := check(sc, src, p.start, p.end, "")
	if c == nil {
		return nil, nil
	}
	if len(c.path) > 1 {
		if sel, ok := c.path[1].(*ast.SelectorExpr); ok && sel.Sel == c.path[0] {
			return c.member(sel.X, name), c
		}
	}
	for _, s := range c.scopes() {
		if o := s.Lookup(name); o != nil {
			return o, c
		}
	}
	if o := sc.Names()[name]; o != nil {
		return o, c
	}
	if path, ok := sc.Imports()[name]; ok {
		if p, err := sc.Import(path); err == nil {
			return types.NewPkgName(0, c.Pkg, name, p), c
		}
	}
	return types.Universe.Lookup(name), c
}

// member looks name up behind x and a dot.
func (c *checked) member(x ast.Expr, name string) types.Object {
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if pn, ok := c.Info.Uses[id].(*types.PkgName); ok {
			return pn.Imported().Scope().Lookup(name)
		}
	}
	t := c.Info.TypeOf(x)
	if t == nil {
		return nil
	}
	o, _, _ := types.LookupFieldOrMethod(t, true, c.Pkg, name)
	return o
}

// inspectCall describes the function of the innermost call around the cursor.
func inspectCall(sc Scope, src string, cursor int) (Inspection, bool) {
	c := check(sc, src, cursor, cursor, " ")
	if c == nil {
		return Inspection{}, false
	}
	for _, n := range c.path {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Fun == c.path[0] {
			continue
		}
		var id *ast.Ident
		switch f := ast.Unparen(call.Fun).(type) {
		case *ast.Ident:
			id = f
		case *ast.SelectorExpr:
			id = f.Sel
		}
		if id == nil {
			return Inspection{}, false
		}
		if o := c.Info.Uses[id]; o != nil {
			return c.describe(sc, o), true
		}
		return Inspection{}, false
	}
	return Inspection{}, false
}

func (c *checked) describe(sc Scope, o types.Object) Inspection {
	ins := Inspection{Name: o.Name(), Signature: types.ObjectString(o, byName)}
	switch o := o.(type) {
	case *types.PkgName:
		ins.Signature = fmt.Sprintf("package %s // import %q", o.Imported().Name(), o.Imported().Path())
		ins.Doc = plain(sc.Doc(o.Imported().Path(), ""))
		return ins
	case *types.Var:
		if !o.IsField() {
			ins.Signature = o.Name() + " " + types.TypeString(o.Type(), byName)
		}
	case *types.TypeName:
		ins.Signature += methodList(o)
	}
	if sc.Names()[o.Name()] == o {
		ins.Source, ins.Cell = source(sc, o), sc.Cell(o)
		if _, isVar := o.(*types.Var); isVar {
			ins.Value = sc.Value(o.Name())
		}
	}
	if o.Pkg() != nil && o.Pkg() != c.Pkg {
		ins.Doc = plain(sc.Doc(o.Pkg().Path(), docName(o)))
	} else if t, ok := types.Unalias(o.Type()).(*types.Named); ok && o.Pkg() == nil {
		ins.Doc = plain(sc.Doc("builtin", t.Obj().Name()))
	}
	if o.Pkg() == nil {
		ins.Doc = plain(sc.Doc("builtin", o.Name()))
	}
	return ins
}

// docName is the name under which an object's doc comment is kept.
func docName(o types.Object) string {
	switch o := o.(type) {
	case *types.Func:
		if recv := o.Signature().Recv(); recv != nil {
			t := recv.Type()
			if p, ok := t.(*types.Pointer); ok {
				t = p.Elem()
			}
			if n, ok := types.Unalias(t).(*types.Named); ok {
				return n.Obj().Name() + "." + o.Name()
			}
		}
	case *types.Var:
		if o.IsField() {
			return owner(o) + "." + o.Name()
		}
	}
	return o.Name()
}

// owner finds the named struct that declares a field.
func owner(f *types.Var) string {
	if f.Pkg() == nil {
		return ""
	}
	scope := f.Pkg().Scope()
	for _, n := range scope.Names() {
		tn, ok := scope.Lookup(n).(*types.TypeName)
		if !ok {
			continue
		}
		if s, ok := tn.Type().Underlying().(*types.Struct); ok {
			for i := range s.NumFields() {
				if s.Field(i) == f {
					return n
				}
			}
		}
	}
	return ""
}

// methodList lists a type's exported methods, a line each.
func methodList(t *types.TypeName) string {
	if types.IsInterface(t.Type()) {
		return ""
	}
	var b strings.Builder
	ms := types.NewMethodSet(types.NewPointer(t.Type()))
	for i := range ms.Len() {
		if m := ms.At(i).Obj(); m.Exported() {
			b.WriteString("\n" + types.ObjectString(m, byName))
		}
	}
	return b.String()
}

// plain lays a doc comment out as text.
func plain(doc string) string {
	if doc == "" {
		return ""
	}
	var p comment.Parser
	pr := comment.Printer{TextWidth: 80} // what a tooltip shows without breaking lines
	return strings.TrimRight(string(pr.Text(p.Parse(doc))), "\n")
}

// source prints what a cell declared o with, "" if its syntax is not kept.
func source(sc Scope, o types.Object) string {
	n, fset := sc.Decl(o)
	if n == nil {
		return ""
	}
	var b strings.Builder
	if _, ok := n.(*ast.TypeSpec); ok {
		b.WriteString("type ")
	}
	if err := format.Node(&b, fset, n); err != nil {
		return ""
	}
	return b.String()
}
