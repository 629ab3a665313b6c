package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

func (l *lowerer) rangeStmt(b *strings.Builder, s *ast.RangeStmt, label string) {
	p := &loop{label: label}
	switch u := l.under(l.info.TypeOf(s.X)).(type) {
	case *types.Basic:
		if u.Info()&types.IsInteger != 0 {
			l.rangeInt(b, s, p)
			return
		}
	case *types.Signature:
		l.rangeFunc(b, s, p, u)
		return
	case *types.Chan:
		l.rangeChan(b, s, p, u)
		return
	}
	l.rangeOver(b, s, p)
}

// loopValue says that a range loop gives its key or value under a lowered name, with a type.
type loopValue struct {
	x    ast.Expr // the variable in the source, nil for none
	name string   // where the loop puts it
	typ  types.Type
}

// bind assigns the loop's values to the variables of the source.
func (l *lowerer) bind(b *strings.Builder, s *ast.RangeStmt, vals ...loopValue) {
	for _, v := range vals {
		if v.x == nil || isBlank(v.x) || v.name == "" {
			continue
		}
		if s.Tok != token.DEFINE {
			fmt.Fprintf(b, "\n%s = %s", l.target(v.x), l.convert(v.name, v.typ, l.typeOf(v.x)))
			continue
		}
		o := l.info.Defs[v.x.(*ast.Ident)]
		name, t := l.define(o, o.Name()), l.typeStr(l.sub(o.Type()))
		if l.caps.boxed(o) {
			fmt.Fprintf(b, "\n%s := new(%s); *%s = %s", name, t, name, v.name)
		} else {
			fmt.Fprintf(b, "\n%s := %s", name, v.name)
		}
	}
}

// captured marks variables that each iteration has anew.
func (l *lowerer) perIteration(s *ast.RangeStmt) {
	if s.Tok != token.DEFINE {
		return
	}
	for _, x := range []ast.Expr{s.Key, s.Value} {
		if id, ok := x.(*ast.Ident); ok && l.info.Defs[id] != nil {
			l.caps.inLoop[l.info.Defs[id]] = true
		}
	}
}

func (l *lowerer) loopBody(b *strings.Builder, s *ast.RangeStmt, p *loop) {
	l.push(p)
	l.block(b, s.Body.List)
	l.pop()
}

func (l *lowerer) rangeInt(b *strings.Builder, s *ast.RangeStmt, p *loop) {
	l.perIteration(s)
	n, i := l.tmp("n"), l.tmp("i")
	t := l.typeOf(s.X)
	if s.Key != nil && !isBlank(s.Key) {
		t = l.typeOf(s.Key)
	}
	if isUntyped(t) {
		t = types.Typ[types.Int]
	}
	ts := l.typeStr(t)
	fmt.Fprintf(b, "{ var %s %s = %s\n%sfor %s := %s(0); %s < %s; %s++ { %s", n, ts, l.value(s.X, t), labelled(p.label), i, ts, i, n, i, stopCheck)
	l.bind(b, s, loopValue{s.Key, i, t})
	done := func() {}
	if x := l.lengthOf(s.X); x != nil && s.Tok == token.DEFINE && s.Key != nil {
		if id, ok := s.Key.(*ast.Ident); ok {
			done = l.staysIn(l.info.Defs[id], x, s.Body)
		}
	}
	l.loopBody(b, s, p)
	done()
	b.WriteString("\n} }")
}

