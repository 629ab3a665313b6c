package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// loose says whether a type is an interface that the lowered program holds as an empty one: any, and every interface that
// cells declare or write out. The others are interfaces of compiled packages.
func (l *lowerer) loose(t types.Type) bool {
	t = types.Unalias(l.sub(t))
	if !types.IsInterface(t) {
		return false
	}
	n, ok := t.(*types.Named)
	if !ok {
		return true
	}
	if n.Obj().Pkg() == nil {
		return n.Obj().Name() != "error"
	}
	return l.s.fromSource(n.Obj().Pkg())
}

// compiledIface says whether a type is an interface of a compiled package, error among them.
func (l *lowerer) compiledIface(t types.Type) bool {
	return types.IsInterface(l.sub(t)) && !l.loose(t)
}

// lives says whether values of a type can be the session's: the type is, or points to, one that is lowered from source.
func (l *lowerer) lives(t types.Type) bool { return l.s.ownNamed(l.sub(t)) != nil || l.needsBox(t) }

// needsBox says whether a value of a type would lose its type in an empty interface: the lowered form does not name it.
func (l *lowerer) needsBox(t types.Type) bool {
	switch t := types.Unalias(l.sub(t)).(type) {
	case *types.Named:
		if t.Obj().Pkg() == nil || !l.s.fromSource(t.Obj().Pkg()) || types.IsInterface(t) {
			return false
		}
		_, isStruct := t.Underlying().(*types.Struct)
		return !isStruct
	default:
		return l.hidesName(t)
	}
}

// hidesName says whether an unnamed type mentions a defined type whose lowered form has no name.
func (l *lowerer) hidesName(t types.Type) bool {
	hides := func(u types.Type) bool {
		if n, ok := types.Unalias(u).(*types.Named); ok {
			if n.Obj().Pkg() == nil || !l.s.fromSource(n.Obj().Pkg()) {
				return false
			}
			_, isStruct := n.Underlying().(*types.Struct)
			return !isStruct
		}
		if it, ok := types.Unalias(u).(*types.Interface); ok {
			return it.NumMethods() > 0
		}
		return l.hidesName(u)
	}
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return hides(t.Elem())
	case *types.Slice:
		return hides(t.Elem())
	case *types.Array:
		return hides(t.Elem())
	case *types.Chan:
		return hides(t.Elem())
	case *types.Map:
		return hides(t.Key()) || hides(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if f.Embedded() || hides(f.Type()) { // an embedded field may bring methods
				return true
			}
		}
	case *types.Signature:
		for v := range t.Params().Variables() {
			if hides(v.Type()) {
				return true
			}
		}
		for v := range t.Results().Variables() {
			if hides(v.Type()) {
				return true
			}
		}
	}
	return false
}

// needBox returns the box of a type, a struct whose one field V holds the value.
func (l *lowerer) needBox(t types.Type) string {
	t = l.sub(t)
	id := l.im.typeID(l.spell(t), t)
	name := fmt.Sprintf("k_b%d", id)
	if l.im.emitted.at(name) {
		return name
	}
	l.im.emitted.set(name, true)
	l.typeDecls = append(l.typeDecls, fmt.Sprintf("type %s struct { V %s %s }", name, l.typeStr(t), "`yk:\""+fmt.Sprint(id)+"\"`"))
	l.defs = append(l.defs, fmt.Sprintf("krt.Box(%d, (*%s)(nil))", id, name))
	if n, ok := types.Unalias(t).(*types.Named); ok {
		l.queue = append(l.queue, func() { l.in(nil, "", func() { l.needMethods(n, id) }) })
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		if n, ok := types.Unalias(p.Elem()).(*types.Named); ok && l.needsBox(n) {
			l.needBox(n)
		}
	}
	return name
}

// box puts a lowered value of a concrete type into an empty interface.
func (l *lowerer) box(s string, t types.Type) string {
	if l.needsBox(t) {
		return l.needBox(t) + "{V: " + s + "}"
	}
	if n := l.s.ownNamed(l.sub(t)); n != nil {
		l.typeRef(n)
	}
	return l.held(s, t)
}

// held puts a value into an empty interface. A function goes through compiled code: yaegi may store its own form of one.
func (l *lowerer) held(s string, t types.Type) string {
	if _, ok := l.under(t).(*types.Signature); ok {
		return "krt.Held(" + s + ")"
	}
	return s
}

