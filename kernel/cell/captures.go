package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// captures says how the closures of a function use its variables. The iterations of a loop share one frame in yaegi, so a
// variable that is declared in a loop and captured is passed to the closure by value, or in a box if it is assigned.
type captures struct {
	captures map[*ast.FuncLit][]types.Object
	inLoop   map[types.Object]bool
	assigned map[types.Object]bool
	captured map[types.Object]bool
}

// boxed says whether a variable lives in a box.
func (a *captures) boxed(o types.Object) bool {
	return a != nil && a.inLoop[o] && a.captured[o] && a.assigned[o]
}

func analyse(info *types.Info, body ast.Node) *captures {
	a := &captures{map[*ast.FuncLit][]types.Object{}, map[types.Object]bool{}, map[types.Object]bool{}, map[types.Object]bool{}}
	v := &captureVisitor{captures: a, info: info, home: map[types.Object]*ast.FuncLit{}, known: map[types.Object]bool{}, gotos: hasGoto(body)}
	ast.Inspect(body, v.visit)
	return a
}

type captureVisitor struct {
	*captures
	info  *types.Info
	home  map[types.Object]*ast.FuncLit // the literal that declares a variable
	known map[types.Object]bool
	stack []ast.Node
	gotos bool // a goto makes any block a loop
}

func hasGoto(n ast.Node) (yes bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			yes = true
		}
		return !yes
	})
	return yes
}

// where says in which literal, and whether in a loop of it, the visitor is.
func (v *captureVisitor) where() (lit *ast.FuncLit, loop bool) {
	loop = v.gotos
	for i := len(v.stack) - 1; i >= 0; i-- {
		switch n := v.stack[i].(type) {
		case *ast.FuncLit:
			return n, loop
		case *ast.ForStmt, *ast.RangeStmt:
			loop = true
		}
	}
	return nil, loop
}

func (v *captureVisitor) declare(o types.Object) {
	if x, ok := o.(*types.Var); ok && !x.IsField() && (o.Pkg() == nil || o.Parent() != o.Pkg().Scope()) {
		lit, loop := v.where()
		v.home[o], v.inLoop[o], v.known[o] = lit, loop, true
	}
}

// root is the variable that an assignment to x changes, nil if it changes what a pointer, slice or map leads to.
func (v *captureVisitor) root(x ast.Expr) types.Object {
	for {
		switch y := x.(type) {
		case *ast.ParenExpr:
			x = y.X
		case *ast.SelectorExpr:
			if v.info.Selections[y] != nil {
				if t := v.info.TypeOf(y.X); t == nil {
					return nil
				} else if _, ok := t.Underlying().(*types.Pointer); ok {
					return nil
				}
			}
			x = y.X
		case *ast.IndexExpr:
			t := v.info.TypeOf(y.X)
			if t == nil {
				return nil
			}
			if _, ok := t.Underlying().(*types.Array); !ok {
				return nil
			}
			x = y.X
		case *ast.Ident:
			return v.info.Uses[y]
		default:
			return nil
		}
	}
}

func (v *captureVisitor) assign(x ast.Expr) {
	o := v.root(x)
	if o == nil || v.ownPost(o) {
		return
	}
	v.assigned[o] = true
}

// ownPost says whether the visitor is in the post statement of the for loop that declares o: the lowered loop counts in a
// hidden variable.
func (v *captureVisitor) ownPost(o types.Object) bool {
	for i := len(v.stack) - 1; i > 0; i-- {
		f, ok := v.stack[i-1].(*ast.ForStmt)
		if !ok || f.Post == nil || f.Post != v.stack[i] {
			continue
		}
		as, ok := f.Init.(*ast.AssignStmt)
		if !ok || as.Tok != token.DEFINE {
			continue
		}
		for _, l := range as.Lhs {
			if id, ok := l.(*ast.Ident); ok && v.info.Defs[id] == o {
				return true
			}
		}
	}
	return false
}

func (v *captureVisitor) use(o types.Object) {
	for i := len(v.stack) - 1; i >= 0; i-- {
		lit, ok := v.stack[i].(*ast.FuncLit)
		if !ok {
			continue
		}
		if lit == v.home[o] {
			return
		}
		v.captured[o] = true
		seen := false
		for _, c := range v.captures.captures[lit] {
			seen = seen || c == o
		}
		if !seen {
			v.captures.captures[lit] = append(v.captures.captures[lit], o)
		}
	}
}

func (v *captureVisitor) visit(n ast.Node) bool {
	if n == nil {
		v.stack = v.stack[:len(v.stack)-1]
		return true
	}
	v.stack = append(v.stack, n)
	switch n := n.(type) {
	case *ast.Ident:
		if o := v.info.Defs[n]; o != nil {
			v.declare(o)
		} else if o := v.info.Uses[n]; o != nil && v.known[o] {
			v.use(o)
		}
	case *ast.CaseClause:
		if o := v.info.Implicits[n]; o != nil {
			v.declare(o)
		}
	case *ast.AssignStmt:
		for _, x := range n.Lhs {
			if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE && v.info.Defs[id] != nil {
				continue
			}
			v.assign(x)
		}
	case *ast.IncDecStmt:
		v.assign(n.X)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			v.assign(n.Key)
			if n.Value != nil {
				v.assign(n.Value)
			}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			v.assign(n.X)
			if o := v.root(n.X); o != nil && v.known[o] {
				v.captured[o] = true // each iteration's variable has an address of its own
			}
		}
	case *ast.SelectorExpr:
		v.addressed(n)
	case *ast.SliceExpr:
		if t := v.info.TypeOf(n.X); t != nil {
			if _, ok := t.Underlying().(*types.Array); ok {
				v.assign(n.X)
			}
		}
	}
	return true
}

// addressed notes that calling a pointer method on a variable may change it.
func (v *captureVisitor) addressed(x *ast.SelectorExpr) {
	s := v.info.Selections[x]
	if s == nil || s.Kind() != types.MethodVal {
		return
	}
	sig, ok := s.Obj().Type().(*types.Signature)
	if !ok || sig.Recv() == nil {
		return
	}
	if _, ptr := sig.Recv().Type().(*types.Pointer); !ptr {
		return
	}
	if t := v.info.TypeOf(x.X); t != nil {
		if _, isPtr := t.Underlying().(*types.Pointer); !isPtr {
			v.assign(x.X)
		}
	}
}
