package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// declarations returns the cell's declarations but imports and unchanged types, and notes what they declare.
func (c *checker) declarations() (decls []ast.Decl) {
	for _, d := range c.decls.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			specs := d.Specs[:0:0]
			for _, sp := range d.Specs {
				if ts, ok := sp.(*ast.TypeSpec); ok {
					text := c.text(ts)
					if c.unchanged(ts.Name.Name, text) {
						continue
					}
					c.types[ts.Name.Name] = typeSpec{text: text}
				}
				c.note(d.Tok, sp)
				specs = append(specs, sp)
			}
			if len(specs) == 0 {
				continue
			}
			d.Specs = specs
		case *ast.FuncDecl:
			if d.Body == nil {
				c.errs.add(c.fset.Position(d.Name.Pos()), "missing function body")
			}
			if d.Recv == nil {
				// A cell's main and init run when the cell does; for the checker they are ordinary functions.
				if d.Name.Name == "main" || d.Name.Name == "init" {
					name := d.Name.Name + "·"
					if d.Name.Name == "init" { // there may be several
						name = fmt.Sprintf("init·%d", len(c.mains))
					}
					d.Name = &ast.Ident{Name: name, NamePos: d.Name.NamePos}
					c.mains = append(c.mains, d)
				}
				c.inCell[d.Name.Name] = true
			}
		}
		decls = append(decls, d)
	}
	return decls
}

func (c *checker) note(tok token.Token, sp ast.Spec) {
	switch sp := sp.(type) {
	case *ast.ValueSpec:
		for _, n := range sp.Names {
			c.inCell[n.Name] = true
		}
		if tok == token.VAR {
			c.steps = append(c.steps, step{pos: sp.Pos(), spec: sp})
		}
	case *ast.TypeSpec:
		c.inCell[sp.Name.Name] = true
	}
}

// text is the source text of a node of the cell.
func (c *checker) text(n ast.Node) string {
	off := func(p token.Pos) int { return c.fset.PositionFor(p, false).Offset - len(declPrefix) }
	i, j := off(n.Pos()), off(n.End())
	if i < 0 || j > len(c.src) || i > j {
		return ""
	}
	return c.src[i:j]
}

// unchanged says whether a type declaration repeats what the session holds, and every name in it means what it meant.
// Such a declaration is left alone, so that values of earlier runs of the cell keep a type that exists.
func (c *checker) unchanged(name, text string) bool {
	o := c.s.scope[name]
	old, ok := c.s.specs[o]
	if o == nil || !ok || old.text != text || text == "" {
		return false
	}
	for use, meant := range old.uses {
		if use != name && c.declares(use) || c.s.lookup(use) != meant && meant.Pkg() != nil {
			return false
		}
	}
	return true
}

// declares says whether the cell's text declares a name anew.
func (c *checker) declares(name string) bool {
	if c.inCell[name] || c.imports[name] != "" {
		return true
	}
	for _, d := range c.decls.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, sp := range g.Specs {
			if ts, ok := sp.(*ast.TypeSpec); ok && ts.Name.Name == name && !c.unchanged(name, c.text(ts)) {
				return true
			}
		}
	}
	return false
}

// lookup says what a name means; an import is its package's object.
func (s *Session) lookup(name string) types.Object {
	if o := s.scope[name]; o != nil {
		return o
	}
	return types.Universe.Lookup(name)
}

// statements returns the body of the function that stands for the cell, and adds a variable declaration for each := whose
// names are new.
func (c *checker) statements(decls *[]ast.Decl) (body []ast.Stmt) {
	for i, s := range c.body.List {
		as, ok := s.(*ast.AssignStmt)
		if ok && as.Tok == token.DEFINE && c.plainNames(as) {
			fresh := c.freshNames(as)
			if len(fresh) > 0 {
				body = append(body, c.define(i, as, fresh, decls)...)
				c.steps = append(c.steps, step{pos: as.Pos(), define: as})
				continue
			}
			as.Tok = token.ASSIGN // all names are of this cell: it assigns
		}
		body = append(body, s)
		c.steps = append(c.steps, step{pos: s.Pos(), stmt: s})
	}
	return body
}

func (c *checker) plainNames(as *ast.AssignStmt) bool {
	for _, l := range as.Lhs {
		if _, ok := l.(*ast.Ident); !ok {
			return false
		}
	}
	return true
}

func (c *checker) freshNames(as *ast.AssignStmt) (fresh []*ast.Ident) {
	blank := 0
	for _, l := range as.Lhs {
		id := l.(*ast.Ident)
		if id.Name == "_" {
			blank++
		} else if !c.inCell[id.Name] {
			fresh = append(fresh, id)
		}
	}
	return fresh
}

// define declares the variables of a top-level :=. Names that the cell has already are assigned through temporaries.
func (c *checker) define(i int, as *ast.AssignStmt, fresh []*ast.Ident, decls *[]ast.Decl) (body []ast.Stmt) {
	for _, id := range fresh {
		c.rememberOld(as, id.Name)
	}
	spec := &ast.ValueSpec{Values: as.Rhs}
	for j, l := range as.Lhs {
		id := l.(*ast.Ident)
		if id.Name == "_" || !c.inCell[id.Name] {
			spec.Names = append(spec.Names, id)
			continue
		}
		tmp := &ast.Ident{Name: fmt.Sprintf("tmp·%d_%d", i, j), NamePos: id.NamePos}
		spec.Names = append(spec.Names, tmp)
		body = append(body, &ast.AssignStmt{Lhs: []ast.Expr{id}, Tok: token.ASSIGN, TokPos: as.TokPos,
			Rhs: []ast.Expr{&ast.Ident{Name: tmp.Name, NamePos: id.NamePos}}})
	}
	*decls = append(*decls, &ast.GenDecl{Tok: token.VAR, TokPos: as.Pos(), Specs: []ast.Spec{spec}})
	for _, id := range fresh {
		c.inCell[id.Name] = true
	}
	return body
}

// rememberOld makes a name that is being redefined mean its old self on the right side.
func (c *checker) rememberOld(as *ast.AssignStmt, name string) {
	old := c.s.scope[name]
	if old == nil {
		return
	}
	for j := range as.Rhs {
		if id, ok := as.Rhs[j].(*ast.Ident); ok && id.Name == name {
			as.Rhs[j] = &ast.Ident{Name: name + oldSuffix, NamePos: id.NamePos}
			c.olds[name+oldSuffix] = old
		} else if renameIn(as.Rhs[j], name, name+oldSuffix) {
			c.olds[name+oldSuffix] = old
		}
	}
}

// renameIn renames an identifier inside an expression, but not where it is a field's or a parameter's name.
func renameIn(x ast.Expr, from, to string) (did bool) {
	skip := map[*ast.Ident]bool{}
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			skip[n.Sel] = true
		case *ast.FuncLit:
			for _, f := range n.Type.Params.List {
				for _, id := range f.Names {
					if id.Name == from {
						return false // shadowed by a parameter
					}
				}
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				skip[id] = true
			}
		case *ast.Ident:
			if n.Name == from && !skip[n] {
				n.Name, did = to, true
			}
		}
		return true
	})
	return did
}
