package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

func (l *lowerer) assign(b *strings.Builder, s *ast.AssignStmt) {
	switch s.Tok {
	case token.DEFINE:
		l.defineVars(b, s.Lhs, s.Rhs)
	case token.ASSIGN:
		l.assignVars(b, s.Lhs, s.Rhs)
	default:
		l.assignOp(b, s)
	}
}

// assignOp writes x op= y. A map element is read and written, as yaegi does not do both at once.
func (l *lowerer) assignOp(b *strings.Builder, s *ast.AssignStmt) {
	lhs, rhs := l.target(s.Lhs[0]), l.value(s.Rhs[0], nil)
	if tv := l.info.Types[s.Rhs[0]]; tv.Value != nil && s.Tok != token.SHL_ASSIGN && s.Tok != token.SHR_ASSIGN {
		rhs = l.value(s.Rhs[0], l.typeOf(s.Lhs[0]))
	}
	b.WriteString(lhs + " " + s.Tok.String() + " " + rhs)
}

// target writes the left side of an assignment. yaegi does not assign to *p in parentheses.
func (l *lowerer) target(x ast.Expr) string {
	s := l.expr(x)
	if strings.HasPrefix(s, "(*") && strings.HasSuffix(s, ")") && balanced(s[1:len(s)-1]) {
		return s[1 : len(s)-1]
	}
	return s
}

func isBlank(x ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	return ok && id.Name == "_"
}

// assignVars writes lhs = rhs.
func (l *lowerer) assignVars(b *strings.Builder, lhs, rhs []ast.Expr) {
	if len(lhs) == len(rhs) {
		var left, right []string
		for i := range lhs {
			if isBlank(lhs[i]) {
				if len(lhs) == 1 {
					b.WriteString(l.exprStmt(rhs[0]))
					return
				}
				left, right = append(left, "_"), append(right, l.expr(rhs[i]))
				continue
			}
			left, right = append(left, l.target(lhs[i])), append(right, l.value(rhs[i], l.typeOf(lhs[i])))
		}
		if len(left) > 1 {
			l.assignParallel(b, lhs, left, right, rhs)
			return
		}
		b.WriteString(left[0] + " = " + right[0])
		return
	}
	l.assignTuple(b, lhs, rhs[0], func(x ast.Expr) (string, types.Type) { return l.target(x), l.typeOf(x) })
}

// assignParallel writes a, b = x, y through temporaries where the right sides are more than plain variables.
func (l *lowerer) assignParallel(b *strings.Builder, lhs []ast.Expr, left, right []string, rhs []ast.Expr) {
	var names []string
	for i := range right {
		if left[i] == "_" {
			fmt.Fprintf(b, "%s := %s\n", l.tmp("x"), right[i])
			names = append(names, "")
			continue
		}
		n := l.tmp("v")
		fmt.Fprintf(b, "var %s %s = %s\n", n, l.typeStr(l.typeOf(lhs[i])), right[i])
		names = append(names, n)
	}
	// Index operands on the left are evaluated before anything is assigned.
	for i, x := range lhs {
		if ix, ok := ast.Unparen(x).(*ast.IndexExpr); ok && names[i] != "" && l.info.Types[ix.Index].Value == nil && len(lhs) > 1 && !l.constantIndex(ix, lhs) {
			n := l.tmp("i")
			it := l.typeOf(ix.Index)
			iv := l.expr(ix.Index)
			if m, ok := l.under(l.info.TypeOf(ix.X)).(*types.Map); ok {
				it, iv = m.Key(), l.value(ix.Index, m.Key())
			}
			if isUntyped(it) {
				it = types.Default(it)
			}
			fmt.Fprintf(b, "var %s %s = %s\n", n, l.typeStr(it), iv)
			left[i] = l.operand(ix.X) + "[" + n + "]"
		}
	}
	for i := range left {
		if names[i] != "" {
			b.WriteString(left[i] + " = " + names[i] + "\n")
		}
	}
}

