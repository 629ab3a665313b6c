package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// callee is what a call calls.
type callee struct {
	recv, recvType string // the receiver and its lowered type, for methods
	direct         string // the receiver of a compiled method as a call at once may write it
	text           string // the function; for a compiled method ".Name"
	sig            *types.Signature
	pkg            *types.Package // of compiled code, nil for cells' own
	static         bool           // text names a function, it needs no evaluation
}

func (l *lowerer) callee(fun ast.Expr) callee {
	fun = ast.Unparen(fun)
	sig, _ := l.under(l.info.TypeOf(fun)).(*types.Signature)
	c := callee{sig: sig}
	switch f := fun.(type) {
	case *ast.Ident:
		if o, ok := l.info.Uses[f].(*types.Func); ok {
			c.static, c.pkg = true, l.compiledPkg(o)
		}
	case *ast.SelectorExpr:
		sel := l.info.Selections[f]
		if sel == nil {
			if o, ok := l.info.Uses[f.Sel].(*types.Func); ok {
				c.static, c.pkg = true, l.compiledPkg(o)
			}
		} else if sel.Kind() == types.MethodVal {
			l.method(&c, f, sel)
			return c
		}
	case *ast.IndexExpr, *ast.IndexListExpr:
		if id := instanceIdent(fun); id != nil {
			_, c.static = l.info.Instances[id]
		}
	}
	c.text = l.operand(fun)
	if _, ok := fun.(*ast.FuncLit); ok && strings.HasPrefix(c.text, "func(") {
		c.text = "(" + c.text + ")"
	}
	return c
}

// compiledPkg is the package of a compiled function, nil for one that is lowered.
func (l *lowerer) compiledPkg(f *types.Func) *types.Package {
	if f.Pkg() == nil || l.s.fromSource(f.Pkg()) || f.Signature().TypeParams().Len() > 0 {
		return nil
	}
	return f.Pkg()
}

// method fills a callee for x.M(...).
func (l *lowerer) method(c *callee, x *ast.SelectorExpr, sel *types.Selection) {
	recv := l.sub(sel.Recv())
	m, index := sel.Obj().(*types.Func), sel.Index()
	if len(l.subst) > 0 {
		if o, ix, _ := types.LookupFieldOrMethod(recv, true, m.Pkg(), m.Name()); o != nil {
			if mm, ok := o.(*types.Func); ok {
				m, index = mm, ix
			}
		}
	}
	base, typ := l.path(l.expr(x.X), recv, index)
	c.static = true
	if to := replaced[m.FullName()]; to != "" {
		c.text, c.recv, c.recvType = "krt."+to, l.address(base, typ), "*"+l.typeStr(deref(typ))
		c.pkg = m.Pkg()
		return
	}
	if types.IsInterface(typ) {
		c.recv, c.recvType = base, l.typeStr(typ)
		if l.loose(typ) {
			c.text = l.dispatcher(m)
		} else {
			c.text, c.pkg = "."+m.Name(), m.Pkg()
		}
		return
	}
	named, ok := types.Unalias(deref(typ)).(*types.Named)
	if !ok || !l.s.fromSource(named.Obj().Pkg()) && l.twin(named) == nil {
		c.recv, c.recvType, c.text, c.pkg, c.direct = base, "interface{}", "."+m.Name(), m.Pkg(), base
		if named == nil || named.Obj().Exported() || named.Obj().Pkg() == nil { // a call at once needs no name of the type
			c.recvType = l.typeStr(typ)
		}
		_, isPtr := typ.Underlying().(*types.Pointer)
		if _, wantPtr := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer); wantPtr && !isPtr {
			c.recv, c.recvType = l.address(base, typ), "*"+c.recvType
		}
		return
	}
	c.text = l.methodName(named, m)
	c.recv, c.recvType = base, l.typeStr(typ)
	_, isPtr := typ.Underlying().(*types.Pointer)
	_, wantPtr := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer)
	switch {
	case wantPtr && !isPtr:
		c.recv, c.recvType = l.address(base, typ), "*"+c.recvType
	case !wantPtr && isPtr:
		c.recv, c.recvType = "(*"+base+")", l.typeStr(deref(typ))
	}
}

func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).Underlying().(*types.Pointer); ok {
		if _, named := types.Unalias(t).(*types.Named); !named {
			return p.Elem()
		}
	}
	return t
}

