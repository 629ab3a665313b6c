package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

type loopKind int

const (
	plainLoop    loopKind = iota
	switchLoop            // a switch or select: break leaves it
	iteratorLoop          // the body is a function that an iterator calls
)

// loop is an enclosing statement that break or continue may lead to.
type loop struct {
	kind  loopKind
	label string
	cont  string // statements before every continue

	// For an iterator's body:
	state   string // variable that says how the body was left: 0 normally, 1 by break, more for the exits below
	exits   []exit
	results []string // results of a return from inside
}

// exit is a way out of an iterator's body to somewhere further out.
type exit struct {
	code   int
	branch *ast.BranchStmt // nil: return
}

func (l *lowerer) push(p *loop) { l.loops = append(l.loops, p) }
func (l *lowerer) pop()         { l.loops = l.loops[:len(l.loops)-1] }

// target finds the loop that a branch leads to, -1 if it is none of this function's.
func (l *lowerer) targetOf(br *ast.BranchStmt) int {
	for i := len(l.loops) - 1; i >= 0; i-- {
		p := l.loops[i]
		if br.Label != nil {
			if p.label == br.Label.Name {
				return i
			}
			continue
		}
		if br.Tok == token.BREAK || p.kind != switchLoop {
			return i
		}
	}
	return -1
}

// innerIterator is the innermost iterator body outside loop index i; nil if there is none.
func (l *lowerer) innerIterator(i int) *loop {
	for j := len(l.loops) - 1; j >= i; j-- {
		if l.loops[j].kind == iteratorLoop {
			return l.loops[j]
		}
	}
	return nil
}

func (l *lowerer) branch(b *strings.Builder, br *ast.BranchStmt) {
	switch br.Tok {
	case token.FALLTHROUGH:
		b.WriteString("fallthrough")
		return
	case token.GOTO:
		b.WriteString("goto " + br.Label.Name + "_g")
		return
	}
	t := l.targetOf(br)
	if t < 0 {
		l.fail(br, "%s is not in a loop", br.Tok)
	}
	if p := l.innerIterator(t + 1); p != nil {
		code := 2 + len(p.exits)
		p.exits = append(p.exits, exit{code, br})
		fmt.Fprintf(b, "%s = %d; return false", p.state, code)
		return
	}
	p := l.loops[t]
	if p.kind == iteratorLoop {
		if br.Tok == token.CONTINUE {
			b.WriteString("return true")
		} else {
			b.WriteString("return false")
		}
		return
	}
	if br.Tok == token.CONTINUE && p.cont != "" {
		b.WriteString(p.cont + "; ")
	}
	b.WriteString(br.Tok.String())
	if br.Label != nil {
		b.WriteString(" " + br.Label.Name)
	}
}

// leaveBy leaves an iterator's body by a return of the function around it.
func (p *loop) leaveBy(l *lowerer, b *strings.Builder, vals []string) {
	if len(vals) > 0 {
		if p.results == nil {
			for range vals {
				p.results = append(p.results, l.tmp("rv"))
			}
		}
		l.setNames(b, p.results, vals)
	}
	code := 2 + len(p.exits)
	p.exits = append(p.exits, exit{code: code})
	fmt.Fprintf(b, "%s = %d; return false", p.state, code)
}

const stopCheck = "if k_stop { krt.Check() }"

func labelled(label string) string {
	if label == "" {
		return ""
	}
	return label + ":\n"
}

