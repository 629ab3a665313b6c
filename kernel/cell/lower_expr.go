package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// expr writes an expression as a value of its own type.
func (l *lowerer) expr(x ast.Expr) string {
	if tv, ok := l.info.Types[x]; ok {
		if tv.IsType() {
			return l.typeStr(tv.Type)
		}
		if tv.Value != nil {
			return l.constant(tv.Value, tv.Type)
		}
	}
	switch x := x.(type) {
	case *ast.Ident:
		return l.ident(x)
	case *ast.ParenExpr:
		switch ast.Unparen(x).(type) {
		case *ast.UnaryExpr, *ast.CompositeLit, *ast.FuncLit:
			return "(" + l.expr(x.X) + ")"
		}
		return l.expr(x.X) // yaegi takes the name of a function in parentheses for something else
	case *ast.FuncLit:
		return l.funcLit(x)
	case *ast.CompositeLit:
		return l.composite(x)
	case *ast.SelectorExpr:
		return l.selector(x)
	case *ast.IndexExpr:
		if id := instanceIdent(x.X); id != nil {
			if _, ok := l.info.Instances[id]; ok {
				return l.expr(x.X)
			}
		}
		return l.index(x)
	case *ast.IndexListExpr:
		return l.expr(x.X)
	case *ast.SliceExpr:
		return l.slice(x)
	case *ast.TypeAssertExpr:
		return l.assert(x)
	case *ast.CallExpr:
		return l.call(x)
	case *ast.StarExpr:
		return "(*" + l.expr(x.X) + ")"
	case *ast.UnaryExpr:
		return l.unary(x)
	case *ast.BinaryExpr:
		return l.binary(x)
	}
	l.fail(x, "this expression (%T) is not supported in cells", x)
	return ""
}

// operand writes an expression whose value is about to be used by its structure.
func (l *lowerer) operand(x ast.Expr) string {
	s := l.expr(x)
	if t := l.info.TypeOf(x); t != nil {
		return l.open(s, t)
	}
	return s
}

func (l *lowerer) composite(x *ast.CompositeLit) string {
	t := l.typeOf(x)
	pre := ""
	if p, ok := t.Underlying().(*types.Pointer); ok {
		pre, t = "&", p.Elem()
	}
	name := l.typeStr(t)
	if u := l.opened(t); u != "" {
		name = u
	}
	var parts []string
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i, el := range x.Elts {
			j := i
			if kv, ok := el.(*ast.KeyValueExpr); ok {
				el = kv.Value
				for k := range u.NumFields() {
					if u.Field(k).Name() == kv.Key.(*ast.Ident).Name {
						j = k
					}
				}
			}
			parts = append(parts, fieldName(u, j)+": "+l.value(el, u.Field(j).Type()))
		}
	case *types.Map:
		for _, el := range x.Elts {
			kv := el.(*ast.KeyValueExpr)
			parts = append(parts, l.value(kv.Key, u.Key())+": "+l.value(kv.Value, u.Elem()))
		}
	default:
		elem := u.(interface{ Elem() types.Type }).Elem()
		for _, el := range x.Elts {
			if kv, ok := el.(*ast.KeyValueExpr); ok {
				parts = append(parts, l.expr(kv.Key)+": "+l.value(kv.Value, elem))
			} else {
				parts = append(parts, l.value(el, elem))
			}
		}
	}
	return pre + name + "{" + strings.Join(parts, ", ") + "}"
}

// index writes x[i]. Where the index may be out of range the check is ours: yaegi's own message lacks the numbers.
func (l *lowerer) index(x *ast.IndexExpr) string {
	xt := l.under(l.info.TypeOf(x.X))
	s := l.operand(x.X)
	if m, ok := xt.(*types.Map); ok {
		return s + "[" + l.value(x.Index, m.Key()) + "]"
	}
	if p, ok := xt.(*types.Pointer); ok {
		s, xt = "(*"+s+")", p.Elem().Underlying()
	}
	i := l.expr(x.Index)
	if l.inRange(x, xt) {
		return s + "[" + i + "]"
	}
	if b, ok := l.under(l.info.TypeOf(x.Index)).(*types.Basic); ok && b.Kind() != types.Int && b.Kind() != types.UntypedInt {
		i = "int(" + i + ")"
	}
	n := "len(" + s + ")"
	if a, ok := xt.(*types.Array); ok {
		n = fmt.Sprint(a.Len())
	} else if !l.pure(x.X) {
		return l.indexOnce(x, xt, s, i)
	}
	if l.hoist != nil && l.pure(x.Index) {
		*l.hoist = append(*l.hoist, fmt.Sprintf("if %s < 0 || %s >= %s { krt.BadIndex(%s, %s) }", i, i, n, i, n))
		return s + "[" + i + "]"
	}
	return s + "[krt.Index(" + i + ", " + n + ")]"
}

