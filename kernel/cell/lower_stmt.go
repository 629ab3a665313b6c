package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// block writes statements, each after the number of its place where it can fail.
func (l *lowerer) block(b *strings.Builder, list []ast.Stmt) {
	for _, s := range list {
		l.placed(b, s)
	}
}

// placed writes one statement with what must come before it.
func (l *lowerer) placed(b *strings.Builder, s ast.Stmt) {
	b.WriteString("\n")
	if l.tracked && (isLoop(s) || l.risky(head(s))) {
		fmt.Fprintf(b, "k_l = %d\n", l.site(s))
	}
	var checks []string
	save := l.hoist
	l.hoist = nil
	if mayHoist(s) && !l.calls(head(s)) {
		l.hoist = &checks
	}
	var text strings.Builder
	l.stmt(&text, s, "")
	l.hoist = save
	for _, c := range checks {
		b.WriteString(c + "\n")
	}
	b.WriteString(text.String())
}

func isLoop(s ast.Stmt) bool {
	if l, ok := s.(*ast.LabeledStmt); ok {
		s = l.Stmt
	}
	switch s.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

// site numbers the place of a node.
func (l *lowerer) site(n ast.Node) int {
	p := l.s.fset.Position(n.Pos())
	cell := LibraryCell
	if f := l.s.fset.File(n.Pos()); f != nil {
		if c, ok := l.im.files[f.Base()]; ok {
			cell = c
		}
	}
	return l.im.site(Site{cell, p.Line, p.Column, l.title})
}

// head is the part of a statement that runs before its blocks.
func head(s ast.Stmt) ast.Node {
	switch s := s.(type) {
	case *ast.IfStmt:
		return headOf(s.Init, s.Cond)
	case *ast.ForStmt:
		return headOf(s.Init, s.Cond, s.Post)
	case *ast.RangeStmt:
		return headOf(s.X)
	case *ast.SwitchStmt:
		nodes := []ast.Node{s.Init, s.Tag}
		for _, c := range s.Body.List {
			for _, x := range c.(*ast.CaseClause).List {
				nodes = append(nodes, x)
			}
		}
		return headOf(nodes...)
	case *ast.TypeSwitchStmt:
		return headOf(s.Init, s.Assign)
	case *ast.BlockStmt:
		return headOf()
	case *ast.LabeledStmt:
		return head(s.Stmt)
	}
	return s
}

func headOf(nodes ...ast.Node) ast.Node {
	list := &ast.CallExpr{Fun: &ast.Ident{Name: "_"}}
	b := &ast.BlockStmt{}
	for _, n := range nodes {
		switch n := n.(type) {
		case ast.Expr:
			if n != nil {
				list.Args = append(list.Args, n)
			}
		case ast.Stmt:
			if n != nil {
				b.List = append(b.List, n)
			}
		}
	}
	if len(list.Args) > 0 {
		b.List = append(b.List, &ast.ReturnStmt{Results: list.Args})
	}
	return b
}

// mayHoist says whether checks of a statement's operands may come before it.
func mayHoist(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt, *ast.ReturnStmt, *ast.DeclStmt:
		return true
	case *ast.IfStmt:
		return s.Init == nil
	}
	return false
}

func (l *lowerer) stmt(b *strings.Builder, s ast.Stmt, label string) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		b.WriteString(l.exprStmt(s.X))
	case *ast.AssignStmt:
		l.assign(b, s)
	case *ast.IncDecStmt:
		b.WriteString(l.target(s.X) + s.Tok.String())
	case *ast.SendStmt:
		b.WriteString(l.send(s))
	case *ast.BranchStmt:
		l.branch(b, s)
	case *ast.EmptyStmt:
	case *ast.BlockStmt:
		b.WriteString("{")
		l.block(b, s.List)
		b.WriteString("\n}")
	case *ast.LabeledStmt:
		switch s.Stmt.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if gotoTargets(l.body, s.Label.Name) {
				b.WriteString(s.Label.Name + "_g:\n")
			}
			l.stmt(b, s.Stmt, s.Label.Name)
		default:
			b.WriteString(s.Label.Name + "_g:\n{}\n")
			l.stmt(b, s.Stmt, "")
		}
	case *ast.ReturnStmt:
		l.ret(b, s)
	case *ast.GoStmt:
		b.WriteString("krt.Go(" + l.thunk(s.Call) + fmt.Sprintf(", %d)", l.site(s)))
	case *ast.DeferStmt:
		b.WriteString("k_d.Add(" + l.thunk(s.Call) + ")")
	case *ast.DeclStmt:
		l.declStmt(b, s.Decl.(*ast.GenDecl))
	case *ast.IfStmt:
		l.ifStmt(b, s)
	case *ast.SwitchStmt:
		l.switchStmt(b, s, label)
	case *ast.TypeSwitchStmt:
		l.typeSwitch(b, s, label)
	case *ast.SelectStmt:
		l.selectStmt(b, s, label)
	case *ast.ForStmt:
		l.forStmt(b, s, label)
	case *ast.RangeStmt:
		l.rangeStmt(b, s, label)
	default:
		l.fail(s, "this statement (%T) is not supported in cells", s)
	}
}

// gotoTargets says whether a goto leads to a label.
func gotoTargets(body ast.Node, label string) (yes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if g, ok := n.(*ast.BranchStmt); ok && g.Tok == token.GOTO && g.Label.Name == label {
			yes = true
		}
		return !yes
	})
	return yes
}