// constantIndex says whether no variable of an index expression is assigned in the same statement.
func (l *lowerer) constantIndex(ix *ast.IndexExpr, lhs []ast.Expr) bool {
	changed := map[types.Object]bool{}
	for _, x := range lhs {
		if id, ok := ast.Unparen(x).(*ast.Ident); ok {
			changed[l.info.Uses[id]] = true
		}
	}
	ok := true
	ast.Inspect(ix.Index, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			ok = ok && !changed[l.info.Uses[n]]
		case *ast.CallExpr, *ast.IndexExpr:
			ok = false
		}
		return ok
	})
	return ok
}

// defineVars writes lhs := rhs or var lhs = rhs in a function. Names that exist are assigned.
func (l *lowerer) defineVars(b *strings.Builder, lhs, rhs []ast.Expr) {
	if len(lhs) == 1 && len(rhs) == 1 {
		id := lhs[0].(*ast.Ident)
		if o := l.info.Defs[id]; o != nil && id.Name != "_" {
			l.declareLocal(b, o, id.Name, l.value(rhs[0], o.Type()))
			return
		}
		b.WriteString(l.exprStmt(rhs[0]))
		return
	}
	if len(lhs) == len(rhs) {
		var names []string
		for i, x := range lhs {
			t := l.info.TypeOf(x)
			if isBlank(x) || t == nil {
				fmt.Fprintf(b, "%s := %s\n", l.tmp("x"), l.expr(rhs[i]))
				names = append(names, "")
				continue
			}
			n := l.tmp("v")
			fmt.Fprintf(b, "var %s %s = %s\n", n, l.typeStr(l.sub(t)), l.value(rhs[i], t))
			names = append(names, n)
		}
		for i, x := range lhs {
			if names[i] == "" {
				continue
			}
			if o := l.info.Defs[x.(*ast.Ident)]; o != nil {
				l.declareLocal(b, o, o.Name(), names[i])
			} else {
				fmt.Fprintf(b, "%s = %s\n", l.target(x), names[i])
			}
		}
		return
	}
	var post strings.Builder
	l.assignTuple(b, lhs, rhs[0], func(x ast.Expr) (string, types.Type) {
		id := x.(*ast.Ident)
		o := l.info.Defs[id]
		if o == nil {
			return l.target(x), l.typeOf(x)
		}
		if reserved(id.Name) || l.caps.boxed(o) || l.shadows(rhs[0], id.Name) {
			n := l.tmp("v")
			fmt.Fprintf(b, "var %s %s\n", n, l.typeStr(l.sub(o.Type())))
			l.declareLocal(&post, o, id.Name, n)
			return n, o.Type()
		}
		l.declareLocal(b, o, id.Name, "")
		return l.local(o), o.Type()
	})
	b.WriteString("\n" + post.String())
}

// shadows says whether an expression mentions a name, which a variable about to be declared would shadow.
func (l *lowerer) shadows(x ast.Expr, name string) (yes bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			yes = true
		}
		return !yes
	})
	return yes
}

// assignTuple writes an assignment of several values of one expression: a call, or a comma-ok form. dest gives each left
// side and its type.
func (l *lowerer) assignTuple(b *strings.Builder, lhs []ast.Expr, rhs ast.Expr, dest func(ast.Expr) (string, types.Type)) {
	tuple := l.typeOf(rhs).(*types.Tuple)
	text := l.tupleText(rhs)
	var left []string
	var post strings.Builder
	for i, x := range lhs {
		if isBlank(x) {
			left = append(left, "_")
			continue
		}
		name, t := dest(x)
		from := tuple.At(i).Type()
		if isUntyped(from) {
			from = types.Default(from)
		}
		_, plain := ast.Unparen(x).(*ast.Ident)
		if conv := l.convert("k_", from, t); conv != "k_" || !plain {
			n := l.tmp("v")
			fmt.Fprintf(b, "var %s %s\n", n, l.typeStr(from))
			fmt.Fprintf(&post, "\n%s = %s", name, l.convert(n, from, t))
			name = n
		}
		left = append(left, name)
	}
	all := strings.Join(left, ", ")
	if strings.Trim(all, "_, ") == "" {
		var names []string
		for range left {
			names = append(names, l.tmp("x"))
		}
		b.WriteString(strings.Join(names, ", ") + " := " + text)
		return
	}
	b.WriteString(all + " = " + text + post.String())
}

