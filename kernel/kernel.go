package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"sync"
	"time"

	"gradbook/kernel/history"
	"gradbook/kernel/magic"
	"gradbook/kernel/wire"
	"gradbook/viz/display"
)

// Config is what a kernel is made of.
type Config struct {
	// NewEvaluator makes the evaluator. It runs while the kernel already
	// answers questions about itself; the first cell waits for it.
	NewEvaluator func(Streams) (Evaluator, error)
	// Codec makes the headers of messages.
	Codec *wire.Codec
	// Send takes the messages out. It is called from several goroutines.
	Send func(wire.Channel, *wire.Message) error
	// Lines are the % lines beyond those of package magic.
	Lines []magic.Command
	// History keeps what was run; nil keeps it for the life of the kernel.
	History *history.Log
	// Session, if set, is told of the cells.
	Session Session
	// Started, if set, is called with the kernel before it serves requests.
	Started func(*Kernel)
	// Version of the program, for kernel_info.
	Version string
	Log     *log.Logger
}

// A Session outlives cells, and is told when one begins and ends.
type Session interface {
	// BeginCell is called before the code of cell n runs.
	BeginCell(n int)
	// EndCell is called after it. It returns what went wrong meanwhile and
	// nobody has been told.
	EndCell(End) error
	// Interrupt is called beside a running cell that is to stop.
	Interrupt()
}

// End is what a session is told about a cell that has ended.
type End struct {
	Globals    []Global
	Background bool   // see [Evaluator]
	Err        *Error // nil if the cell ended well
}

// A Kernel serves requests until it is shut down.
type Kernel struct {
	cfg     Config
	out     *outbox
	log     *log.Logger
	hist    *history.Log
	lines   *magic.Set
	comms   comms
	stdin   *stdin
	shell   *queue
	control *queue
	cells   cells
	done    chan struct{} // closed when shut down
	closed  sync.Once

	ready   chan struct{} // closed when eval and evalErr are set
	eval    Evaluator
	evalErr error

	count int // of cells that went into history; owned by the shell loop

	mu      sync.Mutex
	running *running // nil when idle
}

// running is the cell that runs now.
type running struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	req    *wire.Message
	stdin  bool // the client answers input requests
}

// errInterrupted is the cause of cancelling a cell on the user's wish.
var errInterrupted = errors.New("interrupted")

// New returns a kernel that serves what is given to [Kernel.Handle]. Values
// shown through package display go to its clients until it is shut down.
func New(cfg Config) *Kernel {
	if cfg.Log == nil {
		cfg.Log = log.New(io.Discard, "", 0)
	}
	if cfg.History == nil {
		cfg.History = history.InMemory()
	}
	k := &Kernel{
		cfg:     cfg,
		log:     cfg.Log,
		hist:    cfg.History,
		shell:   newQueue(),
		control: newQueue(),
		done:    make(chan struct{}),
		ready:   make(chan struct{}),
	}
	k.out = &outbox{codec: cfg.Codec, send: cfg.Send, logf: k.log.Printf}
	k.stdin = &stdin{k: k, answers: make(chan string, 1)}
	k.lines = magic.NewSet(cfg.Lines...)
	display.SetSink(sink{k})
	if cfg.Started != nil {
		cfg.Started(k)
	}
	k.out.publish(nil, "status", statusContent{"starting"})
	go k.makeEvaluator()
	go k.serveAll(wire.Shell, k.shell)
	go k.serveAll(wire.Control, k.control)
	return k
}

func (k *Kernel) makeEvaluator() {
	defer close(k.ready)
	defer func() {
		if e := recover(); e != nil {
			k.evalErr = fmt.Errorf("the interpreter could not start: %v", e)
			k.log.Printf("%v\n%s", k.evalErr, debug.Stack())
		}
	}()
	k.eval, k.evalErr = k.cfg.NewEvaluator(Streams{
		Stdout: func(cell int, p []byte) { k.out.print(k.cells.of(cell), "stdout", p) },
		Stderr: func(cell int, p []byte) { k.out.print(k.cells.of(cell), "stderr", p) },
		Stdin:  k.stdin,
	})
}

// evaluator waits for the evaluator.
func (k *Kernel) evaluator() (Evaluator, error) {
	<-k.ready
	return k.eval, k.evalErr
}

