package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Channel operations select on the channel that closes when the cell is stopped. krt.Check returns if the stop was meant
// for another cell; then the operation starts over.
const stopCase = "case <-k_done: krt.Check()"

// receiver names the helper that receives from a channel of a type.
func (l *lowerer) receiver(t types.Type, two bool) string {
	c := l.under(t).(*types.Chan)
	name, results, ret := "k_recv_", l.typeStr(c.Elem()), "v"
	if two {
		name, results, ret = "k_recvok_", "("+results+", bool)", "v, ok"
	}
	name += l.mangle(types.NewChan(c.Dir(), c.Elem()))
	l.helper(name, func() string {
		return fmt.Sprintf("func %s(c %s) %s { for { select { case v, ok := <-c: _ = ok; return %s; %s } } }",
			name, l.typeStr(c), results, ret, stopCase)
	})
	return name
}

// receive writes <-c for one result or two.
func (l *lowerer) receive(x *ast.UnaryExpr, two bool) string {
	return l.receiver(l.typeOf(x.X), two) + "(" + l.operand(x.X) + ")"
}

// send writes c <- v.
func (l *lowerer) send(s *ast.SendStmt) string {
	c := l.under(l.info.TypeOf(s.Chan)).(*types.Chan)
	name := "k_send_" + l.mangle(types.NewChan(c.Dir(), c.Elem()))
	l.helper(name, func() string {
		return fmt.Sprintf("func %s(c %s, v %s) { for { select { case c <- v: return; %s } } }", name, l.typeStr(c), l.typeStr(c.Elem()), stopCase)
	})
	return name + "(" + l.operand(s.Chan) + ", " + l.value(s.Value, c.Elem()) + ")"
}

// selectStmt writes a select as one that only says which case came, and a switch with the bodies: yaegi's goto back into a
// select does not work, and a loop around the bodies would catch their continue.
func (l *lowerer) selectStmt(b *strings.Builder, s *ast.SelectStmt, label string) {
	chosen := l.tmp("case")
	fmt.Fprintf(b, "{ %s := -1\n", chosen)
	var cases, bodies strings.Builder
	hasDefault := false
	l.push(&loop{kind: switchLoop, label: label})
	for i, c := range s.Body.List {
		cc := c.(*ast.CommClause)
		bind := ""
		if cc.Comm == nil {
			hasDefault = true
			fmt.Fprintf(&cases, "\ndefault: %s = %d", chosen, i)
		} else {
			sc := l.selectCase(b, cc.Comm)
			fmt.Fprintf(&cases, "\ncase %s: %s = %d%s", sc.comm, chosen, i, sc.keep)
			bind = sc.bind
		}
		fmt.Fprintf(&bodies, "\ncase %s == %d:\n%s", chosen, i, bind)
		l.block(&bodies, cc.Body)
	}
	l.pop()
	if hasDefault {
		fmt.Fprintf(b, "select {%s\n}\n", cases.String())
	} else {
		fmt.Fprintf(b, "for %s < 0 { select {%s\n%s } }\n", chosen, cases.String(), stopCase)
	}
	b.WriteString(labelled(label) + "switch {" + bodies.String() + "\n} }")
}

// selectCase is a communication, what keeps the values it received, and what gives them to the source's variables.
type selectCase struct{ comm, keep, bind string }

func (l *lowerer) selectCase(b *strings.Builder, comm ast.Stmt) selectCase {
	hold := func(x ast.Expr) string {
		n := l.tmp("ch")
		fmt.Fprintf(b, "var %s %s = %s\n", n, l.typeStr(l.under(l.info.TypeOf(x))), l.operand(x))
		return n
	}
	switch s := comm.(type) {
	case *ast.SendStmt:
		c := l.under(l.info.TypeOf(s.Chan)).(*types.Chan)
		ch := hold(s.Chan)
		v := l.tmp("v")
		fmt.Fprintf(b, "var %s %s = %s\n", v, l.typeStr(c.Elem()), l.value(s.Value, c.Elem()))
		return selectCase{comm: ch + " <- " + v}
	case *ast.ExprStmt:
		ch := hold(ast.Unparen(s.X).(*ast.UnaryExpr).X)
		return selectCase{comm: "<-" + ch}
	case *ast.AssignStmt:
		x := ast.Unparen(s.Rhs[0]).(*ast.UnaryExpr).X
		c := l.under(l.info.TypeOf(x)).(*types.Chan)
		ch := hold(x)
		var names []string
		var keep, bind strings.Builder
		for i, lhs := range s.Lhs {
			n := l.tmp("r")
			names = append(names, n)
			if isBlank(lhs) {
				continue
			}
			var t types.Type = types.Typ[types.Bool]
			if i == 0 {
				t = c.Elem()
			}
			held := l.tmp("v")
			fmt.Fprintf(b, "var %s %s\n", held, l.typeStr(l.sub(t)))
			fmt.Fprintf(&keep, "; %s = %s", held, n)
			if id, ok := lhs.(*ast.Ident); ok && s.Tok == token.DEFINE && l.info.Defs[id] != nil {
				l.declareLocal(&bind, l.info.Defs[id], id.Name, held)
			} else {
				fmt.Fprintf(&bind, "%s = %s\n", l.target(lhs), l.convert(held, t, l.typeOf(lhs)))
			}
		}
		return selectCase{comm: strings.Join(names, ", ") + " := <-" + ch, keep: keep.String(), bind: bind.String()}
	}
	l.fail(comm, "this case is not supported in cells")
	return selectCase{}
}
