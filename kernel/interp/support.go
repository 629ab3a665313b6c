package interp

import (
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/traefik/yaegi/interp"

	"gradbook/kernel/cell"
)

// support is what lowered cells call at run time, as package krt.
type support struct {
	session *cell.Session
	options Options
	strands strands

	mu   sync.Mutex
	runs map[*run]bool

	// Variables of the lowered program: the stop flag, the call depth, and the channel that wakes blocked operations.
	stopVar  *bool
	depthVar *int
	doneVar  *chan struct{}

	types registry
	wraps wrappers

	outMu     sync.Mutex
	files     [2]atomic.Pointer[pipe]
	last      atomic.Pointer[run] // the run that was started last
	stdin     io.Reader
	stdinFile func() *os.File
}

// deepest is how deep calls of functions that may recur can nest: 100,000 declared functions, or a fifth of that of literals. Either
// takes about 150 MB of stack; the runtime ends the process at 1 GB.
const deepest = 100_000

func newSupport(session *cell.Session, o Options, table interp.Exports) *support {
	s := &support{session: session, options: o, runs: map[*run]bool{}, stdin: o.Stdin}
	if s.stdin == nil {
		s.stdin = strings.NewReader("")
	}
	s.stdinFile = sync.OnceValue(s.openStdin)
	s.wraps.init(table)
	return s
}

// exports is the table of package krt.
func (s *support) exports() map[string]reflect.Value {
	t := map[string]reflect.Value{"Defers": reflect.ValueOf((*Defers)(nil))}
	for name, f := range map[string]any{
		// panics, defer, the line a function is at
		"Note": s.Note, "NoteDeep": s.NoteDeep, "TooDeep": s.TooDeep, "Run": s.Run, "Recover": s.Recover, "Panic": s.Panic,
		"BadIndex": s.BadIndex, "Index": s.Index, "High": s.High, "Low": s.Low, "ArrayLen": s.ArrayLen, "Size": s.Size, "IteratorDone": s.IteratorDone,
		// goroutines, stopping, ending
		"Go": s.Go, "Check": s.Check, "Sleep": s.Sleep, "AfterFunc": s.AfterFunc, "Exit": s.Exit, "Goexit": s.Goexit,
		"MutexLock": s.MutexLock, "MutexUnlock": s.MutexUnlock, "RWMutexLock": s.RWMutexLock, "RWMutexUnlock": s.RWMutexUnlock,
		"RWMutexRLock": s.RWMutexRLock, "RWMutexRUnlock": s.RWMutexRUnlock, "WaitGroupWait": s.WaitGroupWait, "WaitGroupGo": s.WaitGroupGo,
		"CondWait": s.CondWait, "OnceDo": s.OnceDo, "Close": s.Close, "Clear": s.Clear,
		// types and interfaces
		"Define": s.Define, "Box": s.Box, "Method": s.Method, "Dyn": s.Dyn, "Held": func(x any) any { return x }, "Unwrap": unwrap, "Equal": s.Equal, "Assert": s.Assert, "AssertOK": s.AssertOK,
		"Is": s.Is, "BadAssert": s.BadAssert, "Out": s.Out, "OutAll": s.OutAll, "Shown": s.Shown, "ShownAll": s.ShownAll,
		"ErrorsAs": s.ErrorsAs, "ErrorsIs": s.ErrorsIs, "DeepEqual": s.DeepEqual, "MapClone": mapClone,
		"SortSlice": sortSlice, "SortSliceFunc": sortSliceFunc, "SortSliceStable": sortSliceStable, "Overlaps": overlaps,
		// printing and reading
		"Print": s.Print, "Printf": s.Printf, "Println": s.Println, "Sprintf": s.Sprintf, "Fprintf": s.Fprintf, "Errorf": s.Errorf, "Appendf": s.Appendf,
		"Builtin_print": s.builtinPrint, "Builtin_println": s.builtinPrintln, "Scan": s.Scan, "Scanf": s.Scanf, "Scanln": s.Scanln,
		"LogFatal": s.LogFatal, "LogFatalf": s.LogFatalf, "LogFatalln": s.LogFatalln, "LogPrintf": s.LogPrintf,
		"LoggerFatal": s.LoggerFatal, "LoggerFatalf": s.LoggerFatalf, "LoggerFatalln": s.LoggerFatalln,
		"Stdout": s.Stdout, "Stderr": s.Stderr, "Stdin": s.Stdin, "StdinReader": func() io.Reader { return s.stdin },
		"Result": s.Result,
	} {
		t[name] = reflect.ValueOf(f)
	}
	s.wraps.functions(s, t)
	return t
}
