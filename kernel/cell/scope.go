package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
)

// Scope is a read-only view of what the next cell will see.
type Scope struct{ s *Session }

// Scope returns the view. It follows the session as cells are committed.
func (s *Session) Scope() Scope { return Scope{s} }

// Names returns what each top-level name means. Imports are not among them.
func (v Scope) Names() map[string]types.Object { return maps.Clone(v.s.scope) }

// Imports returns the import path of each imported name.
func (v Scope) Imports() map[string]string { return maps.Clone(v.s.imports) }

// Import returns the types of an importable package.
func (v Scope) Import(path string) (*types.Package, error) { return v.s.lib.Import(path) }

// Cell returns the number of the cell that declared an object, 0 if none did.
func (v Scope) Cell(o types.Object) int { return v.s.born[o] }

// Decl returns the syntax of a function, method or type that a cell declared, nil if there is none.
func (v Scope) Decl(o types.Object) (ast.Node, *token.FileSet) { return v.s.decls[o].node, v.s.fset }

// Partial is a cell that was checked as far as it goes.
type Partial struct {
	Fset *token.FileSet
	// File holds the declarations, and the statements in a function named "cell·". Positions carry the cell's own lines and
	// columns through Fset.Position.
	File *ast.File
	Pkg  *types.Package
	Info *types.Info
}

// CheckPartial parses and checks a cell that may be unfinished or wrong, for completion and inspection. Nothing is kept. Names
// of statements (x := 1) are package-level objects, as in a real check.
func (v Scope) CheckPartial(src string) Partial {
	fset := token.NewFileSet()
	items := Split(src)
	const line = "//line cell:1:1\n"
	df, _ := parser.ParseFile(fset, "", "package main\n"+line+blank(src, items, true)+"\n", parser.SkipObjectResolution)
	sf, _ := parser.ParseFile(fset, "", "package main\nfunc _(){\n"+line+blank(src, items, false)+"\n}\n", parser.SkipObjectResolution)
	c := &checker{s: v.s, n: 0, src: src, items: items, fset: fset, imports: map[string]string{}, partial: true, errs: &Errors{Src: src}}
	c.decls = df
	c.body = &ast.BlockStmt{}
	if sf != nil && len(sf.Decls) > 0 {
		if fd, ok := sf.Decls[0].(*ast.FuncDecl); ok && fd.Body != nil {
			c.body = fd.Body
		}
	}
	p := Partial{Fset: fset, Info: newInfo()}
	defer func() {
		if r := recover(); r != nil { // half a cell can be stranger than the checker is ready for
			p.File = c.file
		}
	}()
	c.collectImports()
	c.assemble()
	p.File, p.Pkg = c.file, c.pkg
	conf := types.Config{Importer: v.s.lib, Error: func(error) {}}
	_ = types.NewChecker(&conf, fset, c.pkg, p.Info).Files([]*ast.File{c.file})
	return p
}

func importSpec(name, path string) *ast.ImportSpec {
	sp := &ast.ImportSpec{Path: &ast.BasicLit{Kind: token.STRING, Value: fmt.Sprintf("%q", path)}}
	if name != "" {
		sp.Name = &ast.Ident{Name: name}
	}
	return sp
}
