package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// entryFunc is the function that runs a cell.
type entryFunc struct{ name, temps, body string }

// entry writes the cell's steps.
func (l *lowerer) entry() entryFunc {
	e := entryFunc{name: fmt.Sprintf("k_cell_%d", l.c.n)}
	l.im.version[e.name]++
	if v := l.im.version[e.name]; v > 1 {
		e.name = fmt.Sprintf("%s_%d", e.name, v)
	}
	all := l.wholeCell()
	d := decl{l.c.fn, l.c.info}
	l.within(d, "", e.name, map[*types.TypeParam]types.Type{}, all, func() {
		l.sig = types.NewSignatureType(nil, nil, nil, nil, nil, false)
		l.tracked, l.defers, l.body = true, hasDefer(l.c.fn.Body), l.c.fn.Body
		var b strings.Builder
		in := &initOrder{l: l, done: map[*ast.ValueSpec]bool{}, of: map[types.Object]*ast.ValueSpec{}}
		for _, s := range l.c.steps {
			if s.spec != nil {
				for _, id := range s.spec.Names {
					in.of[l.info.Defs[id]] = s.spec
				}
			}
		}
		for i, s := range l.c.steps {
			if i > 0 {
				b.WriteString("\n" + stopCheck)
			}
			switch {
			case s.spec != nil:
				in.write(&b, s.spec)
			case s.define != nil:
				l.step(&b, s.define, func(b *strings.Builder) { l.assignGlobals(b, s.define.Lhs, s.define.Rhs) })
			case i == len(l.c.steps)-1 && l.c.last:
				l.step(&b, s.stmt, func(b *strings.Builder) { l.result(b, s.stmt.(*ast.ExprStmt).X) })
			default:
				l.placed(&b, s.stmt)
			}
		}
		for _, m := range l.c.mains {
			fmt.Fprintf(&b, "\nk_l = %d\n%s()", l.site(m), l.im.names.at(l.info.Defs[m.Name]))
		}
		e.body = b.String()
		if l.defers {
			e.body = "k_d := &krt.Defers{Line: &k_l}\nkrt.Run(k_d, func() {\n" + e.body + "\n})"
		} else {
			e.body = "defer krt.Note(&k_l)\n" + e.body
		}
	})
	return e
}

// entryText is the entry function, with what tells the run-time support of new types first.
func (l *lowerer) entryText(e entryFunc) string {
	return "func " + e.name + "() {\nvar k_l int\n" + e.body + "\nk_l = 0\n}\nfunc " + e.name + "_defs() {\n" + strings.Join(append(l.defs, l.starts...), "\n") + "\n}\n"
}

// wholeCell is one node with all the steps, for the analysis of captured variables.
func (l *lowerer) wholeCell() ast.Node {
	b := &ast.BlockStmt{}
	for _, s := range l.c.steps {
		switch {
		case s.spec != nil:
			b.List = append(b.List, &ast.DeclStmt{Decl: &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{s.spec}}})
		case s.define != nil:
			b.List = append(b.List, s.define)
		}
	}
	b.List = append(b.List, l.c.fn.Body)
	return b
}

// step writes one step with its place and checks.
func (l *lowerer) step(b *strings.Builder, n ast.Node, write func(*strings.Builder)) {
	fmt.Fprintf(b, "\nk_l = %d\n", l.site(n))
	var checks []string
	if !l.calls(n) {
		l.hoist = &checks
	}
	var text strings.Builder
	write(&text)
	l.hoist = nil
	for _, c := range checks {
		b.WriteString(c + "\n")
	}
	b.WriteString(text.String())
}