// tupleText writes an expression with several values.
func (l *lowerer) tupleText(x ast.Expr) string {
	x = ast.Unparen(x)
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		return l.receive(u, true)
	}
	return l.expr(x)
}

// ret writes a return.
func (l *lowerer) ret(b *strings.Builder, s *ast.ReturnStmt) {
	n := l.sig.Results().Len()
	var vals []string
	switch {
	case len(s.Results) == 0:
		vals = l.results
	case len(s.Results) == n:
		for i, x := range s.Results {
			vals = append(vals, l.value(x, l.sig.Results().At(i).Type()))
		}
	default: // the results of one call
		tuple := l.typeOf(s.Results[0]).(*types.Tuple)
		var names []string
		for i := range n {
			t := l.tmp("v")
			fmt.Fprintf(b, "var %s %s\n", t, l.typeStr(tuple.At(i).Type()))
			names = append(names, t)
			vals = append(vals, l.convert(t, tuple.At(i).Type(), l.sig.Results().At(i).Type()))
		}
		b.WriteString(strings.Join(names, ", ") + " = " + l.tupleText(s.Results[0]) + "\n")
	}
	l.retValues(b, vals, l.simpleResults(s.Results))
}

func (l *lowerer) simpleResults(list []ast.Expr) bool {
	for _, x := range list {
		if l.risky(x) {
			return false
		}
	}
	return true
}

// retValues leaves the function with values that are written already. simple says that computing them cannot fail.
func (l *lowerer) retValues(b *strings.Builder, vals []string, simple bool) {
	if p := l.innerIterator(0); p != nil {
		p.leaveBy(l, b, vals)
		return
	}
	if l.defers {
		l.setResults(b, vals)
		b.WriteString("return")
		return
	}
	if !simple && l.tracked && len(vals) > 0 {
		var names []string
		if l.results != nil {
			names = l.results
		} else {
			for i := range vals {
				names = append(names, l.resultTemp(i))
			}
		}
		l.setNames(b, names, vals)
		vals = names
	}
	b.WriteString(l.leave() + "return " + strings.Join(vals, ", "))
}

func (l *lowerer) setResults(b *strings.Builder, vals []string) { l.setNames(b, l.results, vals) }

// setNames assigns values to variables at once, leaving out what is there already.
func (l *lowerer) setNames(b *strings.Builder, names, vals []string) {
	same := len(names) == len(vals)
	for i := range vals {
		same = same && names[i] == vals[i]
	}
	if same || len(vals) == 0 {
		return
	}
	if len(vals) == 1 {
		fmt.Fprintf(b, "%s = %s; ", names[0], vals[0])
		return
	}
	var tmps []string
	for i, v := range vals {
		t := l.tmp("v")
		fmt.Fprintf(b, "var %s %s = %s\n", t, l.typeStr(l.sig.Results().At(i).Type()), v)
		tmps = append(tmps, t)
	}
	for i := range vals {
		fmt.Fprintf(b, "%s = %s\n", names[i], tmps[i])
	}
}

// resultTemp is a variable of the function for a result that is computed before the function says that it leaves.
func (l *lowerer) resultTemp(i int) string {
	name := fmt.Sprintf("k_ret%d", i)
	decl := "var " + name + " " + l.typeStr(l.sig.Results().At(i).Type())
	for len(l.temps) <= i {
		l.temps = append(l.temps, "")
	}
	l.temps[i] = decl
	return name
}
