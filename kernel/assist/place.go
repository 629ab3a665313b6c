package assist

import (
	"go/scanner"
	"go/token"
	"strings"
	"unicode"
	"unicode/utf8"
)

// place says what kind of text the cursor is in.
type place int

const (
	inCode place = iota
	inComment
	inString
	inImport
)

// position is the cursor's place in a cell. start and end bound the identifier, or the part of a string, that the
// cursor is in.
type position struct {
	place      place
	start, end int
	prefix     string // src[start:cursor]
	selector   bool   // a dot stands before start
}

// locate finds the cursor's place by scanning tokens, which works on code that does not parse.
func locate(src string, cursor int) position {
	cursor = min(max(cursor, 0), len(src))
	if p, ok := inLiteral(src, cursor); ok {
		return p
	}
	p := position{start: cursor, end: cursor}
	for p.start > 0 {
		r, n := utf8.DecodeLastRuneInString(src[:p.start])
		if !isIdent(r) {
			break
		}
		p.start -= n
	}
	for p.end < len(src) {
		r, n := utf8.DecodeRuneInString(src[p.end:])
		if !isIdent(r) {
			break
		}
		p.end += n
	}
	p.prefix = src[p.start:cursor]
	p.selector = strings.HasSuffix(strings.TrimRightFunc(src[:p.start], unicode.IsSpace), ".")
	return p
}

func isIdent(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// inLiteral finds the comment or string that the cursor is in.
func inLiteral(src string, cursor int) (position, bool) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	imports, depth := false, 0
	for {
		pos, tok, lit := s.Scan()
		at := file.Offset(pos)
		if tok == token.EOF || at >= cursor {
			return position{}, false
		}
		switch tok {
		case token.COMMENT:
			open := strings.HasPrefix(lit, "//") || !strings.HasSuffix(lit, "*/")
			if cursor < at+len(lit) || open && cursor == at+len(lit) {
				return position{place: inComment, start: cursor, end: cursor}, true
			}
			continue
		case token.STRING, token.CHAR:
			closed := len(lit) > 1 && lit[len(lit)-1] == lit[0]
			if cursor < at+len(lit) || !closed && cursor == at+len(lit) {
				p := position{place: inString, start: at + 1, end: at + len(lit)}
				if closed {
					p.end--
				}
				if imports {
					p.place = inImport
				}
				p.prefix = src[p.start:cursor]
				return p, true
			}
		case token.IMPORT:
			imports, depth = true, 0
		case token.LPAREN:
			depth++
		case token.RPAREN:
			depth--
			imports = imports && depth > 0
		case token.SEMICOLON:
			imports = imports && depth > 0
		}
	}
}
