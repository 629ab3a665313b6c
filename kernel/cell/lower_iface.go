package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// dispatcher returns the function that calls a method of a value in an empty interface: it knows the session's types that
// have the method now, and asks the run-time support for all others.
func (l *lowerer) dispatcher(m *types.Func) string {
	sig := l.sub(plainSig(m.Signature())).(*types.Signature)
	names, args := forwarded(sig)
	var cases strings.Builder
	for _, t := range l.im.types[1:] {
		n, ok := types.Unalias(t).(*types.Named)
		if !ok || types.IsInterface(n) || n.Obj().Pkg() == nil || !l.s.fromSource(n.Obj().Pkg()) {
			continue
		}
		l.dispatchCases(&cases, n, m.Name(), sig, args)
	}
	key := "dispatch/" + m.Name() + l.spell(sig) + cases.String()
	name := l.im.alias.at(key)
	if name == "" {
		name = l.im.fresh("call_" + m.Name())
		l.im.alias.set(key, name)
		params := strings.TrimPrefix(l.sigStr(sig, names), "(")
		if sig.Params().Len() > 0 {
			params = ", " + params
		}
		l.funcs = append(l.funcs, fmt.Sprintf("func %s(k_x interface{}%s {\n%s%skrt.Dyn(k_x, %q).(%s)(%s)\n}",
			name, params, cases.String(), returning(sig), m.Name(), l.typeStr(sig), strings.Join(args, ", ")))
	}
	return name
}

// dispatchCases writes the calls for a type that declares the method itself.
func (l *lowerer) dispatchCases(b *strings.Builder, n *types.Named, method string, sig *types.Signature, args []string) {
	for m := range n.Methods() {
		if m.Name() != method || l.s.dead[m] || !types.Identical(plainSig(m.Signature()), sig) {
			continue
		}
		f := l.methodName(n, m)
		_, ptr := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer)
		call := func(recv string) string {
			c := f + "(" + strings.Join(append([]string{recv}, args...), ", ") + ")"
			if sig.Results().Len() > 0 {
				return "return " + c
			}
			return c + "; return"
		}
		if !ptr {
			t, v := l.dynamic(n), "v"
			if l.needsBox(n) {
				v = "v.V"
			}
			fmt.Fprintf(b, "if v, ok := k_x.(%s); ok { %s }\n", t, call(v))
		}
		p := types.NewPointer(n)
		v := "v"
		if l.needsBox(p) {
			v = "v.V"
		}
		if !ptr {
			v = "(*" + v + ")"
		}
		fmt.Fprintf(b, "if v, ok := k_x.(%s); ok { %s }\n", l.dynamic(p), call(v))
		return
	}
}

// dynamic spells the type that a value of t has in an empty interface.
func (l *lowerer) dynamic(t types.Type) string {
	if l.needsBox(t) {
		return l.needBox(t)
	}
	l.typeRef(t)
	return l.typeStr(t)
}

// raw writes an interface value as an empty interface that holds the session's own value, not a wrapper of it.
func (l *lowerer) raw(x ast.Expr) string {
	return l.convert(l.expr(x), l.typeOf(x), types.NewInterfaceType(nil, nil))
}

// assert writes x.(T) for one result. assertOK is its form with two.
func (l *lowerer) assert(x *ast.TypeAssertExpr) string {
	return l.assertText(l.raw(x.X), l.typeOf(x.Type), l.typeOf(x.X), isTuple(l.info.TypeOf(x)))
}

func (l *lowerer) assertText(s string, to, from types.Type, two bool) string {
	switch {
	case types.IsInterface(to) && l.loose(to):
		f := "krt.Assert"
		if two {
			f = "krt.AssertOK"
		}
		return fmt.Sprintf("%s(%s, %d)", f, s, l.typeRef(to))
	case types.IsInterface(to):
		if two {
			return "krt.AsOK_" + l.ifaceKey(to) + "(" + s + ")"
		}
		return "krt.As_" + l.ifaceKey(to) + "(" + s + ")"
	}
	to = l.sub(to)
	id, dyn, lowered := l.typeRef(to), l.dynamic(to), l.typeStr(to)
	v := "v"
	if l.needsBox(to) {
		v = "v.V"
	}
	name := fmt.Sprintf("k_as%d", id)
	if two {
		name = fmt.Sprintf("k_is%d", id)
		l.helper(name, func() string {
			return fmt.Sprintf("func %s(x interface{}) (%s, bool) { if v, ok := x.(%s); ok { return %s, true }; var z %s; return z, false }", name, lowered, dyn, v, lowered)
		})
		return name + "(" + s + ")"
	}
	l.helper(name, func() string {
		return fmt.Sprintf("func %s(x interface{}, from int) %s { if v, ok := x.(%s); ok { return %s }; krt.BadAssert(x, %d, from); var z %s; return z }", name, lowered, dyn, v, id, lowered)
	})
	return fmt.Sprintf("%s(%s, %d)", name, s, l.typeRef(from))
}

