package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// fn is the state of one function while it is written. A function literal has one of its own, with the enclosing one's
// names.
type fn struct {
	info   *types.Info
	subst  map[*types.TypeParam]types.Type
	rename map[types.Object]string
	caps   *captures
	title  string // the function as its author knows it
	inst   string // key of the instance, for types declared inside
	deps   map[types.Object]bool

	sig     *types.Signature
	results []string // result variables, where the function has them
	temps   []string // temporaries for results that are computed before the function is left
	lits    int
	body    ast.Node // for the search of goto
	inLit   bool
	loops   []*loop
	tracked bool // the function keeps its line
	weight  int  // what a call adds to the depth, 0 if the function cannot lead back to itself
	defers  bool // the body runs in krt.Run

	hoist *[]string               // where checks go that must come before the statement; nil where they cannot
	safe  map[types.Object]string // loop variables that index an operand (as spelled) within its range
}

// within runs f with the state of a new top-level function.
func (l *lowerer) within(d decl, title, inst string, subst map[*types.TypeParam]types.Type, body ast.Node, f func()) {
	save := l.fn
	l.fn = &fn{info: d.info, subst: subst, rename: map[types.Object]string{}, title: title, inst: inst, deps: map[types.Object]bool{}}
	l.caps = analyse(d.info, body)
	f()
	l.fn = save
}

// writeFunc writes a function under a lowered name.
func (l *lowerer) writeFunc(name string, f *types.Func, d decl, subst map[*types.TypeParam]types.Type) {
	fd, ok := d.node.(*ast.FuncDecl)
	if !ok || fd.Body == nil {
		l.fail(nil, "%s has no Go body", f.FullName())
	}
	l.within(d, strings.TrimSuffix(f.Name(), "·"), name, subst, fd, func() {
		sig := l.sub(plainSig(f.Signature())).(*types.Signature)
		l.funcs = append(l.funcs, "func "+name+l.funcText(sig, fd.Type, fd.Body, nil))
		l.im.deps.set(f.Origin(), l.deps)
	})
}

// writeMethod writes a method as a function whose first parameter is the receiver.
func (l *lowerer) writeMethod(name string, m *types.Func, d decl, subst map[*types.TypeParam]types.Type, recv types.Type) {
	fd := d.node.(*ast.FuncDecl)
	title := fmt.Sprintf("%s.%s", recvName(fd), m.Name())
	if pointerRecv(fd) {
		title = fmt.Sprintf("(*%s).%s", recvName(fd), m.Name())
	}
	l.within(d, title, name, subst, fd, func() {
		sig := l.sub(plainSig(m.Signature())).(*types.Signature)
		r := &param{name: "_", typ: recv}
		if names := fd.Recv.List[0].Names; len(names) > 0 {
			r.name = names[0].Name
			r.obj = d.info.Defs[names[0]]
		}
		l.funcs = append(l.funcs, "func "+name+l.funcText(sig, fd.Type, fd.Body, r))
		l.im.deps.set(m, l.deps)
	})
}

// plainSig drops receiver and type parameters.
func plainSig(s *types.Signature) *types.Signature {
	return types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())
}

type param struct {
	name string
	typ  types.Type
	obj  types.Object
}

// funcText writes parameters, results and body of a function or literal.
func (l *lowerer) funcText(sig *types.Signature, ft *ast.FuncType, body *ast.BlockStmt, recv *param) string {
	outer := *l.fn
	defer func() {
		lits := l.fn.lits
		*l.fn = outer
		l.fn.lits = max(lits, outer.lits)
	}()
	l.sig, l.results, l.temps, l.loops, l.body, l.hoist = sig, nil, nil, nil, body, nil
	l.tracked, l.defers = l.risky(body), hasDefer(body)
	l.weight = l.callWeight(body, recv == nil && l.inLit)

	params, boxes := l.params(sig, ft, recv)
	named := l.resultNames(ft)
	var b strings.Builder
	b.WriteString("(" + strings.Join(params, ", ") + ")")
	if n := sig.Results().Len(); n > 0 {
		var rs []string
		for i := range n {
			t := l.typeStr(sig.Results().At(i).Type())
			rs = append(rs, t)
			if named || l.defers { // a variable: yaegi does not clear a named result when a function calls itself
				boxes += "var " + l.results[i] + " " + t + "\n"
			}
		}
		b.WriteString(" (" + strings.Join(rs, ", ") + ")")
	}
	if !named && !l.defers {
		l.results = nil
	}
	b.WriteString(" {\n")
	var text strings.Builder
	l.block(&text, body.List)
	for _, t := range l.temps {
		b.WriteString(t + "\n")
	}
	if l.tracked {
		b.WriteString("var k_l int\n")
		switch {
		case l.defers:
		case l.weight > 0:
			fmt.Fprintf(&b, "defer krt.NoteDeep(&k_l, %d)\n", l.weight)
		default:
			b.WriteString("defer krt.Note(&k_l)\n")
		}
	}
	if l.weight > 0 {
		fmt.Fprintf(&b, "k_depth += %d\nif k_depth > k_deepest { krt.TooDeep() }\n", l.weight)
	}
	b.WriteString(stopCheck + "\n") // compiled code may call the function again and again
	b.WriteString(boxes)
	if l.defers {
		fmt.Fprintf(&b, "k_d := &krt.Defers{Line: &k_l, Weight: %d}\nkrt.Run(k_d, func() {\n%s\n})\n", l.weight, text.String())
		b.WriteString(l.leave())
		if len(l.results) > 0 {
			b.WriteString("return " + strings.Join(l.results, ", "))
		}
	} else {
		b.WriteString(text.String())
		if sig.Results().Len() == 0 {
			b.WriteString("\n" + l.leave())
		}
	}
	b.WriteString("\n}")
	return b.String()
}