func (l *lowerer) forStmt(b *strings.Builder, s *ast.ForStmt, label string) {
	p := &loop{label: label}
	b.WriteString("{ ")
	hidden, bind := l.loopVars(b, s, p)
	cond, post := "", ""
	l.withHidden(hidden, func() {
		if s.Cond != nil {
			cond = l.expr(s.Cond)
		}
		if s.Post != nil {
			var t strings.Builder
			l.stmt(&t, s.Post, "")
			post = strings.TrimSpace(t.String())
		}
	})
	// A post statement of several lines, or one that needs the per-iteration copies, runs before every continue instead.
	multi := strings.Contains(post, "\n") || strings.Contains(post, ";")
	if multi {
		p.cont = joinStmts(p.cont, "{ "+post+" }")
		post = ""
	}
	if l.tracked && (s.Cond != nil && l.risky(s.Cond) || s.Post != nil && l.risky(s.Post)) {
		p.cont = joinStmts(p.cont, fmt.Sprintf("k_l = %d", l.site(s)))
	}
	done := l.countUp(s)
	b.WriteString(labelled(label))
	if post == "" {
		b.WriteString("for " + cond + " { " + stopCheck + bind)
	} else {
		b.WriteString("for ; " + cond + "; " + post + " { " + stopCheck + bind)
	}
	l.push(p)
	l.block(b, s.Body.List)
	l.pop()
	done()
	if p.cont != "" {
		b.WriteString("\n" + p.cont)
	}
	b.WriteString("\n} }")
}