// typeSwitch writes a type switch as tests in order.
func (l *lowerer) typeSwitch(b *strings.Builder, s *ast.TypeSwitchStmt, label string) {
	var x ast.Expr
	name := ""
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		x = ast.Unparen(a.X).(*ast.TypeAssertExpr).X
	case *ast.AssignStmt:
		x = ast.Unparen(a.Rhs[0]).(*ast.TypeAssertExpr).X
		name = a.Lhs[0].(*ast.Ident).Name
	}
	b.WriteString("{ ")
	if s.Init != nil {
		l.stmt(b, s.Init, "")
		b.WriteString("\n")
	}
	tv := l.tmp("tv")
	fmt.Fprintf(b, "var %s interface{} = %s\n", tv, l.raw(x))
	tests := map[*ast.CaseClause]string{}
	for _, c := range s.Body.List {
		cc := c.(*ast.CaseClause)
		var list []string
		for _, t := range cc.List {
			list = append(list, l.typeTest(b, tv, t))
		}
		tests[cc] = strings.Join(list, " || ")
	}
	l.cases(b, s.Body, label, func(cc *ast.CaseClause) string { return tests[cc] }, func(cc *ast.CaseClause) {
		if o := l.info.Implicits[cc]; o != nil && name != "_" && name != "" {
			l.bindCase(b, cc, o, name, tv, l.typeOf(x))
		}
	})
}

// typeTest writes the test of one case. A concrete type's is computed before the switch: yaegi's assertion needs a statement.
func (l *lowerer) typeTest(b *strings.Builder, tv string, t ast.Expr) string {
	if l.info.Types[t].IsNil() {
		return tv + " == nil"
	}
	typ := l.typeOf(t)
	if types.IsInterface(typ) {
		if l.loose(typ) {
			return fmt.Sprintf("krt.Is(%s, %d)", tv, l.typeRef(typ))
		}
		return "krt.Can_" + l.ifaceKey(typ) + "(" + tv + ")"
	}
	ok := l.tmp("ok")
	fmt.Fprintf(b, "_, %s := %s.(%s)\n", ok, tv, l.dynamic(typ))
	return ok
}

// bindCase declares the variable of a case.
func (l *lowerer) bindCase(b *strings.Builder, cc *ast.CaseClause, o types.Object, name, tv string, from types.Type) {
	val, t := tv, l.sub(o.Type())
	if len(cc.List) == 1 && !l.info.Types[cc.List[0]].IsNil() {
		val = l.assertText(tv, l.typeOf(cc.List[0]), from, false)
	} else if l.compiledIface(from) {
		val = l.asCompiled(from) + "(" + tv + ")"
	}
	name = l.define(o, name)
	if l.caps.boxed(o) {
		fmt.Fprintf(b, "%s := new(%s); *%s = %s\n", name, l.typeStr(t), name, val)
	} else {
		fmt.Fprintf(b, "var %s %s = %s\n", name, l.typeStr(t), val)
	}
}

// How a compiled package treats what it gets as an empty interface.
type treatment int

const (
	prints   treatment = iota // formats it: it must look as its type says
	keeps                     // gives it back: it must keep its identity
	reflects                  // looks at its structure: it must be bare, with the package's own interfaces
	plain                     // anything else: interfaces of its own, fmt.Stringer and error
)

func treatmentOf(path string) treatment {
	switch first, _, _ := strings.Cut(path, "/"); {
	case path == "fmt" || path == "log" || path == "log/slog" || path == "testing":
		return prints
	case first == "container" || first == "sync" || path == "context" || path == "errors" || first == "unique" || path == "runtime":
		return keeps
	case first == "encoding" || first == "reflect" || path == "sort" || first == "text" || first == "html" || first == "database" || path == "net/rpc":
		return reflects
	}
	return plain
}

// foreign writes an argument that a compiled function takes as an empty interface.
func (l *lowerer) foreign(x ast.Expr, pkg *types.Package) string {
	if l.info.Types[x].IsNil() {
		return "nil"
	}
	from := l.typeOf(x)
	if isUntyped(from) || l.info.Types[x].Value != nil {
		return l.foreignText(l.value(x, types.NewInterfaceType(nil, nil)), nil, pkg)
	}
	return l.foreignText(l.expr(x), from, pkg)
}

// foreignText is foreign for a lowered value of type from; nil means that it is an empty interface already.
func (l *lowerer) foreignText(s string, from types.Type, pkg *types.Package) string {
	if from != nil && !types.IsInterface(from) && !l.lives(from) && !l.holdsOwn(from) {
		return s
	}
	if from != nil {
		if l.compiledIface(from) && treatmentOf(pkg.Path()) != reflects {
			return s // what is in it is dressed already
		}
		s = l.convert(s, from, types.NewInterfaceType(nil, nil))
	}
	switch treatmentOf(pkg.Path()) {
	case prints:
		return "krt.Shown(" + s + ")"
	case keeps:
		return s
	}
	return fmt.Sprintf("krt.Out(%s, %q)", s, pkg.Path())
}

// holdsOwn says whether values of a type may hold values of the session's types: unnamed types of structs, and of interfaces.
func (l *lowerer) holdsOwn(t types.Type) bool {
	switch t := types.Unalias(l.sub(t)).(type) {
	case *types.Named:
		return t.Obj().Pkg() != nil && l.s.fromSource(t.Obj().Pkg())
	case *types.Interface:
		return true
	case *types.Pointer:
		return l.holdsOwn(t.Elem())
	case *types.Slice:
		return l.holdsOwn(t.Elem())
	case *types.Array:
		return l.holdsOwn(t.Elem())
	case *types.Map:
		return l.holdsOwn(t.Key()) || l.holdsOwn(t.Elem())
	case *types.Struct:
		return true
	}
	return false
}

// spread writes the slice of a call f(xs...).
func (l *lowerer) spread(c callee, x ast.Expr, t types.Type) string {
	s := l.value(x, t)
	if c.pkg == nil || !emptyInterface(l.elem(l.sub(t))) {
		return s
	}
	switch treatmentOf(c.pkg.Path()) {
	case prints:
		return "krt.ShownAll(" + s + ")"
	case keeps:
		return s
	}
	return fmt.Sprintf("krt.OutAll(%s, %q)", s, c.pkg.Path())
}
