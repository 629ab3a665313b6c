package assist

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"strings"

	"gradbook/kernel/cell"
)

// marker stands at the cursor in the checked text. It is an identifier that nobody writes.
const marker = "ʘcursorʘ"

// The marker's runes must be letters to Go's scanner.
func init() {
	if !token.IsIdentifier(marker) {
		panic("assist: the marker is not an identifier")
	}
}

// checked is a cell's syntax and types, as far as they could be made out, and the way to the marker.
type checked struct {
	cell.Partial
	path []ast.Node // from the marker's identifier outwards
}

// check types src with the bytes from start to end replaced by space and the marker, and with what does not parse mended
// or left out. If that loses the marker, the text after it is cut off, and then the lines before it. Nil if it is lost
// all the same.
func check(sc Scope, src string, start, end int, space string) *checked {
	line := strings.LastIndexByte(src[:start], '\n') + 1
	for _, marked := range []string{
		src[:start] + space + marker + src[end:],
		src[:start] + space + marker,
		src[line:start] + space + marker,
	} {
		c := &checked{Partial: sc.CheckPartial(mendAll(marked))}
		if c.File != nil && c.Pkg != nil {
			if c.path = find(c.File); c.path != nil {
				return c
			}
		}
	}
	return nil
}

// mendAll mends each item of a cell.
func mendAll(src string) string {
	var b strings.Builder
	for _, it := range cell.Split(src) {
		before, after := "package p\n", ""
		if !it.IsDecl() {
			before, after = "package p\nfunc _() {\n", "\n}"
		}
		if piece, ok := mend(before, src[it.Start:it.End], after); ok {
			b.WriteString(piece + "\n")
		}
	}
	return b.String()
}

// scopes lists the scopes that the marker is in, innermost first; the package's is the last.
func (c *checked) scopes() []*types.Scope {
	var all []*types.Scope
	for _, n := range c.path {
		switch f := n.(type) {
		case *ast.FuncDecl:
			n = f.Type
		case *ast.FuncLit:
			n = f.Type
		case *ast.File:
			continue
		}
		if s := c.Info.Scopes[n]; s != nil {
			all = append(all, s)
		}
	}
	return append(all, c.Pkg.Scope())
}

// mend returns piece in a form that parses between before and after. A piece that does not parse is left out, unless the
// marker is in it: then what follows the marker is cut off and open brackets are closed.
func mend(before, piece, after string) (string, bool) {
	parses := func(s string) bool {
		_, err := parser.ParseFile(token.NewFileSet(), "", before+s+after, parser.SkipObjectResolution)
		return err == nil
	}
	if parses(piece) {
		return piece, true
	}
	i := strings.Index(piece, marker)
	if i < 0 {
		return "", false
	}
	head := piece[:i+len(marker)]
	closers := closing(head)
	for _, middle := range []string{"", " {}", "{ _ = 0 }", ": 0", "()", " := 0", " int"} {
		for n := range len(closers) + 1 {
			// The middle part may belong inside some of the brackets: for i := range x.| in a function body.
			if s := head + closers[:n] + middle + closers[n:]; parses(s) {
				return s, true
			}
		}
	}
	return "", false
}

// closing returns the brackets that src leaves open, closed, innermost first. A newline stands before each brace, to end
// the statement before it.
func closing(src string) string {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", -1, len(src)), []byte(src), func(token.Position, string) {}, 0)
	var open []byte
	for {
		_, tok, _ := s.Scan()
		switch tok {
		case token.EOF:
			for i, j := 0, len(open)-1; i < j; i, j = i+1, j-1 {
				open[i], open[j] = open[j], open[i]
			}
			return string(open)
		case token.LPAREN:
			open = append(open, ')')
		case token.LBRACK:
			open = append(open, ']')
		case token.LBRACE:
			open = append(open, '}')
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
}

// find returns the way to the marker.
func find(f *ast.File) []ast.Node {
	var stack, path []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if path != nil {
			return false
		}
		stack = append(stack, n)
		if id, ok := n.(*ast.Ident); ok && strings.Contains(id.Name, marker) {
			for i := len(stack) - 1; i >= 0; i-- {
				path = append(path, stack[i])
			}
		}
		return true
	})
	return path
}
