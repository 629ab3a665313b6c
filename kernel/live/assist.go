package live

import (
	"fmt"
	"go/types"
	"strings"

	"gradbook/gpu"
	"gradbook/kernel"
	"gradbook/kernel/assist"
	"gradbook/kernel/symbols"
	"gradbook/session"
	"gradbook/viz/display"
)

func (e evaluator) scope() assist.Scope {
	return assist.Scope{Scope: e.in.Scope(), Paths: symbols.Paths(), Doc: symbols.Doc, Value: e.value}
}

func (e evaluator) Complete(src string, cursor int) kernel.Completion {
	c := assist.Complete(e.scope(), src, cursor)
	matches := make([]kernel.Match, len(c.Items))
	for i, it := range c.Items {
		matches[i] = kernel.Match{Text: it.Text, Kind: it.Kind, Signature: it.Detail}
	}
	return kernel.Completion{Start: c.Start, End: c.End, Matches: matches}
}

func (e evaluator) Inspect(src string, cursor, detail int) (display.Bundle, bool) {
	ins, ok := assist.Inspect(e.scope(), src, cursor)
	if !ok {
		return display.Bundle{}, false
	}
	return ins.Bundle(detail > 0), true
}

// valueRunes bounds the text of a value in an inspection.
const valueRunes = 400

// value describes a variable: its text, and where what it leads to is kept. The text of a value whose methods are a
// cell's is left out, since an inspection must not run cells.
func (e evaluator) value(name string) string {
	if e.in.Background() {
		return "goroutines of cells are running: values cannot be looked at"
	}
	var lines []string
	for _, g := range e.in.Globals() {
		if g.Name != name || !g.Value.CanInterface() {
			continue
		}
		x := g.Value.Interface()
		if o := e.in.Scope().Names()[name]; o != nil && !ofCells(o.Type(), map[types.Type]bool{}) {
			text := []rune(fmt.Sprint(x))
			if len(text) > valueRunes {
				text = append(text[:valueRunes], '…')
			}
			lines = append(lines, string(text))
		}
		lines = append(lines, storages(name)...)
	}
	return strings.Join(lines, "\n")
}

// storageLines bounds how many storages an inspection lists.
const storageLines = 8

// storages lists what the session found, at the end of the last cell, behind a variable.
func storages(name string) (lines []string) {
	n, total := 0, int64(0)
	for _, d := range session.Current().Snapshot().Devices {
		for _, r := range d.Rows {
			rest, ok := strings.CutPrefix(r.Owner.Name, name)
			if !ok || rest != "" && rest[0] != '.' && rest[0] != '[' {
				continue
			}
			n++
			total += r.Bytes
			if n > storageLines {
				continue
			}
			lines = append(lines, fmt.Sprintf("%s: %v on %s (%s), %s", r.Owner.Name, gpu.Bytes(r.Bytes), d.Info.Backend, r.Residency, r.Owner.Origin()))
		}
	}
	if n > storageLines {
		lines = append(lines, fmt.Sprintf("… and %d more, %v together", n-storageLines, gpu.Bytes(total)))
	}
	return lines
}

// ofCells reports whether a value of type t may hold values of types that cells declare.
func ofCells(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return t.Obj().Pkg() != nil && t.Obj().Pkg().Path() == "main"
	case *types.Pointer:
		return ofCells(t.Elem(), seen)
	case *types.Slice:
		return ofCells(t.Elem(), seen)
	case *types.Array:
		return ofCells(t.Elem(), seen)
	case *types.Map:
		return ofCells(t.Key(), seen) || ofCells(t.Elem(), seen)
	case *types.Struct:
		for i := range t.NumFields() {
			if ofCells(t.Field(i).Type(), seen) {
				return true
			}
		}
	case *types.Interface:
		return true
	}
	return false
}
