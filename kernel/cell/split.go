package cell

import (
	"go/parser"
	"go/scanner"
	"go/token"
)

// Kind says what an Item is.
type Kind int

// The kinds of items. Those up to Method are declarations.
const (
	Import Kind = iota
	Const
	Type
	Var
	Func
	Method
	Stmt
	Expr
	Package // a package clause, which a cell may carry and nobody needs
)

// Item is one piece of a cell at top level: src[Start:End].
type Item struct {
	Kind       Kind
	Start, End int
}

// IsDecl says whether the item is a declaration.
func (it Item) IsDecl() bool { return it.Kind <= Method }

type lexeme struct {
	off int
	tok token.Token
	lit string
}

func scan(src string) (toks []lexeme, errs scanner.ErrorList) {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(p token.Position, msg string) { errs.Add(p, msg) }, 0)
	for {
		p, t, lit := s.Scan()
		if t == token.EOF {
			return toks, errs
		}
		toks = append(toks, lexeme{file.Offset(p), t, lit})
	}
}

// brackets returns how many brackets are open at the end, or the first closing one that nothing opened.
func brackets(toks []lexeme) (open int, extra *lexeme) {
	for i, t := range toks {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if open--; open < 0 {
				return 0, &toks[i]
			}
		}
	}
	return open, nil
}

// Split cuts a cell into its items. It never fails: what has no place is a statement, and the parser will say what is
// wrong with it.
func Split(src string) []Item {
	toks, _ := scan(src)
	var items []Item
	depth, first := 0, -1
	flush := func(end, last int) {
		if first < 0 {
			return
		}
		it := Item{Kind: classify(toks[first:last]), Start: toks[first].off, End: end}
		if it.Kind == Stmt {
			if _, err := parser.ParseExpr(src[it.Start:it.End]); err == nil {
				it.Kind = Expr
			}
		}
		items = append(items, it)
		first = -1
	}
	for i, t := range toks {
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth--
		case token.SEMICOLON:
			if depth <= 0 {
				flush(t.off, i)
				depth = 0
				continue
			}
		}
		if first < 0 {
			first = i
		}
	}
	flush(len(src), len(toks))
	return items
}

func classify(t []lexeme) Kind {
	switch t[0].tok {
	case token.PACKAGE:
		return Package
	case token.IMPORT:
		return Import
	case token.CONST:
		return Const
	case token.TYPE:
		return Type
	case token.VAR:
		return Var
	case token.FUNC:
		if len(t) > 1 && t[1].tok == token.IDENT {
			return Func
		}
		if isMethod(t) {
			return Method
		}
	}
	return Stmt
}

// isMethod tells "func (r T) Name(" from a function literal.
func isMethod(t []lexeme) bool {
	depth := 0
	for i := 1; i < len(t); i++ {
		switch t[i].tok {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			depth--
			if depth == 0 {
				return i+2 < len(t) && t[i+1].tok == token.IDENT && t[i+2].tok == token.LPAREN
			}
		}
	}
	return false
}

// blank returns src with all but its declarations, or all but its statements, made spaces, so that every token keeps
// its line and column.
func blank(src string, items []Item, decls bool) string {
	b := []byte(src)
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	for _, it := range items {
		if it.Kind == Package || it.IsDecl() != decls {
			continue
		}
		copy(b[it.Start:it.End], src[it.Start:it.End])
		if it.End < len(b) && src[it.End] == ';' {
			b[it.End] = ';'
		}
	}
	return string(b)
}
