package interp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"sync"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib/unsafe"

	"gradbook/kernel/cell"
)

// Interp is a session of cells. Run, Reset and Get must not be called at the same time; the others may.
type Interp struct {
	options Options

	mu      sync.Mutex
	yaegi   *interp.Interpreter
	session *cell.Session
	support *support
	cache   map[string]*compiled // by source
	modules *modules
}

// compiled is a cell that the interpreter holds.
type compiled struct {
	checked  *cell.Checked
	entry    reflect.Value
	warnings []string
	uses     cell.Uses // what its names must still mean for it to be run again as it is
}

// New starts a session.
func New(o Options) (*Interp, error) {
	in := &Interp{options: o}
	return in, in.Reset()
}

// Reset forgets all names and values. Goroutines of earlier cells are stopped.
func (in *Interp) Reset() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.support != nil {
		in.support.close()
	}
	if in.modules == nil {
		in.modules = &modules{}
	}
	in.modules.forget()
	lib := newLibrary(in.modules)
	if in.options.packages != nil {
		in.options.packages(lib)
	}
	in.session = cell.NewSession(lib, in.options.Prelude)
	in.support = newSupport(in.session, in.options, lib.table)
	in.cache = map[string]*compiled{}
	// The interpreter's own stderr gets one line for each frame that a panic unwinds; tracebacks are made otherwise.
	in.yaegi = interp.New(interp.Options{Stdout: io.Discard, Stderr: io.Discard})
	if err := in.yaegi.Use(lib.exports()); err != nil {
		return fmt.Errorf("load symbols: %w", err)
	}
	if err := in.yaegi.Use(unsafe.Symbols); err != nil {
		return fmt.Errorf("load symbols of unsafe: %w", err)
	}
	if err := in.yaegi.Use(interp.Exports{"krt/krt": in.support.exports()}); err != nil {
		return fmt.Errorf("load run-time support: %w", err)
	}
	for _, src := range []string{`import "krt"`, fmt.Sprintf("var k_stop bool\nvar k_depth int\nvar k_deepest = %d\nvar k_done chan struct{}", deepest)} {
		if _, err := in.eval(src); err != nil {
			return fmt.Errorf("start interpreter: %w", err)
		}
	}
	g := in.yaegi.Globals()
	in.support.stopVar = g["k_stop"].Addr().Interface().(*bool)
	in.support.depthVar = g["k_depth"].Addr().Interface().(*int)
	in.support.doneVar = g["k_done"].Addr().Interface().(*chan struct{})
	logs.add(in.support)
	return nil
}

// Close stops all goroutines of the session.
func (in *Interp) Close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.support.close()
}

// Cell is the number of the cell that the calling goroutine belongs to, 0 if it is none of a cell's.
func (in *Interp) Cell() int {
	if r := in.support.strands.currentRun(); r != nil {
		return r.cell
	}
	return 0
}

// Background says whether goroutines of cells that have ended are running.
func (in *Interp) Background() bool {
	in.support.mu.Lock()
	defer in.support.mu.Unlock()
	return in.support.liveRuns() > 0
}

// eval gives code to the interpreter. What the interpreter panics with is an error.
func (in *Interp) eval(src string) (v reflect.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return in.yaegi.Eval(src)
}

// callSafely calls what prepares a cell: types are made known, variables of imported modules are set.
func callSafely(f reflect.Value) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while an imported package sets its variables: %v", p)
		}
	}()
	f.Call(nil)
	return nil
}

// Get makes the packages of a module importable, "path@version"; without a version the latest. It needs a Go toolchain on the
// machine, to find and fetch the module; cells then run the module's source. A package that uses cgo or unsafe cannot be
// run so, and says so when it is imported.
func (in *Interp) Get(ctx context.Context, module string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.modules.get(ctx, module)
}

// Run runs cell n. Cancelling ctx interrupts it.
func (in *Interp) Run(ctx context.Context, n int, src string) Outcome {
	c, err := in.compileSafely(n, src)
	if err != nil {
		return Outcome{Err: compileError(err)}
	}
	out := in.support.execute(ctx, n, c.entry)
	out.Warnings = c.warnings
	return out
}

// compileSafely is compile, where a fault in it is an error of the cell and not the end of the kernel.
func (in *Interp) compileSafely(n int, src string) (c *compiled, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v; the cell was not run\n%s", p, debug.Stack())
		}
	}()
	return in.compile(n, src)
}

func compileError(err error) *Error {
	var list *cell.Errors
	if errors.As(err, &list) {
		return &Error{Name: "CompileError", Message: list.List[0].Msg, Traceback: []string{err.Error()}}
	}
	return &Error{Name: "InternalError", Message: err.Error(), Traceback: []string{err.Error()}}
}

// compile checks and lowers a cell and has the interpreter take it. A cell whose text and names are as they were is not
// compiled again: each compiled cell keeps 25 to 45 KB.
func (in *Interp) compile(n int, src string) (*compiled, error) {
	if c, ok := in.cache[src]; ok && in.session.Same(c.uses) {
		in.session.Again(c.checked, n)
		return c, nil
	}
	checked, err := in.session.Check(n, src)
	if err != nil {
		return nil, err
	}
	prog, err := in.session.Lower(checked)
	if err != nil {
		return nil, err
	}
	for _, imp := range prog.Imports {
		if _, err := in.eval("import " + imp); err != nil {
			prog.Abandon()
			return nil, fmt.Errorf("the interpreter refused import %s: %w", imp, err)
		}
	}
	if in.options.trace != nil {
		in.options.trace(prog.Code)
	}
	if _, err := in.eval(prog.Code); err != nil {
		prog.Abandon()
		return nil, fmt.Errorf("the interpreter refused the lowered cell: %w", err)
	}
	entry, err := in.eval(prog.Entry)
	if err != nil || entry.Kind() != reflect.Func {
		prog.Abandon()
		return nil, fmt.Errorf("the interpreter lost the lowered cell: %w", err)
	}
	defs, err := in.eval(prog.Entry + "_defs")
	if err != nil || defs.Kind() != reflect.Func {
		return nil, fmt.Errorf("the interpreter lost the lowered cell: %w", err)
	}
	if err := callSafely(defs); err != nil {
		prog.Abandon()
		return nil, err
	}
	in.support.wraps.forget()
	uses := prog.Commit()
	c := &compiled{checked: checked, entry: entry, warnings: prog.Warnings, uses: uses}
	in.cache[src] = c
	return c, nil
}

// IsComplete says whether a cell can be run as it stands, needs more text, or is wrong, in the words of the protocol; indent is
// for the next line.
func (in *Interp) IsComplete(src string) (status, indent string) {
	st, indent := cell.Completeness(src)
	return st.String(), indent
}

// Globals returns the named variables of the session, live.
func (in *Interp) Globals() []Global {
	in.mu.Lock()
	defer in.mu.Unlock()
	vals := in.yaegi.Globals()
	var list []Global
	for _, v := range in.session.Vars() {
		if val := vals[v.Lowered]; val.IsValid() {
			list = append(list, Global{v.Name, cell.TypeName(v.Type), val, v.Cell})
		}
	}
	return list
}

// Scope is the view of names and types that completion and inspection work on.
func (in *Interp) Scope() cell.Scope { return in.session.Scope() }