// value writes an expression as a value of type to, as in an assignment. to may be nil: no conversion.
func (l *lowerer) value(x ast.Expr, to types.Type) string {
	tv := l.info.Types[x]
	if tv.IsNil() {
		return l.null(to)
	}
	from := l.typeOf(x)
	if to == nil || from == nil {
		return l.expr(x)
	}
	if tv.Value != nil {
		if t := types.Unalias(from); types.IsInterface(t) || isUntyped(t) && types.IsInterface(l.sub(to)) {
			from = defaultOf(tv)
		}
		if !types.IsInterface(l.sub(to)) && isUntyped(from) {
			from = l.sub(to)
		}
		return l.convert(l.constant(tv.Value, from), from, to)
	}
	return l.convert(l.expr(x), from, to)
}

// null writes nil as a value of a type. yaegi looks for a wrapper where a bare nil becomes a compiled interface.
func (l *lowerer) null(to types.Type) string {
	if to == nil || !l.compiledIface(to) || l.typeStr(to) == "error" {
		return "nil"
	}
	name := "k_nil_" + l.ifaceKey(to)
	if !l.im.emitted.at(name) {
		l.im.emitted.set(name, true)
		l.vars = append(l.vars, "var "+name+" "+l.typeStr(to))
	}
	return name
}

func isUntyped(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsUntyped != 0
}

// convert makes a lowered value of type from one of type to, where Go lets it be assigned.
func (l *lowerer) convert(s string, from, to types.Type) string {
	from, to = l.sub(from), l.sub(to)
	if isUntyped(from) {
		from = types.Default(from)
	}
	if types.Identical(from, to) {
		return s
	}
	if types.IsInterface(to) {
		return l.toInterface(s, from, to)
	}
	if l.opened(from) != "" && l.opened(to) == "" {
		return l.open(s, from)
	}
	if l.opened(to) != "" && l.opened(from) == "" {
		return l.held(s, from)
	}
	if _, ok := from.Underlying().(*types.Struct); ok && l.typeStr(from) != l.typeStr(to) {
		return l.typeStr(to) + "(" + s + ")"
	}
	return s
}

func (l *lowerer) toInterface(s string, from, to types.Type) string {
	if types.IsInterface(from) {
		switch {
		case l.loose(from) && l.loose(to):
			return s
		case l.loose(to):
			return "krt.Unwrap(" + s + ")"
		case l.loose(from):
			return l.asCompiled(to) + "(" + s + ")"
		}
		return s
	}
	if b, ok := from.(*types.Basic); ok && b.Kind() == types.UntypedNil {
		return "nil"
	}
	if l.loose(to) {
		return l.box(s, from)
	}
	if s == "krt.Stdin()" && TypeName(to) == "io.Reader" {
		return "krt.StdinReader()" // a file would have to be filled before anybody reads it
	}
	if l.lives(from) || isStructLit(from) {
		return l.asCompiled(to) + "(" + l.box(s, from) + ")"
	}
	return s
}

func isStructLit(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	_, ok := types.Unalias(t).(*types.Struct)
	return ok
}

// asCompiled names the support function that makes any value one of a compiled interface.
func (l *lowerer) asCompiled(t types.Type) string {
	return "krt.To_" + l.ifaceKey(t)
}

// ifaceKey names a compiled interface in the run-time support's table.
func (l *lowerer) ifaceKey(t types.Type) string {
	n := types.Unalias(l.sub(t)).(*types.Named)
	if n.Obj().Pkg() == nil {
		return "error"
	}
	if !n.Obj().Exported() || n.TypeArgs().Len() > 0 {
		l.fail(nil, "interface %s is not available in cells", TypeName(n))
	}
	return strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(n.Obj().Pkg().Path()) + "_" + n.Obj().Name()
}

// open takes the value of a recursive type out of the empty interface that holds it.
func (l *lowerer) open(s string, t types.Type) string {
	u := l.opened(t)
	if u == "" {
		return s
	}
	name := fmt.Sprintf("k_open%d", l.im.typeID(l.spell(t), l.sub(t)))
	l.helper(name, func() string {
		return fmt.Sprintf("func %s(x interface{}) %s { if x == nil { return nil }; return x.(%s) }", name, u, u)
	})
	return name + "(" + s + ")"
}

// helper writes a function of the lowered program once a session.
func (l *lowerer) helper(name string, text func() string) {
	if !l.im.emitted.at(name) {
		l.im.emitted.set(name, true)
		l.funcs = append(l.funcs, text())
	}
}
