package cell

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// Status says whether a cell can be run as it stands.
type Status int

// The states of a cell's text.
const (
	Complete Status = iota
	Incomplete
	Invalid
)

func (s Status) String() string { return [...]string{"complete", "incomplete", "invalid"}[s] }

// Completeness says whether src is complete, could become so by more text, or is wrong whatever follows. indent is what a
// front end should put at the start of the next line of an incomplete cell.
func Completeness(src string) (status Status, indent string) {
	toks, errs := scan(src)
	depth, extra := brackets(toks)
	if extra != nil {
		return Invalid, ""
	}
	indent = strings.Repeat("\t", depth)
	for _, e := range errs {
		if strings.Contains(e.Msg, "raw string literal not terminated") || strings.Contains(e.Msg, "comment not terminated") {
			return Incomplete, ""
		}
		return Invalid, ""
	}
	err := parseBoth(src, Split(src))
	if err == nil {
		return Complete, ""
	}
	if depth > 0 {
		if atEnd(err, src) {
			return Incomplete, indent
		}
		return Invalid, ""
	}
	// A trailing operator, or a header that still lacks its body.
	if len(toks) > 0 && (toks[len(toks)-1].tok != token.SEMICOLON || atEnd(err, src)) {
		return Incomplete, indent
	}
	return Invalid, ""
}

// atEnd says whether the first error is that the text ends too early.
func atEnd(err error, src string) bool {
	list, ok := err.(scanner.ErrorList)
	if !ok || len(list) == 0 {
		return false
	}
	if strings.Contains(list[0].Msg, "'EOF'") || strings.HasSuffix(list[0].Msg, "found EOF") {
		return true
	}
	// The brace that closes the wrapper of the statements stands on the line after the text.
	return list[0].Pos.Line >= strings.Count(src, "\n")+2
}

// parseBoth parses the declarations and the statements of a cell, each in a wrapper that keeps line numbers.
func parseBoth(src string, items []Item) error {
	fset := token.NewFileSet()
	_, err := parser.ParseFile(fset, "", "package main;"+blank(src, items, true)+"\n", parser.SkipObjectResolution|parser.AllErrors)
	if list, ok := withoutImportOrder(err).(scanner.ErrorList); ok && len(list) > 0 {
		return list
	}
	_, err = parser.ParseFile(fset, "", "package main;func _(){"+blank(src, items, false)+"\n}\n", parser.SkipObjectResolution)
	return err
}