// assignGlobals assigns values to variables of the session.
func (l *lowerer) assignGlobals(b *strings.Builder, lhs, rhs []ast.Expr) {
	if len(lhs) == len(rhs) {
		type pair struct{ name, val string }
		var list []pair
		for i, x := range lhs {
			o := l.info.Defs[x.(*ast.Ident)]
			if o == nil {
				o = l.info.Uses[x.(*ast.Ident)]
			}
			if isBlank(x) || o == nil {
				b.WriteString(l.exprStmt(rhs[i]) + "\n")
				continue
			}
			list = append(list, pair{l.im.names.at(l.globalOf(o, x)), l.value(rhs[i], o.Type())})
		}
		if len(list) == 1 {
			b.WriteString(list[0].name + " = " + list[0].val)
			return
		}
		var tmps []string
		for i, p := range list {
			t := l.tmp("v")
			fmt.Fprintf(b, "%s := %s\n", t, p.val)
			tmps = append(tmps, list[i].name+" = "+t)
		}
		b.WriteString(strings.Join(tmps, "\n"))
		return
	}
	l.assignTuple(b, lhs, rhs[0], func(x ast.Expr) (string, types.Type) {
		o := l.globalOf(l.info.Defs[x.(*ast.Ident)], x)
		return l.im.names.at(o), o.Type()
	})
	// Names that the cell had already were checked as temporaries, which the next statements assign.
}

// globalOf is the object that a top-level := gives a value: a temporary's where the name existed.
func (l *lowerer) globalOf(o types.Object, x ast.Expr) types.Object {
	if o != nil {
		return o
	}
	id := x.(*ast.Ident)
	if u := l.info.Uses[id]; u != nil {
		return u
	}
	return l.c.pkg.Scope().Lookup(id.Name)
}

// result passes the value of the cell's last expression to the run-time support, each value with its static type.
func (l *lowerer) result(b *strings.Builder, x ast.Expr) {
	if l.prints(x) {
		b.WriteString(l.exprStmt(x))
		return
	}
	tv := l.info.Types[x]
	empty := types.NewInterfaceType(nil, nil)
	switch t := l.typeOf(x).(type) {
	case *types.Tuple:
		var names []string
		var post strings.Builder
		for i := range t.Len() {
			n := l.tmp("v")
			fmt.Fprintf(b, "var %s %s\n", n, l.typeStr(t.At(i).Type()))
			fmt.Fprintf(&post, "\nkrt.Result(%d, %s)", l.typeRef(t.At(i).Type()), l.convert(n, t.At(i).Type(), empty))
			names = append(names, n)
		}
		if len(names) == 0 {
			b.WriteString(l.expr(x))
			return
		}
		b.WriteString(strings.Join(names, ", ") + " = " + l.tupleText(x) + post.String())
	default:
		if tv.IsVoid() || tv.IsNil() || tv.IsType() {
			b.WriteString(l.exprStmt(x))
			return
		}
		if isUntyped(t) {
			t = types.Default(t)
		}
		fmt.Fprintf(b, "krt.Result(%d, %s)", l.typeRef(t), l.value(x, empty))
	}
}

// prints says whether x is a call of fmt.Print or its like: whoever prints wants to see what is printed, not its length.
func (l *lowerer) prints(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := typeutil.Callee(l.info, call).(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "fmt" {
		return false
	}
	name := strings.TrimPrefix(f.Name(), "F")
	return strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "print")
}

// initOrder writes variable declarations so that one that another needs comes first, as at package level.
type initOrder struct {
	l    *lowerer
	done map[*ast.ValueSpec]bool
	of   map[types.Object]*ast.ValueSpec
}

func (in *initOrder) write(b *strings.Builder, sp *ast.ValueSpec) {
	if in.done[sp] {
		return
	}
	in.done[sp] = true
	l := in.l
	if len(sp.Values) == 0 { // running the cell again sets the variables back
		for _, id := range sp.Names {
			if id.Name != "_" {
				z := l.tmp("z")
				fmt.Fprintf(b, "\nvar %s %s\n%s = %s", z, l.typeStr(l.info.Defs[id].Type()), l.im.names.at(l.info.Defs[id]), z)
			}
		}
		return
	}
	for _, v := range sp.Values {
		ast.Inspect(v, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if other := in.of[l.info.Uses[id]]; other != nil {
					in.write(b, other)
				}
			}
			return true
		})
	}
	l.step(b, sp, func(b *strings.Builder) {
		var lhs []ast.Expr
		for _, id := range sp.Names {
			lhs = append(lhs, id)
		}
		l.assignGlobals(b, lhs, sp.Values)
	})
}