// rangeOver writes a range over a slice, array, string or map.
func (l *lowerer) rangeOver(b *strings.Builder, s *ast.RangeStmt, p *loop) {
	l.perIteration(s)
	x := l.operand(s.X)
	t := l.under(l.info.TypeOf(s.X))
	ptr, isPtr := t.(*types.Pointer)
	if isPtr {
		t = ptr.Elem().Underlying()
	}
	key, elem := rangeTypes(t)
	var vals []loopValue
	k, v := "", ""
	if s.Key != nil && !isBlank(s.Key) {
		k = l.tmp("k")
		vals = append(vals, loopValue{s.Key, k, key})
	}
	fetch := ""
	if s.Value != nil && !isBlank(s.Value) {
		v = l.tmp("v")
		vals = append(vals, loopValue{s.Value, v, elem})
		// yaegi would take a value that is a channel for what is ranged over; an array that is pointed to is not copied.
		if _, ok := elem.Underlying().(*types.Chan); ok || isPtr {
			if k == "" {
				k = l.tmp("k")
			}
			over := l.tmp("over")
			fmt.Fprintf(b, "{ var %s %s = %s\n", over, l.typeStr(l.typeOf(s.X)), x)
			at := over
			if isPtr {
				at = "(*" + over + ")"
			}
			x, fetch, v = over, "\n"+v+" := "+at+"["+k+"]", ""
		}
	}
	if isPtr {
		if fetch == "" && l.calls(s.X) {
			fmt.Fprintf(b, "{ %s := %s }\n", l.tmp("x"), x) // for its effect
		}
		x = fmt.Sprint(t.(*types.Array).Len())
		if k == "" {
			k = l.tmp("k")
		}
	}
	b.WriteString(labelled(p.label) + "for ")
	if isPtr {
		fmt.Fprintf(b, "%s := 0; %s < %s; %s++ { %s%s", k, k, x, k, stopCheck, fetch)
	}
	switch {
	case isPtr:
	case k == "" && v == "":
	case v == "":
		b.WriteString(k + " := ")
	case k == "":
		b.WriteString("_, " + v + " := ")
	default:
		b.WriteString(k + ", " + v + " := ")
	}
	if !isPtr {
		b.WriteString("range " + x + " { " + stopCheck + fetch)
	}
	l.bind(b, s, vals...)
	done := func() {}
	if _, isMap := t.(*types.Map); !isMap && s.Tok == token.DEFINE && s.Key != nil {
		if id, ok := s.Key.(*ast.Ident); ok {
			done = l.staysIn(l.info.Defs[id], s.X, s.Body)
		}
	}
	l.loopBody(b, s, p)
	done()
	b.WriteString("\n}")
	if fetch != "" {
		b.WriteString(" }")
	}
}

func rangeTypes(t types.Type) (key, elem types.Type) {
	switch t := t.(type) {
	case *types.Slice:
		return types.Typ[types.Int], t.Elem()
	case *types.Array:
		return types.Typ[types.Int], t.Elem()
	case *types.Map:
		return t.Key(), t.Elem()
	}
	return types.Typ[types.Int], types.Universe.Lookup("rune").Type()
}

func (l *lowerer) rangeChan(b *strings.Builder, s *ast.RangeStmt, p *loop, c *types.Chan) {
	l.perIteration(s)
	ch, v, ok := l.tmp("ch"), l.tmp("v"), l.tmp("ok")
	fmt.Fprintf(b, "{ var %s %s = %s\n%sfor { %s\n%s, %s := %s(%s)\nif !%s { break }", ch, l.typeStr(l.typeOf(s.X)), l.expr(s.X), labelled(p.label),
		stopCheck, v, ok, l.receiver(l.typeOf(s.X), true), ch, ok)
	l.bind(b, s, loopValue{s.Key, v, c.Elem()})
	l.loopBody(b, s, p)
	b.WriteString("\n} }")
}

// rangeFunc writes a range over an iterator: the body becomes the function that the iterator calls.
func (l *lowerer) rangeFunc(b *strings.Builder, s *ast.RangeStmt, p *loop, sig *types.Signature) {
	l.perIteration(s)
	p.kind, p.state = iteratorLoop, l.tmp("st")
	yield := l.under(sig.Params().At(0).Type()).(*types.Signature)
	var params []string
	var vals []loopValue
	for i := range yield.Params().Len() {
		t := l.sub(yield.Params().At(i).Type())
		n := l.tmp("v")
		params = append(params, n+" "+l.typeStr(t))
		x := s.Key
		if i == 1 {
			x = s.Value
		}
		vals = append(vals, loopValue{x, n, t})
	}
	over := l.operand(s.X)
	if strings.HasPrefix(over, "func(") { // only a literal may stand in parentheses
		over = "(" + over + ")"
	}
	var body strings.Builder
	l.bind(&body, s, vals...)
	l.loopBody(&body, s, p)
	fmt.Fprintf(b, "{ %s := 0\n", p.state)
	for i, r := range p.results {
		fmt.Fprintf(b, "var %s %s\n", r, l.typeStr(l.sig.Results().At(i).Type()))
	}
	fmt.Fprintf(b, "%s_done := false\n", p.state)
	fmt.Fprintf(b, "%s(func(%s) bool { %s\nif %s_done { krt.IteratorDone() }\n%s_done = true\nif !func() bool {%s\nreturn true }() { return false }\n%s_done = false\nreturn true })\n%s_done = true\n",
		over, strings.Join(params, ", "), stopCheck, p.state, p.state, body.String(), p.state, p.state)
	for _, e := range p.exits {
		fmt.Fprintf(b, "if %s == %d { ", p.state, e.code)
		if e.branch == nil {
			l.retValues(b, p.results, true)
		} else {
			l.branch(b, e.branch)
		}
		b.WriteString(" }\n")
	}
	b.WriteString("}")
}
