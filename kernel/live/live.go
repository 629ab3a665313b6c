package live

import (
	"context"
	"io"
	"log"
	"os"

	"gradbook/kernel"
	"gradbook/kernel/history"
	"gradbook/kernel/interp"
	"gradbook/session"
)

// Prelude is what every cell has imported.
var Prelude = []string{
	"fmt", "math", "time",
	"gradbook/tensor", "gradbook/autograd", "gradbook/session", "gradbook/viz",
	"gradbook/autograd/nn", "gradbook/autograd/optim", "gradbook/autograd/data",
	"gradbook/viz/display",
}

// Config returns the configuration of a kernel for the session of the process;
// devices lists the devices that can be named.
func Config(version string, logger *log.Logger, devices func() []string) kernel.Config {
	return kernel.Config{
		NewEvaluator: newEvaluator,
		Session:      cells{session.Current()},
		Lines:        lines(session.Current(), devices),
		Version:      version,
		Log:          logger,
		Started: func(k *kernel.Kernel) {
			session.Current().SetPrompter(k.Input)
			session.Current().SetOutput(k.Stdout())
		},
	}
}

// History opens the user's history, at the path that GRADBOOK_HISTORY names or
// at the usual one. A history that cannot be opened is logged, and kept for
// the life of the kernel only.
func History(logger *log.Logger) *history.Log {
	path := os.Getenv("GRADBOOK_HISTORY")
	var err error
	if path == "" {
		path, err = history.DefaultPath()
	}
	if err == nil {
		var h *history.Log
		if h, err = history.Open(path); err == nil {
			return h
		}
	}
	logger.Printf("the history is not kept: %v", err)
	return history.InMemory()
}

// cells tells the session of the cells.
type cells struct{ *session.Session }

// BeginCell ends an interrupt that came as the last cell ended.
func (c cells) BeginCell(n int) {
	c.Resume()
	c.Session.BeginCell(n)
}

func (c cells) EndCell(e kernel.End) error {
	end := session.End{Background: e.Background}
	for _, g := range e.Globals {
		end.Globals = append(end.Globals, session.Global(g))
	}
	if e.Err != nil {
		end.Err = e.Err.Name + ": " + e.Err.Message
	}
	_, err := c.Session.EndCell(end)
	return err
}

// evaluator is the interpreter as a kernel wants it.
type evaluator struct{ in *interp.Interp }

func newEvaluator(s kernel.Streams) (kernel.Evaluator, error) {
	in, err := interp.New(interp.Options{Stdout: s.Stdout, Stderr: s.Stderr, Stdin: io.Reader(s.Stdin), Prelude: Prelude})
	if err != nil {
		return nil, err
	}
	return evaluator{in}, nil
}

func (e evaluator) Run(ctx context.Context, n int, src string) kernel.Outcome {
	out := e.in.Run(ctx, n, src)
	result := kernel.Outcome{Bundle: out.Bundle, Warnings: out.Warnings}
	if out.Err != nil {
		result.Err = &kernel.Error{Name: out.Err.Name, Message: out.Err.Message, Traceback: out.Err.Traceback}
	}
	return result
}
func (e evaluator) IsComplete(src string) (status, indent string) { return e.in.IsComplete(src) }
func (e evaluator) Globals() []kernel.Global {
	var list []kernel.Global
	for _, g := range e.in.Globals() {
		list = append(list, kernel.Global(g))
	}
	return list
}
func (e evaluator) Cell() int        { return e.in.Cell() }
func (e evaluator) Background() bool { return e.in.Background() }
func (e evaluator) Close()           { e.in.Close() }
func (e evaluator) Reset() error     { return e.in.Reset() }

func (e evaluator) Get(ctx context.Context, module string) error { return e.in.Get(ctx, module) }