// exprStmt writes an expression for its effect.
func (l *lowerer) exprStmt(x ast.Expr) string {
	tv := l.info.Types[x]
	if tv.Value != nil || tv.IsNil() || tv.IsType() {
		return ""
	}
	if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		return l.expr(x)
	}
	if c, ok := ast.Unparen(x).(*ast.CallExpr); ok {
		f := l.info.Types[c.Fun]
		if !f.IsType() && (!f.IsBuiltin() || tv.IsVoid() || builtinName(c.Fun) == "copy" || builtinName(c.Fun) == "recover") {
			return l.call(c)
		}
	}
	return l.tmp("x") + " := " + l.expr(x)
}

func (l *lowerer) ifStmt(b *strings.Builder, s *ast.IfStmt) {
	if s.Init != nil {
		b.WriteString("{ ")
		l.stmt(b, s.Init, "")
		b.WriteString("\n")
	}
	b.WriteString("if " + l.expr(s.Cond) + " {")
	l.block(b, s.Body.List)
	b.WriteString("\n}")
	if s.Else != nil {
		save := l.hoist
		l.hoist = nil
		b.WriteString(" else {")
		if blk, ok := s.Else.(*ast.BlockStmt); ok {
			l.block(b, blk.List)
		} else {
			l.placed(b, s.Else)
		}
		b.WriteString("\n}")
		l.hoist = save
	}
	if s.Init != nil {
		b.WriteString("\n}")
	}
}

func (l *lowerer) switchStmt(b *strings.Builder, s *ast.SwitchStmt, label string) {
	b.WriteString("{ ")
	if s.Init != nil {
		l.stmt(b, s.Init, "")
		b.WriteString("\n")
	}
	tag := ""
	if s.Tag != nil {
		tag = l.tmp("tag")
		t := l.typeOf(s.Tag)
		if isUntyped(t) {
			t = types.Default(t)
		}
		fmt.Fprintf(b, "var %s %s = %s\n", tag, l.typeStr(t), l.value(s.Tag, t))
	}
	l.cases(b, s.Body, label, func(cc *ast.CaseClause) string {
		var tests []string
		for _, x := range cc.List {
			tests = append(tests, l.caseTest(tag, s.Tag, x))
		}
		return strings.Join(tests, " || ")
	}, func(*ast.CaseClause) {})
}

// cases writes the clauses of a switch and the end of the block around it. A clause is taken when its test holds, and begins
// with what bind writes.
func (l *lowerer) cases(b *strings.Builder, body *ast.BlockStmt, label string, test func(*ast.CaseClause) string, bind func(*ast.CaseClause)) {
	if label != "" {
		b.WriteString(label + ":\n")
	}
	b.WriteString("switch {")
	l.push(&loop{kind: switchLoop, label: label})
	for _, c := range body.List {
		cc := c.(*ast.CaseClause)
		if cc.List == nil {
			b.WriteString("\ndefault:\n")
		} else {
			b.WriteString("\ncase " + test(cc) + ":\n")
		}
		bind(cc)
		l.block(b, cc.Body)
	}
	l.pop()
	b.WriteString("\n} }")
}

// caseTest writes the test of one case of a switch with or without a tag.
func (l *lowerer) caseTest(tag string, tagExpr, x ast.Expr) string {
	if tagExpr == nil {
		return l.expr(x)
	}
	if l.info.Types[x].IsNil() {
		return "(" + tag + " == nil)"
	}
	tt, xt := l.typeOf(tagExpr), l.typeOf(x)
	if isUntyped(tt) {
		tt = types.Default(tt)
	}
	if types.IsInterface(tt) || types.IsInterface(xt) {
		empty := types.NewInterfaceType(nil, nil)
		return "krt.Equal(" + l.convert(tag, tt, empty) + ", " + l.value(x, empty) + ")"
	}
	return "(" + tag + " == " + l.value(x, tt) + ")"
}

func (l *lowerer) declStmt(b *strings.Builder, g *ast.GenDecl) {
	if g.Tok != token.VAR {
		return // constants are folded, types are written at package level when they are used
	}
	for _, sp := range g.Specs {
		sp := sp.(*ast.ValueSpec)
		if len(sp.Values) > 0 {
			var lhs []ast.Expr
			for _, id := range sp.Names {
				lhs = append(lhs, id)
			}
			l.defineVars(b, lhs, sp.Values)
			continue
		}
		for _, id := range sp.Names {
			if o := l.info.Defs[id]; id.Name != "_" && o != nil {
				l.declareLocal(b, o, id.Name, "")
			}
		}
	}
}

// declareLocal declares a variable, with its zero value if val is "".
func (l *lowerer) declareLocal(b *strings.Builder, o types.Object, name, val string) {
	t := l.typeStr(l.sub(o.Type()))
	name = l.define(o, name)
	switch {
	case l.caps.boxed(o) && val == "":
		fmt.Fprintf(b, "%s := new(%s)\n", name, t)
	case l.caps.boxed(o):
		v := l.tmp("v") // the value may mention a variable that this one shadows
		fmt.Fprintf(b, "var %s %s = %s\n%s := new(%s); *%s = %s\n", v, t, val, name, t, name, v)
	case val == "":
		fmt.Fprintf(b, "var %s %s\n", name, t)
	default:
		fmt.Fprintf(b, "var %s %s = %s\n", name, t, val)
	}
}
