package cell

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// oldSuffix marks the earlier meaning of a name on the right side of its redefinition: x := x + 1.
const oldSuffix = "·old"

// cellFunc is the function that holds a cell's statements while it is checked.
const cellFunc = "cell·"

// Checked is a cell that has been checked and not yet been lowered.
type Checked struct {
	Warnings []string

	n       int
	src     string
	items   []Item
	pkg     *types.Package
	info    *types.Info
	file    *ast.File
	steps   []step
	fn      *ast.FuncDecl     // the statements
	imports map[string]string // what the cell imports: local name -> path
	dots    []string          // paths of dot imports
	mains   []*ast.FuncDecl   // main and init, called at the end
	late    []*lateMethod
	types   map[string]typeSpec
	olds    map[string]types.Object
	last    bool  // the cell ends in an expression
	bases   []int // of the parsed files
	paths   []string
}

// step is one thing that the cell does, in the order of its text: exactly one field but pos is set.
type step struct {
	pos    token.Pos
	spec   *ast.ValueSpec  // var x = 1
	define *ast.AssignStmt // x := 1, where some name is new
	stmt   ast.Stmt
}

// checker carries a cell through the stage.
type checker struct {
	s       *Session
	n       int
	src     string
	items   []Item
	fset    *token.FileSet
	decls   *ast.File
	body    *ast.BlockStmt
	imports map[string]string
	dots    []string
	paths   []string // of all imports
	partial bool
	errs    *Errors

	inCell map[string]bool         // names that the cell declares so far
	types  map[string]typeSpec     // type declarations of the cell
	olds   map[string]types.Object // what "x·old" means
	steps  []step
	mains  []*ast.FuncDecl
	late   []*lateMethod
	warn   []string
	pkg    *types.Package
	file   *ast.File
	fn     *ast.FuncDecl
}

// Check checks cell n. Nothing is kept; an error is an *Errors.
func (s *Session) Check(n int, src string) (*Checked, error) {
	c := &checker{s: s, n: n, src: src, items: Split(src), fset: s.fset, imports: map[string]string{}, errs: &Errors{Cell: n, Src: src}}
	if !c.parse() {
		return nil, c.errs.orNil()
	}
	c.collectImports()
	if err := c.errs.orNil(); err != nil {
		return nil, err
	}
	c.assemble()
	if err := c.errs.orNil(); err != nil {
		return nil, err
	}
	info := newInfo()
	conf := types.Config{Importer: s.lib, Error: c.report}
	_ = types.NewChecker(&conf, s.fset, c.pkg, info).Files([]*ast.File{c.file}) // errors went to report
	c.rejectDead(info)
	if err := c.errs.orNil(); err != nil {
		c.abandonLate()
		return nil, err
	}
	last := len(c.items) > 0 && c.items[len(c.items)-1].Kind == Expr
	return &Checked{Warnings: c.warn, n: n, src: src, items: c.items, pkg: c.pkg, info: info, file: c.file, steps: c.steps, fn: c.fn,
		imports: c.imports, dots: c.dots, mains: c.mains, late: c.late, paths: c.paths, types: c.types, olds: c.olds, last: last, bases: []int{c.base(c.decls.Pos()), c.base(c.body.Pos())}}, nil
}

const (
	declPrefix = "package main\n//line cell:1:1\n"
	stmtPrefix = "package main\nfunc _(){\n//line cell:1:1\n"
)

func (c *checker) parse() bool {
	df, err := parser.ParseFile(c.fset, "", declPrefix+blank(c.src, c.items, true)+"\n", parser.SkipObjectResolution|parser.AllErrors)
	if err != nil {
		c.errs.addAll(withoutImportOrder(err))
	}
	sf, err := parser.ParseFile(c.fset, "", stmtPrefix+blank(c.src, c.items, false)+"\n}\n", parser.SkipObjectResolution|parser.AllErrors)
	if err != nil {
		c.errs.addAll(err)
	}
	if len(c.errs.List) > 0 {
		c.errs.endAtCell()
		return false
	}
	if len(sf.Decls) != 1 {
		c.errs.add(token.Position{Line: 1, Column: 1}, "syntax error: unexpected }")
		return false
	}
	c.decls, c.body = df, sf.Decls[0].(*ast.FuncDecl).Body
	return true
}

// withoutImportOrder drops complaints that an import comes late: in a cell it may stand anywhere.
func withoutImportOrder(err error) error {
	list, ok := err.(scanner.ErrorList)
	if !ok {
		return err
	}
	return slices.DeleteFunc(list, func(e *scanner.Error) bool { return strings.HasPrefix(e.Msg, "imports must appear") })
}

