package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// risky says whether running a node can panic, block, or lead into another function. Only then is its line kept.
func (l *lowerer) risky(n ast.Node) (yes bool) {
	if n == nil {
		return false
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			tv := l.info.Types[n.Fun]
			if tv.IsType() && len(n.Args) == 1 && !l.sliceConversion(n) || tv.IsBuiltin() && (builtinName(n.Fun) == "len" || builtinName(n.Fun) == "cap") {
				return true
			}
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "_" { // headOf's wrapper
				return true
			}
			yes = true
		case *ast.IndexExpr, *ast.SliceExpr, *ast.StarExpr, *ast.TypeAssertExpr, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SelectStmt:
			yes = true
		case *ast.SelectorExpr:
			if l.info.Selections[n] != nil {
				yes = true
			}
		case *ast.UnaryExpr:
			yes = yes || n.Op == token.ARROW
		case *ast.BinaryExpr:
			yes = yes || l.binaryRisk(n)
		case *ast.AssignStmt:
			yes = yes || n.Tok == token.QUO_ASSIGN || n.Tok == token.REM_ASSIGN || n.Tok == token.SHL_ASSIGN || n.Tok == token.SHR_ASSIGN
		case *ast.ForStmt, *ast.RangeStmt:
			yes = true // it may be where an interrupt comes
		}
		return !yes
	})
	return yes
}

func (l *lowerer) sliceConversion(c *ast.CallExpr) bool {
	t := l.info.TypeOf(c.Args[0])
	if t == nil {
		return false
	}
	_, ok := l.under(t).(*types.Slice)
	return ok
}

func (l *lowerer) binaryRisk(x *ast.BinaryExpr) bool {
	switch x.Op {
	case token.QUO, token.REM, token.SHL, token.SHR:
		return l.info.Types[x.Y].Value == nil
	case token.EQL, token.NEQ:
		t := l.info.TypeOf(x.X)
		return t != nil && types.IsInterface(l.sub(t))
	}
	return false
}

// calls says whether a node calls anything but builtins and conversions.
func (l *lowerer) calls(n ast.Node) (yes bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			tv := l.info.Types[n.Fun]
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "_" {
				return true
			}
			yes = yes || !tv.IsType() && !(tv.IsBuiltin() && builtinName(n.Fun) != "append")
		case *ast.UnaryExpr:
			yes = yes || n.Op == token.ARROW
		case *ast.FuncLit:
			return false
		}
		return !yes
	})
	return yes
}

// callWeight is what a call of a function adds to the depth. A call of a literal takes several times the stack of a declared
// function's, since it goes through reflection.
func (l *lowerer) callWeight(body ast.Node, literal bool) int {
	switch {
	case !l.tracked || !l.mayRecur(body):
		return 0
	case literal:
		return 5
	}
	return 1
}

// mayRecur says whether a function's body can lead back to it: it calls through a value or an interface, or a function that is
// lowered from source. Compiled functions are taken not to call back without end.
func (l *lowerer) mayRecur(body ast.Node) (yes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			_, lit := n.(*ast.FuncLit)
			return !yes && !lit
		}
		tv := l.info.Types[c.Fun]
		if tv.IsType() || tv.IsBuiltin() {
			return true
		}
		yes = yes || !l.leadsAway(ast.Unparen(c.Fun))
		return !yes
	})
	return yes
}

// leadsAway says whether a called expression is surely not a way back into the session's functions.
func (l *lowerer) leadsAway(fun ast.Expr) bool {
	id := instanceIdent(fun)
	if id == nil {
		_, lit := fun.(*ast.FuncLit)
		return lit
	}
	f, ok := l.info.Uses[id].(*types.Func)
	if !ok {
		return false
	}
	if f.Pkg() == nil {
		return false // error's Error
	}
	if recv := f.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return !l.s.fromSource(f.Pkg()) && f.Pkg().Path() != "fmt"
	}
	if !l.s.fromSource(f.Pkg()) {
		return true
	}
	return !l.reaches(f.Origin(), map[types.Object]visit{})
}

// visit is how far the search for a way back has come with a function.
type visit int

const (
	open visit = iota + 1
	closed
)

// reaches says whether a function's declaration can lead on to other functions of the session.
func (l *lowerer) reaches(f *types.Func, seen map[types.Object]visit) bool {
	if seen[f] != 0 {
		return seen[f] == open
	}
	seen[f] = open
	d, ok := l.srcDecl(f)
	if !ok {
		return true
	}
	fd, ok := d.node.(*ast.FuncDecl)
	if !ok || fd.Body == nil {
		return true
	}
	back := false
	ast.Inspect(fd.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || back {
			return !back
		}
		tv := d.info.Types[c.Fun]
		if tv.IsType() || tv.IsBuiltin() {
			return true
		}
		id := instanceIdent(ast.Unparen(c.Fun))
		if id == nil {
			back = true
			return false
		}
		g, ok := d.info.Uses[id].(*types.Func)
		switch {
		case !ok || g.Pkg() == nil:
			back = true
		case g.Signature().Recv() != nil && types.IsInterface(g.Signature().Recv().Type()):
			back = l.s.fromSource(g.Pkg())
		case l.s.fromSource(g.Pkg()):
			back = l.reaches(g.Origin(), seen)
		}
		return !back
	})
	if !back {
		seen[f] = closed
	}
	return back
}
