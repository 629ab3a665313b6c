package cell

import (
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Diagnostic is one error of a cell that does not check.
type Diagnostic struct {
	Line, Col int // 1-based; Col counts bytes; 0 where there is no place
	Msg       string
}

// Errors is why a cell does not check, in the order of its lines.
type Errors struct {
	Cell int
	Src  string
	List []Diagnostic
}

// maxShown is how many errors are printed; the compiler too stops at ten.
const maxShown = 10

// Error lists the errors, each with its place, the line and a caret under the column.
func (e *Errors) Error() string {
	var b strings.Builder
	lines := strings.Split(e.Src, "\n")
	for i, d := range e.List {
		if i == maxShown {
			fmt.Fprintf(&b, "too many errors (%d more)\n", len(e.List)-i)
			break
		}
		if d.Line < 1 || d.Line > len(lines) {
			fmt.Fprintf(&b, "cell [%d]: %s\n", e.Cell, d.Msg)
			continue
		}
		line := strings.TrimRight(lines[d.Line-1], "\r")
		fmt.Fprintf(&b, "cell [%d], line %d: %s\n    %s\n    %s^\n", e.Cell, d.Line, d.Msg, line, caretPad(line, d.Col))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// caretPad is the white space that puts a caret under column col of line; tabs stay tabs, so the two lines align.
func caretPad(line string, col int) string {
	var b strings.Builder
	for i := 0; i < col-1 && i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
		i += n
	}
	return b.String()
}

func (e *Errors) add(p token.Position, msg string) {
	e.List = append(e.List, Diagnostic{p.Line, p.Column, msg})
}

// addAll takes the errors of the scanner and the parser.
func (e *Errors) addAll(err error) {
	list, ok := err.(scanner.ErrorList)
	if !ok {
		e.List = append(e.List, Diagnostic{Msg: err.Error()})
		return
	}
	for _, p := range list {
		e.add(p.Pos, "syntax error: "+p.Msg)
	}
}

// endAtCell rewrites what the parser said of the end of the cell, where the wrapper's own brace stands: a bracket too many
// is named where it is, and all else means that the cell ends too early, after its last word.
func (e *Errors) endAtCell() {
	text := strings.TrimRightFunc(e.Src, unicode.IsSpace)
	lines := strings.Count(e.Src, "\n") + 1
	last := Diagnostic{
		Line: strings.Count(text, "\n") + 1,
		Col:  len(text) - strings.LastIndexByte(text, '\n'),
		Msg:  "syntax error: unexpected end of cell",
	}
	early, late := false, false
	e.List = slices.DeleteFunc(e.List, func(d Diagnostic) bool {
		if d.Line <= lines && !strings.Contains(d.Msg, "found 'EOF'") {
			return false
		}
		if strings.Contains(d.Msg, "expected declaration") {
			late = true
		} else {
			early = true
		}
		return true
	})
	switch d, ok := unmatched(e.Src); {
	case late && ok:
		e.List = append(e.List, d)
	case early || late:
		// A comma missed at the very end is the same complaint.
		e.List = slices.DeleteFunc(e.List, func(d Diagnostic) bool { return d.Line == last.Line && strings.Contains(d.Msg, "missing ','") })
		e.List = append(e.List, last)
	}
}

// unmatched finds the first closing bracket that nothing opened.
func unmatched(src string) (Diagnostic, bool) {
	toks, _ := scan(src)
	_, t := brackets(toks)
	if t == nil {
		return Diagnostic{}, false
	}
	before := src[:t.off]
	return Diagnostic{strings.Count(before, "\n") + 1, t.off - strings.LastIndexByte(before, '\n'), "syntax error: unexpected " + t.tok.String()}, true
}

// orNil sorts the errors and drops those that a line repeats; it is nil where there are none.
func (e *Errors) orNil() error {
	if len(e.List) == 0 {
		return nil
	}
	sort.SliceStable(e.List, func(i, j int) bool {
		a, b := e.List[i], e.List[j]
		return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
	})
	kept := e.List[:1]
	for _, d := range e.List[1:] {
		if d != kept[len(kept)-1] {
			kept = append(kept, d)
		}
	}
	e.List = kept
	return e
}

var ownPackage = regexp.MustCompile(`\bmain\.([\p{L}_])`)

// words turns a message of go/types into what the compiler would say of the user's own source.
func words(msg string) string {
	msg = strings.ReplaceAll(msg, oldSuffix, "")
	msg = strings.ReplaceAll(msg, "main·", "main")
	msg = strings.ReplaceAll(msg, "init·", "init")
	return ownPackage.ReplaceAllString(msg, "$1")
}

// tolerated says whether a notebook lets pass what the compiler rejects, and what to warn of, if anything.
func (c *checker) tolerated(err types.Error) (ok bool, warning string) {
	switch msg := err.Msg; {
	case strings.HasPrefix(msg, "declared and not used"):
		return true, ""
	case strings.Contains(msg, " imported ") && strings.HasSuffix(msg, "and not used"):
		return true, ""
	case strings.HasPrefix(msg, "label ") && strings.HasSuffix(msg, "declared and not used"):
		return true, ""
	case strings.HasSuffix(msg, "is not used") && c.atTop(err.Pos):
		return true, "" // an expression at top level is a result
	case strings.HasPrefix(msg, "initialization cycle") || strings.HasPrefix(msg, "\t"):
		return true, "" // a cell's variables are assigned in the order of its statements
	case strings.Contains(msg, "implicit assignment to unexported field") && strings.Contains(msg, "main."):
		return true, "" // a type of an earlier cell is of the same package
	}
	return false, ""
}