func (c *checker) report(err error) {
	te := err.(types.Error)
	if ok, warning := c.tolerated(te); ok {
		if warning != "" {
			c.warn = append(c.warn, warning)
		}
		return
	}
	c.errs.add(c.fset.Position(te.Pos), words(te.Msg))
}

func (c *checker) base(p token.Pos) int { return c.fset.File(p).Base() }

// atTop says whether a position is that of a statement of the cell itself.
func (c *checker) atTop(p token.Pos) bool {
	for _, st := range c.body.List {
		if x, ok := st.(*ast.ExprStmt); ok && x.Pos() <= p && p < x.End() {
			lit := false
			ast.Inspect(x, func(n ast.Node) bool {
				if l, ok := n.(*ast.FuncLit); ok && l.Pos() < p && p < l.End() {
					lit = true
				}
				return !lit
			})
			return !lit
		}
	}
	return false
}

func (c *checker) collectImports() {
	for _, sp := range c.decls.Imports {
		path := strings.Trim(sp.Path.Value, "\"`")
		p, err := c.s.lib.Import(path)
		if err != nil {
			c.errs.add(c.fset.Position(sp.Pos()), err.Error())
			continue
		}
		c.s.fromSyntax(path)
		c.paths = append(c.paths, path)
		name := p.Name()
		if sp.Name != nil {
			name = sp.Name.Name
		}
		switch name {
		case "_":
		case ".":
			c.dots = append(c.dots, path)
		default:
			c.imports[name] = path
		}
	}
}

// assemble makes the one file that is checked: the imports, the cell's declarations, a variable declaration for each
// top-level :=, and a function with the statements.
func (c *checker) assemble() {
	c.pkg = types.NewPackage("main", "main")
	c.inCell, c.types, c.olds = map[string]bool{}, map[string]typeSpec{}, map[string]types.Object{}
	decls := c.declarations()
	body := c.statements(&decls)
	slices.SortStableFunc(c.steps, func(a, b step) int {
		p, q := c.fset.Position(a.pos), c.fset.Position(b.pos)
		if p.Line != q.Line {
			return p.Line - q.Line
		}
		return p.Column - q.Column
	})
	c.splitMethods(&decls)

	imports := c.visible(decls)
	c.file = &ast.File{Name: c.decls.Name, Package: c.decls.Package, FileStart: c.decls.FileStart, FileEnd: c.decls.FileEnd}
	for name, path := range imports {
		c.file.Imports = append(c.file.Imports, importSpec(name, path))
	}
	for _, path := range c.dots {
		c.file.Imports = append(c.file.Imports, importSpec(".", path))
	}
	for _, sp := range c.file.Imports {
		c.file.Decls = append(c.file.Decls, &ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{sp}})
	}
	c.file.Decls = append(c.file.Decls, decls...)
	c.fn = &ast.FuncDecl{Name: &ast.Ident{Name: cellFunc}, Type: &ast.FuncType{Params: &ast.FieldList{}},
		Body: &ast.BlockStmt{List: body, Lbrace: c.body.Lbrace, Rbrace: c.body.Rbrace}}
	c.file.Decls = append(c.file.Decls, c.fn)
	c.addLate(imports)
}

// mentioned returns the identifiers of the cell. An old session has many names, and a cell few; a partial cell may be about to
// use any.
func (c *checker) mentioned(decls []ast.Decl) map[string]bool {
	names := map[string]bool{}
	if c.partial {
		for name := range c.s.scope {
			names[name] = true
		}
		return names
	}
	visit := func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names[id.Name] = true
		}
		return true
	}
	for _, d := range decls {
		ast.Inspect(d, visit)
	}
	for _, l := range c.late {
		ast.Inspect(l.decl, visit)
	}
	ast.Inspect(c.body, visit)
	return names
}

// visible fills the package's scope with what earlier cells declared and this one does not, and returns the imports.
func (c *checker) visible(decls []ast.Decl) map[string]string {
	imports := map[string]string{}
	for name, path := range c.s.imports {
		imports[name] = path
	}
	for name := range c.mentioned(decls) {
		if o := c.s.scope[name]; o != nil && !c.inCell[name] && c.imports[name] == "" {
			delete(imports, name)
			c.pkg.Scope().Insert(o)
		}
	}
	for name, path := range c.imports {
		imports[name] = path
	}
	for name := range c.inCell {
		if c.imports[name] == "" {
			delete(imports, name)
		}
	}
	for name, o := range c.olds {
		c.pkg.Scope().Insert(types.NewVar(o.Pos(), c.pkg, name, o.Type()))
	}
	return imports
}