// Handle takes a message in. It does not wait for the request to be served.
func (k *Kernel) Handle(ch wire.Channel, m *wire.Message) {
	switch ch {
	case wire.Shell:
		k.shell.push(m)
	case wire.Control:
		k.control.push(m)
	case wire.Stdin:
		k.stdin.answer(m)
	}
}

// Stdout is the standard output of the cell that the writing goroutine belongs
// to; of the latest cell if it belongs to none.
func (k *Kernel) Stdout() io.Writer { return callerOutput{k} }

type callerOutput struct{ k *Kernel }

func (o callerOutput) Write(p []byte) (int, error) {
	o.k.out.print(o.k.caller(), "stdout", p)
	return len(p), nil
}

// caller returns the request of the cell that the calling goroutine belongs
// to, or of the latest cell.
func (k *Kernel) caller() *origin {
	select {
	case <-k.ready:
		if k.evalErr == nil {
			return k.cells.of(k.eval.Cell())
		}
	default:
	}
	return k.cells.latest()
}

// Done is closed when the kernel has been shut down.
func (k *Kernel) Done() <-chan struct{} { return k.done }

// Interrupt stops the running cell, if there is one.
func (k *Kernel) Interrupt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running == nil {
		return
	}
	k.running.cancel(errInterrupted)
	if k.cfg.Session != nil {
		k.cfg.Session.Interrupt()
	}
}

// Shutdown ends the kernel. A running cell is interrupted, and given a moment
// to stop.
func (k *Kernel) Shutdown() {
	k.closed.Do(func() {
		k.Interrupt()
		k.shell.close()
		k.control.close()
		if k.awaitIdle(300 * time.Millisecond) {
			if eval, err := k.evaluator(); err == nil {
				eval.Close()
			}
		}
		k.hist.Close()
		display.SetSink(nil)
		close(k.done)
	})
}

// awaitIdle waits until no cell runs, and reports false if one does for so
// long.
func (k *Kernel) awaitIdle(most time.Duration) bool {
	for deadline := time.Now().Add(most); ; time.Sleep(time.Millisecond) {
		k.mu.Lock()
		idle := k.running == nil
		k.mu.Unlock()
		if idle || time.Now().After(deadline) {
			return idle
		}
	}
}

// serveAll serves the requests of a channel in their order.
func (k *Kernel) serveAll(ch wire.Channel, q *queue) {
	for {
		m, aborted := q.pop()
		switch {
		case m == nil:
			return
		case aborted:
			k.abort(ch, m)
		default:
			k.serve(ch, m)
		}
	}
}

// serve answers one request, between a busy and an idle status.
func (k *Kernel) serve(ch wire.Channel, m *wire.Message) {
	defer func() {
		if e := recover(); e != nil {
			k.log.Printf("%s: %s: panic: %v\n%s", ch, m.Header.MsgType, e, debug.Stack())
		}
	}()
	handler, err := k.handler(ch, m)
	if err != nil {
		k.log.Printf("%s: message ignored: %v", ch, err)
		return
	}
	from := &origin{parent: m.RawHeader}
	if m.Header.MsgType == "shutdown_request" {
		defer k.Shutdown()
	}
	k.out.publish(from, "status", statusContent{"busy"})
	defer k.out.publish(from, "status", statusContent{"idle"})
	handler(from)
}

// reply answers a request on the channel that it came on.
func (k *Kernel) reply(ch wire.Channel, to *wire.Message, content any) {
	k.replyWith(ch, to, content, nil)
}

func (k *Kernel) replyWith(ch wire.Channel, to *wire.Message, content any, metadata map[string]any) {
	msgType := replyType(to.Header.MsgType)
	raw, err := json.Marshal(content)
	if err != nil {
		k.log.Printf("%s: %s lost: %v", ch, msgType, err)
		return
	}
	err = k.cfg.Send(ch, &wire.Message{
		Identities: to.Identities,
		Header:     k.cfg.Codec.NewHeader(msgType),
		Parent:     to.RawHeader,
		Metadata:   metadata,
		Content:    raw,
	})
	if err != nil {
		k.log.Printf("%s: %s lost: %v", ch, msgType, err)
	}
}