// address writes &x, or x itself where it is a pointer.
func (l *lowerer) address(s string, t types.Type) string {
	if _, ok := t.Underlying().(*types.Pointer); ok {
		return s
	}
	if strings.HasPrefix(s, "(*") && strings.HasSuffix(s, ")") && balanced(s[2:len(s)-1]) {
		return s[2 : len(s)-1]
	}
	return "&" + s
}

func balanced(s string) bool {
	depth := 0
	for _, r := range s {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// path spells out the embedded fields on the way to a field or method, through types that are lowered. A compiled type
// promotes by itself.
func (l *lowerer) path(base string, t types.Type, index []int) (string, types.Type) {
	for _, ix := range index[:len(index)-1] {
		u := deref(t)
		st, ok := u.Underlying().(*types.Struct)
		if !ok {
			break
		}
		if n, ok := types.Unalias(u).(*types.Named); ok && !l.s.fromSource(n.Obj().Pkg()) {
			break
		}
		base += "." + fieldName(st, ix)
		t = st.Field(ix).Type()
	}
	return base, t
}

func (l *lowerer) selector(x *ast.SelectorExpr) string {
	sel := l.info.Selections[x]
	if sel == nil {
		return l.object(x.Sel, l.info.Uses[x.Sel])
	}
	switch sel.Kind() {
	case types.FieldVal:
		base, _ := l.path(l.operand(x.X), l.sub(sel.Recv()), sel.Index())
		return base + "." + x.Sel.Name
	case types.MethodExpr:
		return l.methodExpr(x, sel)
	}
	var c callee
	l.method(&c, x, sel)
	sig := l.sub(sel.Type()).(*types.Signature)
	names, args := forwarded(sig)
	inner := "func" + l.sigStr(sig, names) + " { " + returning(sig) + c.on("k_v", args) + " }"
	return "func(k_v " + c.recvType + ") " + l.typeStr(sig) + " { return " + inner + " }(" + c.recv + ")"
}

// on writes the call with another receiver.
func (c callee) on(recv string, args []string) string {
	if strings.HasPrefix(c.text, ".") {
		return recv + c.text + "(" + strings.Join(args, ", ") + ")"
	}
	return c.text + "(" + strings.Join(append([]string{recv}, args...), ", ") + ")"
}

// forwarded names the parameters of a function that passes them on.
func forwarded(sig *types.Signature) (names, args []string) {
	for i := range sig.Params().Len() {
		n := fmt.Sprintf("k_a%d", i)
		names = append(names, n)
		if sig.Variadic() && i == sig.Params().Len()-1 {
			n += "..."
		}
		args = append(args, n)
	}
	return names, args
}

func returning(sig *types.Signature) string {
	if sig.Results().Len() > 0 {
		return "return "
	}
	return ""
}

// methodExpr writes T.M, a function whose first parameter is the receiver.
func (l *lowerer) methodExpr(x *ast.SelectorExpr, sel *types.Selection) string {
	sig := l.sub(sel.Type()).(*types.Signature)
	names, args := forwarded(sig)
	recv := l.sub(sel.Recv())
	m, index := sel.Obj().(*types.Func), sel.Index()
	if o, ix, _ := types.LookupFieldOrMethod(recv, true, m.Pkg(), m.Name()); o != nil {
		m, index = o.(*types.Func), ix
	}
	base, typ := l.path(names[0], recv, index)
	named, _ := types.Unalias(deref(typ)).(*types.Named)
	call := ""
	switch {
	case types.IsInterface(typ) && l.loose(typ):
		call = l.dispatcher(m) + "(" + strings.Join(append([]string{base}, args[1:]...), ", ") + ")"
	case named != nil && !types.IsInterface(typ) && l.s.fromSource(named.Obj().Pkg()):
		name := l.methodName(named, m)
		_, isPtr := typ.Underlying().(*types.Pointer)
		_, wantPtr := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer)
		if wantPtr && !isPtr {
			base = "&" + base
		} else if !wantPtr && isPtr {
			base = "*" + base
		}
		call = name + "(" + strings.Join(append([]string{base}, args[1:]...), ", ") + ")"
	default:
		call = base + "." + m.Name() + "(" + strings.Join(args[1:], ", ") + ")"
	}
	return "func" + l.sigStr(sig, names) + " { " + returning(sig) + call + " }"
}

// call writes a call, a conversion or a use of a builtin.
func (l *lowerer) call(x *ast.CallExpr) string {
	tv := l.info.Types[x.Fun]
	if tv.IsType() {
		return l.conversion(x.Args[0], l.sub(tv.Type))
	}
	if tv.IsBuiltin() {
		return l.builtin(x)
	}
	c := l.callee(x.Fun)
	if len(x.Args) == 1 && c.sig.Params().Len() > 0 {
		if t, ok := l.typeOf(x.Args[0]).(*types.Tuple); ok {
			return l.passTuple(c, x.Args[0], t)
		}
	}
	args := l.args(c, x)
	if c.direct != "" {
		return c.on(c.direct, args)
	}
	if c.recvType != "" {
		return c.on(c.recv, args)
	}
	return c.text + "(" + strings.Join(args, ", ") + ")"
}

// args writes the arguments of a call, each as its parameter's type.
func (l *lowerer) args(c callee, x *ast.CallExpr) (list []string) {
	np := c.sig.Params().Len()
	for i, a := range x.Args {
		t := l.paramType(c.sig, i, x.Ellipsis.IsValid())
		switch {
		case x.Ellipsis.IsValid() && i == np-1:
			list = append(list, l.spread(c, a, t)+"...")
		case c.sig.Variadic() && i == np-1 && i == len(x.Args)-1 && l.isSlice(a):
			v := l.value(a, t) // yaegi would take a lone slice for all the arguments
			if c.pkg != nil && emptyInterface(l.sub(t)) {
				v = l.foreign(a, c.pkg)
			}
			list = append(list, "[]"+l.typeStr(t)+"{"+v+"}...")
		case c.pkg != nil && emptyInterface(l.sub(t)):
			list = append(list, l.foreign(a, c.pkg))
		default:
			list = append(list, l.value(a, t))
		}
	}
	return list
}

func (l *lowerer) isSlice(x ast.Expr) bool {
	t := l.info.TypeOf(x)
	if t == nil {
		return false
	}
	_, ok := l.under(t).(*types.Slice)
	return ok
}

// paramType is the type that argument i is assigned to.
func (l *lowerer) paramType(sig *types.Signature, i int, spread bool) types.Type {
	np := sig.Params().Len()
	if sig.Variadic() && i >= np-1 && !spread {
		return l.elem(sig.Params().At(np - 1).Type())
	}
	return sig.Params().At(i).Type()
}

func emptyInterface(t types.Type) bool {
	it, ok := t.Underlying().(*types.Interface)
	return ok && it.NumMethods() == 0
}

// passTuple writes f(g()), where g has several results.
func (l *lowerer) passTuple(c callee, arg ast.Expr, t *types.Tuple) string {
	var params, args []string
	plain := true
	for i := range t.Len() {
		n := fmt.Sprintf("k_t%d", i)
		from, to := t.At(i).Type(), l.paramType(c.sig, i, false)
		v := n
		if c.pkg != nil && emptyInterface(l.sub(to)) {
			v = l.foreignText(n, from, c.pkg)
		} else {
			v = l.convert(n, from, to)
		}
		plain = plain && v == n
		params, args = append(params, n+" "+l.typeStr(from)), append(args, v)
	}
	if plain && c.recvType == "" {
		return c.text + "(" + l.expr(arg) + ")"
	}
	call := c.text + "(" + strings.Join(args, ", ") + ")"
	if c.recvType != "" {
		call = c.on("k_v", args)
		params = append([]string{"k_v " + c.recvType}, params...)
		// A receiver and a tuple cannot be passed together: the receiver is bound first.
		inner := "func(" + strings.Join(params[1:], ", ") + ")" + l.resultList(c.sig) + " { " + returning(c.sig) + call + " }"
		return "func(k_v " + c.recvType + ") func(" + strings.Join(paramTypes(params[1:]), ", ") + ")" + l.resultList(c.sig) +
			" { return " + inner + " }(" + c.recv + ")(" + l.expr(arg) + ")"
	}
	return "func(" + strings.Join(params, ", ") + ")" + l.resultList(c.sig) + " { " + returning(c.sig) + call + " }(" + l.expr(arg) + ")"
}

func (l *lowerer) resultList(sig *types.Signature) string {
	if sig.Results().Len() == 0 {
		return ""
	}
	return " " + l.typeStr(sig.Results())
}

// paramTypes drops the names of parameters.
func paramTypes(params []string) (list []string) {
	for _, p := range params {
		_, t, _ := strings.Cut(p, " ")
		list = append(list, t)
	}
	return list
}
