package magic

import (
	"go/scanner"
	"go/token"
	"strings"
)

// A Kind is what a part of a cell is.
type Kind int

const (
	Go    Kind = iota // Go code
	Line              // %name arguments
	Shell             // !command
	Whole             // %%name arguments, and the rest of the cell
)

// A Part is a run of Go lines, or one line that is not Go.
type Part struct {
	Kind Kind
	Name string // of a Line or Whole, without its %
	Arg  string // of a Line or Whole: what follows the name; of a Shell: the command
	// Text is the Go code, or the body of a Whole. Lines that belong to
	// other parts are empty in it, so that a position in it is one in the cell.
	Text string
	Row  int // line of the cell that the part begins on, from 1
}

// Split takes a cell apart. A cell without % and ! lines is one Go part, and
// so is an empty one.
func Split(src string) []Part {
	if name, arg, body, ok := whole(src); ok {
		return []Part{{Kind: Whole, Name: name, Arg: arg, Text: body, Row: 1 + leading(src)}}
	}
	lines := strings.SplitAfter(src, "\n")
	var parts []Part
	start := 0 // first line of the Go code being gathered
	flush := func(end int) {
		code := strings.Join(lines[start:end], "")
		if strings.TrimSpace(code) != "" {
			parts = append(parts, Part{Kind: Go, Text: strings.Repeat("\n", start) + code, Row: start + 1})
		}
	}
	for i, line := range lines {
		part, ok := special(line)
		if !ok || !atStatement(strings.Join(lines[start:i], "")) {
			continue
		}
		flush(i)
		part.Row = i + 1
		parts = append(parts, part)
		start = i + 1
	}
	flush(len(lines))
	if len(parts) == 0 {
		parts = []Part{{Kind: Go, Text: src, Row: 1}}
	}
	return parts
}

// leading counts the empty lines at the start of src.
func leading(src string) int {
	return strings.Count(src[:len(src)-len(strings.TrimLeft(src, " \t\r\n"))], "\n")
}

// whole recognizes a cell that begins with %%name.
func whole(src string) (name, arg, body string, ok bool) {
	trimmed := strings.TrimLeft(src, " \t\r\n")
	if !strings.HasPrefix(trimmed, "%%") {
		return "", "", "", false
	}
	first, rest, _ := strings.Cut(trimmed[2:], "\n")
	name, arg = cutName(first)
	return name, arg, strings.Repeat("\n", leading(src)+1) + rest, true
}

// special recognizes a line that begins with % or !.
func special(line string) (Part, bool) {
	line = strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(line, "!"):
		return Part{Kind: Shell, Arg: strings.TrimSpace(line[1:])}, true
	case strings.HasPrefix(line, "%"):
		name, arg := cutName(strings.TrimLeft(line, "%"))
		return Part{Kind: Line, Name: name, Arg: arg}, true
	}
	return Part{}, false
}

func cutName(s string) (name, arg string) {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// atStatement reports whether a new statement may begin after code: no
// bracket, string or comment is open, and the last token ended its line. Then
// a % cannot be an operator, and a ! could only begin an expression that has
// no effect.
func atStatement(code string) bool {
	open := false
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(code))
	s.Init(file, []byte(code), func(_ token.Position, msg string) {
		if strings.Contains(msg, "not terminated") {
			open = true
		}
	}, 0)
	depth := 0
	last := token.SEMICOLON
	for {
		_, tok, _ := s.Scan()
		switch tok {
		case token.EOF:
			return !open && depth == 0 && last == token.SEMICOLON
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth--
		}
		last = tok
	}
}
