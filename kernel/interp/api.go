package interp

import (
	"io"
	"reflect"

	"gradbook/viz/display"
)

// Options says where a session's output goes and what it starts with.
type Options struct {
	// Stdout and Stderr take what the code of a cell writes, in order, with the number of the cell that started the
	// writing goroutine. They may be called from several goroutines, one at a time.
	Stdout, Stderr func(cell int, p []byte)
	// Stdin is what fmt.Scan, bufio over os.Stdin and the like read; nil is empty.
	Stdin io.Reader
	// Prelude lists import paths whose names are there from the start, as if every cell imported them.
	// A path that is not built in is left out.
	Prelude []string

	packages func(*library) // more packages, for tests
	trace    func(code string)
}

// Outcome is what came of a cell.
type Outcome struct {
	Bundle   *display.Bundle // the result, nil if the cell has none
	Err      *Error          // nil if the cell ended well
	Warnings []string        // what the compiler would reject but a notebook allows, and what may surprise
}

// Error is why a cell did not end well.
type Error struct {
	// Name is the kind: "CompileError", "Panic", "Interrupted", "Exit" or "InternalError".
	Name string
	// Message is the reason in one or a few lines.
	Message string
	// Traceback is what a front end prints: the message, then the cell's lines that led to it, innermost first.
	Traceback []string
	// Value is what was passed to panic, for a Panic.
	Value any
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Global is a named variable of the session.
type Global struct {
	Name  string
	Type  string        // as the cell spells it
	Value reflect.Value // addressable: the variable itself
	Cell  int           // the cell that declared it
}