// leave is what a function does before it returns: it says that it is not being unwound.
func (l *lowerer) leave() string {
	s := ""
	if l.tracked {
		s = "k_l = 0; "
	}
	if l.weight > 0 {
		s += fmt.Sprintf("k_depth -= %d; ", l.weight)
	}
	return s
}

// params spells the parameters. One that a closure in a loop shares lives in a box from the start.
func (l *lowerer) params(sig *types.Signature, ft *ast.FuncType, recv *param) (list []string, boxes string) {
	if recv != nil {
		name := "k_r"
		if recv.name != "_" {
			name = l.define(recv.obj, recv.name)
		}
		list = append(list, name+" "+l.typeStr(recv.typ))
	}
	i := 0
	for _, f := range ft.Params.List {
		for j := range max(len(f.Names), 1) {
			name := fmt.Sprintf("k_p%d", i)
			if len(f.Names) > 0 && f.Names[j].Name != "_" {
				name = l.define(l.info.Defs[f.Names[j]], f.Names[j].Name)
			}
			t := sig.Params().At(i).Type()
			if sig.Variadic() && i == sig.Params().Len()-1 {
				list = append(list, name+" ..."+l.typeStr(l.elem(t)))
			} else {
				list = append(list, name+" "+l.typeStr(t))
			}
			i++
		}
	}
	return list, boxes
}

// resultNames sets the names of the results, and says whether the source names them.
func (l *lowerer) resultNames(ft *ast.FuncType) (named bool) {
	if ft.Results == nil {
		return false
	}
	for _, f := range ft.Results.List {
		if len(f.Names) == 0 {
			l.results = append(l.results, fmt.Sprintf("k_r%d", len(l.results)))
		}
		for _, id := range f.Names {
			named = true
			if id.Name == "_" {
				l.results = append(l.results, fmt.Sprintf("k_r%d", len(l.results)))
			} else {
				l.results = append(l.results, l.define(l.info.Defs[id], id.Name))
			}
		}
	}
	return named
}

// funcLit writes a literal. One that captures variables of a loop gets them as parameters of a function around it:
// yaegi's iterations share one frame.
func (l *lowerer) funcLit(x *ast.FuncLit) string {
	sig := l.typeOf(x).(*types.Signature)
	l.lits++
	title := l.title
	l.title = fmt.Sprintf("%s.func%d", title, l.lits)
	if title == "" {
		l.title = fmt.Sprintf("func%d", l.lits)
	}
	save := l.inLit
	l.inLit = true
	text := "func" + l.funcText(sig, x.Type, x.Body, nil)
	l.title, l.inLit = title, save
	var params, args []string
	for _, o := range l.caps.captures[x] {
		if !l.caps.inLoop[o] {
			continue
		}
		name, t := l.local(o), l.typeStr(l.sub(o.Type()))
		if l.caps.boxed(o) {
			t = "*" + t
		}
		params, args = append(params, name+" "+t), append(args, name)
	}
	if len(params) == 0 {
		return text
	}
	return "func(" + strings.Join(params, ", ") + ") " + l.typeStr(sig) + " { return " + text + " }(" + strings.Join(args, ", ") + ")"
}

func hasDefer(n ast.Node) (yes bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			yes = true
		}
		return !yes
	})
	return yes
}
