package kernel

import (
	"context"
	"io"
	"reflect"

	"gradbook/viz/display"
)

// An Evaluator runs the cells of one session, one at a time.
type Evaluator interface {
	// Run runs src as cell n; cancelling ctx interrupts it. Run returns soon
	// after an interrupt, and later cells find the values of the last good
	// state.
	Run(ctx context.Context, n int, src string) Outcome
	// IsComplete returns the status "complete", "incomplete", "invalid" or
	// "unknown", and for incomplete code the indent of the next line.
	IsComplete(src string) (status, indent string)
	// Complete and Inspect look at src at a cursor in bytes.
	Complete(src string, cursor int) Completion
	Inspect(src string, cursor int, detail int) (display.Bundle, bool)
	// Globals returns the live named globals.
	Globals() []Global
	// Background reports whether goroutines of cells are running although no
	// cell is: what Globals leads to may change under the eyes of a reader.
	Background() bool
	// Cell returns the cell that the calling goroutine belongs to, 0 for none.
	Cell() int
	// Reset forgets every name.
	Reset() error
	// Get makes a module importable.
	Get(ctx context.Context, module string) error
	// Close stops the goroutines of all cells.
	Close()
}

// Streams is what a kernel gives to the evaluator it runs: where the output
// of cell n goes, at any time, and where cells read from.
type Streams struct {
	Stdout, Stderr func(cell int, p []byte)
	Stdin          io.Reader
}

// An Outcome is what came of a cell.
type Outcome struct {
	Bundle   *display.Bundle // value of the final expression; nil for none
	Err      *Error          // nil when the cell succeeded
	Warnings []string
}

// An Error is why a cell failed. Name is a kind such as "CompileError",
// "Panic", "Interrupted" or "Exit".
type Error struct {
	Name      string
	Message   string
	Traceback []string
}

// A Completion holds what may stand for src[Start:End].
type Completion struct {
	Start, End int // bytes
	Matches    []Match
}

// A Match is one completion: its text, and its kind ("function", "variable",
// "field", "package", ...) and signature for front ends that show them.
type Match struct {
	Text, Kind, Signature string
}

// A Global is a named value that outlives cells.
type Global struct {
	Name  string
	Type  string
	Value reflect.Value
	Cell  int // that defined it last
}