// indexOnce indexes a slice or string that may be computed only once, s: it becomes a parameter.
func (l *lowerer) indexOnce(x *ast.IndexExpr, xt types.Type, s, i string) string {
	params := "(k_s " + l.typeStr(l.info.TypeOf(x.X)) + ", k_i int)"
	const element = "k_s[krt.Index(k_i, len(k_s))]"
	if slice, ok := xt.(*types.Slice); ok { // a pointer, as the element may be assigned to
		return "(*func" + params + " *" + l.typeStr(slice.Elem()) + " { return &" + element + " }(" + s + ", " + i + "))"
	}
	return "func" + params + " byte { return " + element + " }(" + s + ", " + i + ")"
}

func (l *lowerer) slice(x *ast.SliceExpr) string {
	xt := l.under(l.info.TypeOf(x.X))
	s := l.operand(x.X)
	if p, ok := xt.(*types.Pointer); ok {
		s, xt = "(*"+s+")", p.Elem().Underlying()
	}
	part := func(y ast.Expr) string {
		if y == nil {
			return ""
		}
		if b, ok := l.under(l.info.TypeOf(y)).(*types.Basic); ok && b.Kind() != types.Int && b.Kind() != types.UntypedInt {
			return "int(" + l.expr(y) + ")"
		}
		return l.expr(y)
	}
	lo, hi := part(x.Low), part(x.High)
	limit := "cap(" + s + ")"
	if b, ok := xt.(*types.Basic); ok && b.Info()&types.IsString != 0 {
		limit = "-1 - len(" + s + ")" // negative: a string, whose message speaks of length
	}
	simple := l.pure(x.X) && (x.Low == nil || l.pure(x.Low)) && (x.High == nil || l.pure(x.High))
	switch {
	case x.Slice3:
		return s + "[" + lo + ":" + hi + ":" + part(x.Max) + "]"
	case !simple || lo == "" && hi == "":
	case hi != "":
		from := lo
		if from == "" {
			from = "0"
		}
		hi = "krt.High(" + from + ", " + hi + ", " + limit + ")"
	default:
		lo = "krt.Low(" + lo + ", len(" + s + "))"
	}
	return s + "[" + lo + ":" + hi + "]"
}

// pure says whether an expression has no effect and costs little, so that it may be written twice.
func (l *lowerer) pure(x ast.Expr) bool {
	if tv := l.info.Types[x]; tv.Value != nil {
		return true
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return l.opened(l.info.TypeOf(x)) == ""
	case *ast.SelectorExpr:
		if sel := l.info.Selections[x]; sel != nil {
			return sel.Kind() == types.FieldVal && l.pure(x.X)
		}
		return true
	case *ast.IndexExpr:
		_, isMap := l.under(l.info.TypeOf(x.X)).(*types.Map)
		return !isMap && l.pure(x.X) && l.pure(x.Index)
	case *ast.BinaryExpr:
		return x.Op != token.LAND && x.Op != token.LOR && l.pure(x.X) && l.pure(x.Y)
	case *ast.UnaryExpr:
		return x.Op != token.ARROW && x.Op != token.AND && l.pure(x.X)
	case *ast.StarExpr:
		return l.pure(x.X)
	case *ast.CallExpr:
		if id, ok := ast.Unparen(x.Fun).(*ast.Ident); ok && len(x.Args) == 1 {
			tv := l.info.Types[x.Fun]
			return (tv.IsBuiltin() && id.Name == "len" || tv.IsType()) && l.pure(x.Args[0])
		}
	}
	return false
}

func (l *lowerer) unary(x *ast.UnaryExpr) string {
	switch x.Op {
	case token.AND:
		if id, ok := ast.Unparen(x.X).(*ast.Ident); ok {
			if o := l.info.Uses[id]; o != nil && l.caps.boxed(o) {
				return l.local(o)
			}
		}
		of := l.expr(x.X)
		if p, ok := strings.CutPrefix(of, "(*func("); ok { // yaegi takes no address of what a call's pointer points to
			return "(func(" + p
		}
		return "&" + of
	case token.ARROW:
		return l.receive(x, false)
	}
	return x.Op.String() + l.expr(x.X)
}

func (l *lowerer) binary(x *ast.BinaryExpr) string {
	switch x.Op {
	case token.EQL, token.NEQ:
		return l.compare(x.X, x.Y, x.Op)
	case token.LAND, token.LOR:
		a := l.expr(x.X)
		save := l.hoist
		l.hoist = nil // the right side may not run
		b := l.expr(x.Y)
		l.hoist = save
		return "(" + a + " " + x.Op.String() + " " + b + ")"
	}
	return "(" + l.expr(x.X) + " " + x.Op.String() + " " + l.expr(x.Y) + ")"
}

// compare writes x == y or x != y.
func (l *lowerer) compare(x, y ast.Expr, op token.Token) string {
	if l.info.Types[x].IsNil() {
		x, y = y, x
	}
	if l.info.Types[y].IsNil() {
		return "(" + l.operand(x) + " " + op.String() + " nil)"
	}
	xt, yt := l.typeOf(x), l.typeOf(y)
	if !types.IsInterface(xt) && !types.IsInterface(yt) {
		return "(" + l.expr(x) + " " + op.String() + " " + l.expr(y) + ")"
	}
	empty := types.NewInterfaceType(nil, nil)
	not := ""
	if op == token.NEQ {
		not = "!"
	}
	return not + "krt.Equal(" + l.value(x, empty) + ", " + l.value(y, empty) + ")"
}
