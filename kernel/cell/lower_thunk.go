package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// thunk makes a func() that makes a call later, with its operands evaluated now, for go and defer.
func (l *lowerer) thunk(x *ast.CallExpr) string {
	fun := ast.Unparen(x.Fun)
	if lit, ok := fun.(*ast.FuncLit); ok && len(x.Args) == 0 && l.typeOf(lit).(*types.Signature).Results().Len() == 0 {
		return l.funcLit(lit)
	}
	var params, vals []string
	add := func(typ, val string) string {
		n := fmt.Sprintf("k_t%d", len(params))
		params, vals = append(params, n+" "+typ), append(vals, val)
		return n
	}
	body := ""
	if tv := l.info.Types[x.Fun]; tv.IsBuiltin() || tv.IsType() {
		body = l.builtinThunk(x, add)
	} else {
		c := l.callee(x.Fun)
		recv := ""
		switch {
		case c.recvType != "":
			recv = add(c.recvType, c.recv)
		case !c.static:
			c.text = add(l.typeStr(c.sig), c.text)
		}
		var args []string
		if len(x.Args) == 1 && isTuple(l.typeOf(x.Args[0])) {
			return "func() { " + l.call(x) + " }"
		}
		for i, a := range l.args(c, x) {
			t := l.paramType(c.sig, i, x.Ellipsis.IsValid())
			if v, ok := strings.CutSuffix(a, "..."); ok && i == len(x.Args)-1 {
				ts := l.typeStr(t)
				if !x.Ellipsis.IsValid() {
					ts = "[]" + ts
				}
				args = append(args, add(ts, v)+"...")
			} else {
				args = append(args, add(l.typeStr(t), a))
			}
		}
		if recv != "" {
			body = c.on(recv, args)
		} else {
			body = c.text + "(" + strings.Join(args, ", ") + ")"
		}
	}
	return "func(" + strings.Join(params, ", ") + ") func() { return func() { " + body + " } }(" + strings.Join(vals, ", ") + ")"
}

func isTuple(t types.Type) bool { _, ok := t.(*types.Tuple); return ok }