func joinStmts(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// loopVars writes the init statement. Variables that closures capture are counted in hidden ones; bind makes each
// iteration's own, and the loop's cont copies them back.
func (l *lowerer) loopVars(b *strings.Builder, s *ast.ForStmt, p *loop) (hidden map[types.Object]string, bind string) {
	hidden = map[types.Object]string{}
	as, ok := s.Init.(*ast.AssignStmt)
	if s.Init == nil {
		return hidden, ""
	}
	if !ok || as.Tok != token.DEFINE {
		l.stmt(b, s.Init, "")
		b.WriteString("\n")
		return hidden, ""
	}
	var order []types.Object
	for _, x := range as.Lhs {
		if o := l.info.Defs[x.(*ast.Ident)]; o != nil && l.caps.captured[o] {
			hidden[o] = l.tmp("h")
			order = append(order, o)
		}
	}
	if len(hidden) == 0 {
		l.stmt(b, s.Init, "")
		b.WriteString("\n")
		return hidden, ""
	}
	l.withHidden(hidden, func() {
		for _, o := range order { // declared first, under the hidden name
			fmt.Fprintf(b, "var %s %s\n", hidden[o], l.typeStr(l.sub(o.Type())))
		}
		l.initHidden(b, as, hidden)
	})
	var conts []string
	for _, o := range order {
		l.caps.inLoop[o] = true
		name, h := l.define(o, o.Name()), hidden[o]
		if l.caps.boxed(o) {
			bind += fmt.Sprintf("\n%s := new(%s); *%s = %s", name, l.typeStr(l.sub(o.Type())), name, h)
			conts = append(conts, h+" = *"+name)
		} else {
			bind += fmt.Sprintf("\n%s := %s", name, h)
		}
	}
	p.cont = strings.Join(conts, "; ")
	return hidden, bind
}

// initHidden writes i, j := x, y for loop variables of which some are hidden.
func (l *lowerer) initHidden(b *strings.Builder, as *ast.AssignStmt, hidden map[types.Object]string) {
	if len(as.Lhs) != len(as.Rhs) {
		l.assignTuple(b, as.Lhs, as.Rhs[0], func(x ast.Expr) (string, types.Type) {
			o := l.info.Defs[x.(*ast.Ident)]
			if hidden[o] == "" {
				l.declareLocal(b, o, o.Name(), "")
			}
			return l.local(o), o.Type()
		})
		b.WriteString("\n")
		return
	}
	var names []string
	for i, x := range as.Lhs {
		n := l.tmp("v")
		t := l.info.TypeOf(x)
		if t == nil {
			t = types.Default(l.info.TypeOf(as.Rhs[i]))
		}
		fmt.Fprintf(b, "var %s %s = %s\n", n, l.typeStr(l.sub(t)), l.value(as.Rhs[i], t))
		names = append(names, n)
	}
	for i, x := range as.Lhs {
		o := l.info.Defs[x.(*ast.Ident)]
		switch {
		case o == nil:
		case hidden[o] != "":
			fmt.Fprintf(b, "%s = %s\n", hidden[o], names[i])
		default:
			l.declareLocal(b, o, o.Name(), names[i])
		}
	}
}

// withHidden runs f while the loop's variables go by their hidden names.
func (l *lowerer) withHidden(hidden map[types.Object]string, f func()) {
	type saved struct {
		name     string
		has, set bool
	}
	old := map[types.Object]saved{}
	for o, h := range hidden {
		n, ok := l.rename[o]
		old[o] = saved{n, ok, l.caps.assigned[o]}
		l.rename[o] = h
		l.caps.assigned[o] = false
	}
	f()
	for o, s := range old {
		delete(l.rename, o)
		if s.has {
			l.rename[o] = s.name
		}
		l.caps.assigned[o] = s.set
	}
}

// countUp notes that a loop's variable stays within an operand: for i := 0; i < len(x); i++. The function it returns ends the
// note.
func (l *lowerer) countUp(s *ast.ForStmt) func() {
	none := func() {}
	as, ok := s.Init.(*ast.AssignStmt)
	if !ok || as.Tok != token.DEFINE || len(as.Lhs) != 1 {
		return none
	}
	if v := l.info.Types[as.Rhs[0]].Value; v == nil || v.String() != "0" {
		return none
	}
	cond, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.LSS {
		return none
	}
	inc, ok := s.Post.(*ast.IncDecStmt)
	if !ok || inc.Tok != token.INC {
		return none
	}
	o := l.info.Defs[as.Lhs[0].(*ast.Ident)]
	id, ok := cond.X.(*ast.Ident)
	if !ok || o == nil || l.info.Uses[id] != o {
		return none
	}
	if x := l.lengthOf(cond.Y); x != nil {
		return l.staysIn(o, x, s.Body)
	}
	return none
}

// lengthOf returns x for len(x), nil otherwise.
func (l *lowerer) lengthOf(n ast.Expr) ast.Expr {
	if n == nil {
		return nil
	}
	c, ok := ast.Unparen(n).(*ast.CallExpr)
	if !ok || len(c.Args) != 1 || builtinName(c.Fun) != "len" || !l.info.Types[c.Fun].IsBuiltin() {
		return nil
	}
	return c.Args[0]
}

// staysIn notes that o indexes x within body, if body changes neither.
func (l *lowerer) staysIn(o types.Object, x ast.Expr, body ast.Node) func() {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok || o == nil {
		return func() {}
	}
	xo := l.info.Uses[id]
	if xo == nil || xo.Parent() == nil || l.s.isOwn(xo) && l.calls(body) || l.changes(body, o) || l.changes(body, xo) || l.caps.assigned[xo] && l.caps.captured[xo] {
		return func() {}
	}
	if l.safe == nil {
		l.safe = map[types.Object]string{}
	}
	l.safe[o] = types.ExprString(x)
	return func() { delete(l.safe, o) }
}

// changes says whether a block assigns a variable or takes its address.
func (l *lowerer) changes(body ast.Node, o types.Object) (yes bool) {
	is := func(x ast.Expr) bool {
		id, ok := ast.Unparen(x).(*ast.Ident)
		return ok && (l.info.Uses[id] == o || l.info.Defs[id] == o)
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			yes = yes || slices.ContainsFunc(n.Lhs, is)
		case *ast.IncDecStmt:
			yes = yes || is(n.X)
		case *ast.UnaryExpr:
			yes = yes || n.Op == token.AND && is(n.X)
		case *ast.RangeStmt:
			yes = yes || n.Tok == token.ASSIGN && (is(n.Key) || n.Value != nil && is(n.Value))
		}
		return !yes
	})
	return yes
}

// inRange says whether an index cannot be out of range.
func (l *lowerer) inRange(x *ast.IndexExpr, xt types.Type) bool {
	if l.info.Types[x.Index].Value != nil {
		_, isArray := xt.(*types.Array)
		return isArray
	}
	id, ok := ast.Unparen(x.Index).(*ast.Ident)
	return ok && l.info.Uses[id] != nil && l.safe[l.info.Uses[id]] == types.ExprString(x.X)
}
