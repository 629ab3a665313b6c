package interp

import (
	"context"
	"fmt"
	"os"

	"github.com/traefik/yaegi/interp"

	"gradbook/kernel/symbols"
	"gradbook/viz/display"
)

type writer struct {
	in   *Interp
	sink func(int, []byte)
}

func (w writer) Write(p []byte) (int, error) {
	if w.sink != nil {
		w.sink(w.in.cell, p)
	}
	return len(p), nil
}

// Interp is a session of cells.
type Interp struct {
	yaegi *interp.Interpreter
	cell  int
}

// New starts a session.
func New(o Options) (*Interp, error) {
	in := &Interp{}
	in.yaegi = interp.New(interp.Options{Stdin: o.Stdin, Stdout: writer{in, o.Stdout}, Stderr: writer{in, o.Stderr}, Env: os.Environ()})
	if err := in.yaegi.Use(symbols.Exports()); err != nil {
		return nil, err
	}
	for _, p := range o.Prelude {
		if _, err := in.yaegi.Eval(fmt.Sprintf("import %q", p)); err != nil {
			continue
		}
	}
	return in, nil
}

// Run runs cell n. Cancelling ctx interrupts it.
func (in *Interp) Run(ctx context.Context, n int, src string) Outcome {
	in.cell = n
	v, err := in.yaegi.EvalWithContext(ctx, src)
	if err != nil {
		name := "CompileError"
		if _, ok := err.(interp.Panic); ok {
			name = "Panic"
		}
		if ctx.Err() != nil {
			name = "Interrupted"
		}
		return Outcome{Err: &Error{Name: name, Message: err.Error(), Traceback: []string{err.Error()}}}
	}
	if !v.IsValid() || !v.CanInterface() {
		return Outcome{}
	}
	b := display.Text(fmt.Sprint(v.Interface()))
	return Outcome{Bundle: &b}
}
