package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Library is what cells can import.
type Library interface {
	types.Importer
	// Has says whether the interpreter has a compiled value for an exported name.
	Has(path, name string) bool
	// Source gives the files of a package whose generic functions are instantiated from source.
	Source(path string) (files map[string][]byte, ok bool)
	// Syntax gives a package that is not compiled in at all; nil where there is none.
	Syntax(path string) *Syntax
}

// Session is what the cells so far have declared, and what of it the interpreter holds.
type Session struct {
	lib     Library
	fset    *token.FileSet
	scope   map[string]types.Object // what a name means now, except imports
	imports map[string]string       // local name -> import path
	own     map[*types.Package]bool // each cell has a package of its own, all with path "main"
	decls   map[types.Object]decl   // syntax of functions, methods and types
	born    map[types.Object]int    // cell that declared an object
	specs   map[types.Object]typeSpec
	dead    map[*types.Func]bool // methods of a cell that failed: go/types cannot take them back
	generic map[string]*sourcePkg
	image   *image
}

// decl is where an object is declared, with what the checker found out about it.
type decl struct {
	node ast.Node // *ast.FuncDecl or *ast.TypeSpec
	info *types.Info
}

// typeSpec is what a type declaration said and what its names meant then.
type typeSpec struct {
	text string
	uses map[string]types.Object
}

// NewSession starts a session. Names of the packages at the import paths of prelude are there from the start.
func NewSession(lib Library, prelude []string) *Session {
	s := &Session{
		lib: lib, fset: token.NewFileSet(),
		scope: map[string]types.Object{}, imports: map[string]string{}, own: map[*types.Package]bool{},
		decls: map[types.Object]decl{}, born: map[types.Object]int{}, specs: map[types.Object]typeSpec{},
		dead: map[*types.Func]bool{}, generic: map[string]*sourcePkg{}, image: newImage(),
	}
	for _, path := range prelude {
		if p, err := lib.Import(path); err == nil {
			s.imports[p.Name()] = path
		}
	}
	return s
}

// isOwn says whether an object was declared by a cell at top level.
func (s *Session) isOwn(o types.Object) bool {
	return o.Pkg() != nil && s.own[o.Pkg()] && (o.Parent() == o.Pkg().Scope() || s.image.names.at(o) != "")
}

// ownNamed returns the defined type that t is or points to, if cells declared it.
func (s *Session) ownNamed(t types.Type) *types.Named {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && s.fromSource(n.Obj().Pkg()) {
		return n
	}
	return nil
}

// fromSource says whether a package's declarations are lowered: the cells' own, and generic packages of the library.
func (s *Session) fromSource(p *types.Package) bool {
	if s.own[p] {
		return true
	}
	g := s.generic[p.Path()]
	return g != nil && g.pkg == p
}

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
	}
}
