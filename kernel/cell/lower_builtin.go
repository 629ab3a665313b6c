package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

func builtinName(fun ast.Expr) string {
	switch f := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// builtin writes a use of a builtin function.
func (l *lowerer) builtin(x *ast.CallExpr) string {
	name := builtinName(x.Fun)
	arg := func(i int) string { return l.operand(x.Args[i]) }
	switch name {
	case "recover":
		return "krt.Recover()"
	case "panic":
		return "krt.Panic(" + l.value(x.Args[0], types.NewInterfaceType(nil, nil)) + ")"
	case "print", "println":
		var args []string
		for _, a := range x.Args {
			args = append(args, l.value(a, types.NewInterfaceType(nil, nil)))
		}
		return "krt.Builtin_" + name + "(" + strings.Join(args, ", ") + ")"
	case "min", "max":
		return l.minMax(name, x)
	case "clear":
		return "krt.Clear(" + arg(0) + ")"
	case "close":
		return "krt.Close(" + arg(0) + ")"
	case "make":
		args := []string{l.madeType(x.Args[0])}
		for _, a := range x.Args[1:] {
			n := l.expr(a)
			if t, ok := l.under(l.info.TypeOf(a)).(*types.Basic); ok && t.Kind() != types.Int && t.Info()&types.IsUntyped == 0 {
				n = "int(" + n + ")"
			}
			if l.info.Types[a].Value == nil {
				n = "krt.Size(" + n + ")"
			}
			args = append(args, n)
		}
		return "make(" + strings.Join(args, ", ") + ")"
	case "new":
		if !l.info.Types[x.Args[0]].IsType() { // new(expr) points to a variable with that value
			t := l.typeOf(x).(*types.Pointer).Elem()
			return "func(k_v " + l.typeStr(t) + ") *" + l.typeStr(t) + " { k_n := new(" + l.typeStr(t) + "); *k_n = k_v; return k_n }(" + l.value(x.Args[0], t) + ")"
		}
		return "new(" + l.typeStr(l.typeOf(x.Args[0])) + ")"
	case "append":
		return l.appendCall(x)
	case "copy":
		return "copy(" + arg(0) + ", " + arg(1) + ")"
	case "delete":
		m := l.under(l.info.TypeOf(x.Args[0])).(*types.Map)
		return "delete(" + arg(0) + ", " + l.value(x.Args[1], m.Key()) + ")"
	case "complex":
		t := l.typeOf(x)
		part := types.Typ[types.Float64]
		if b, ok := t.Underlying().(*types.Basic); ok && b.Kind() == types.Complex64 {
			part = types.Typ[types.Float32]
		}
		return "complex(" + l.value(x.Args[0], part) + ", " + l.value(x.Args[1], part) + ")"
	case "len", "cap":
		s := arg(0)
		if p, ok := l.under(l.info.TypeOf(x.Args[0])).(*types.Pointer); ok {
			return fmt.Sprint(p.Elem().Underlying().(*types.Array).Len())
		}
		return name + "(" + s + ")"
	case "Sizeof":
		return fmt.Sprintf("uintptr(%d)", types.SizesFor("gc", "amd64").Sizeof(l.typeOf(x.Args[0])))
	case "Add":
		return l.alias("unsafe", "unsafe") + ".Add(" + arg(0) + ", " + arg(1) + ")"
	case "real", "imag":
		return name + "(" + arg(0) + ")"
	}
	l.fail(x, "%s is not supported in cells", name)
	return ""
}

// madeType spells the type that make makes; a recursive type is made by its structure.
func (l *lowerer) madeType(x ast.Expr) string {
	t := l.typeOf(x)
	if u := l.opened(t); u != "" {
		return u
	}
	return l.typeStr(t)
}

func (l *lowerer) appendCall(x *ast.CallExpr) string {
	args := []string{l.operand(x.Args[0])}
	elem := l.elem(l.typeOf(x))
	for i, a := range x.Args[1:] {
		if x.Ellipsis.IsValid() && i == len(x.Args)-2 {
			if b, ok := l.under(l.info.TypeOf(a)).(*types.Basic); ok && b.Info()&types.IsString != 0 {
				args = append(args, "[]byte("+l.expr(a)+")...")
			} else if l.info.Types[a].IsNil() {
				continue
			} else {
				args = append(args, l.operand(a)+"...")
			}
			continue
		}
		args = append(args, l.value(a, elem))
	}
	return "append(" + strings.Join(args, ", ") + ")"
}

func (l *lowerer) minMax(name string, x *ast.CallExpr) string {
	t := l.typeOf(x)
	ts := l.typeStr(t)
	helper := "k_" + name + "_" + l.mangle(t)
	op := map[string]string{"min": "<", "max": ">"}[name]
	test := "b " + op + " a"
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsFloat != 0 {
		test += " || b != b" // NaN wins
	}
	l.helper(helper, func() string {
		return fmt.Sprintf("func %s(a, b %s) %s { if %s { return b }; return a }", helper, ts, ts, test)
	})
	s := l.value(x.Args[0], t)
	for _, a := range x.Args[1:] {
		s = helper + "(" + s + ", " + l.value(a, t) + ")"
	}
	return s
}

// builtinThunk writes the body of a deferred builtin.
func (l *lowerer) builtinThunk(x *ast.CallExpr, add func(typ, val string) string) string {
	empty := types.NewInterfaceType(nil, nil)
	name := builtinName(x.Fun)
	switch name {
	case "recover":
		return "krt.Recover()"
	case "panic":
		return "krt.Panic(" + add("interface{}", l.value(x.Args[0], empty)) + ")"
	case "print", "println":
		var args []string
		for _, a := range x.Args {
			args = append(args, add("interface{}", l.value(a, empty)))
		}
		return "krt.Builtin_" + name + "(" + strings.Join(args, ", ") + ")"
	case "close":
		return "krt.Close(" + add(l.typeStr(l.typeOf(x.Args[0])), l.expr(x.Args[0])) + ")"
	case "clear":
		return "krt.Clear(" + add(l.typeStr(l.typeOf(x.Args[0])), l.expr(x.Args[0])) + ")"
	case "delete":
		m := l.under(l.info.TypeOf(x.Args[0])).(*types.Map)
		return "delete(" + add(l.typeStr(l.typeOf(x.Args[0])), l.expr(x.Args[0])) + ", " + add(l.typeStr(m.Key()), l.value(x.Args[1], m.Key())) + ")"
	case "copy":
		return "copy(" + add(l.typeStr(l.typeOf(x.Args[0])), l.expr(x.Args[0])) + ", " + add(l.typeStr(l.typeOf(x.Args[1])), l.expr(x.Args[1])) + ")"
	}
	l.fail(x, "defer of %s is not supported in cells", name)
	return ""
}

// conversion writes T(x).
func (l *lowerer) conversion(x ast.Expr, to types.Type) string {
	from := l.typeOf(x)
	if types.IsInterface(to) || l.info.Types[x].IsNil() {
		if l.info.Types[x].IsNil() && !types.IsInterface(to) {
			return l.nilOf(to)
		}
		if l.compiledIface(to) && !types.IsInterface(from) && !l.lives(from) {
			return l.typeStr(to) + "(" + l.value(x, to) + ")"
		}
		return l.value(x, to)
	}
	if isUntyped(from) && l.info.Types[x].Value == nil {
		from = types.Default(from)
	}
	if types.Identical(from, to) {
		return l.expr(x)
	}
	s := l.operand(x)
	if l.opened(to) != "" {
		return l.held(s, from)
	}
	ts := l.typeStr(to)
	if ts == l.typeStr(from) {
		return s
	}
	if _, ok := from.Underlying().(*types.Slice); ok {
		switch u := to.Underlying().(type) {
		case *types.Array:
			return l.sliceToArray(s, from, to, u)
		case *types.Pointer:
			l.fail(x, "conversion of a slice to a pointer to an array is not supported in cells")
		}
	}
	switch to.Underlying().(type) {
	case *types.Pointer, *types.Chan, *types.Signature:
		ts = "(" + ts + ")"
	case *types.Struct:
		if _, named := types.Unalias(to).(*types.Named); !named {
			ts = "(" + ts + ")"
		}
	}
	return ts + "(" + s + ")"
}

func (l *lowerer) nilOf(t types.Type) string {
	if l.opened(t) != "" {
		return "interface{}(nil)"
	}
	return "func() " + l.typeStr(t) + " { return nil }()"
}

func (l *lowerer) sliceToArray(s string, from, to types.Type, u *types.Array) string {
	name := "k_arr_" + l.mangle(types.NewTuple(types.NewVar(0, nil, "", from), types.NewVar(0, nil, "", to)))
	l.helper(name, func() string {
		return fmt.Sprintf("func %s(s %s) (a %s) { krt.ArrayLen(len(s), %d); copy(a[:], s); return a }", name, l.typeStr(from), l.typeStr(to), u.Len())
	})
	return name + "(" + s + ")"
}
