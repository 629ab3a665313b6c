package interp

import (
	"context"
	"reflect"
	"time"

	"gradbook/viz/display"
)

// ending is how the cell's own goroutine ended.
type ending struct {
	bundle *display.Bundle
	err    *Error // a panic
	normal bool   // neither panic nor Goexit
	trace  *trace // what it was unwound through
}

// execute runs a compiled cell on a goroutine of its own and waits for it, or for the interrupt.
func (s *support) execute(ctx context.Context, n int, entry reflect.Value) Outcome {
	r := s.begin(n)
	r.live.Add(1) // until its goroutine is a strand
	ended := make(chan ending, 1)
	go s.cellGoroutine(r, entry, ended)

	var e ending
	interrupted := false
	select {
	case e = <-ended:
	case <-r.done: // its own code stopped it: os.Exit, a goroutine's panic
		e = await(ended, unwindGrace)
	case <-ctx.Done():
		interrupted = true
		s.stop(r)
		e = await(ended, stopGrace)
	}
	out := Outcome{Bundle: e.bundle}
	if r.stopped.Load() && !r.wait(stopGrace) {
		out.Warnings = append(out.Warnings, "compiled code that cannot be interrupted is still running; its goroutine ends when it returns")
	}
	s.flush()
	out.Err = s.verdict(r, e, interrupted)
	if out.Err != nil {
		out.Bundle = nil
	}
	s.settle()
	return out
}

// unwindGrace is how long a cell that stopped itself may take: 100,000 frames unwind in a few hundred milliseconds.
const unwindGrace = 3 * time.Second

// await waits for the cell's goroutine after a stop, but not for ever: it may be in compiled code that never returns.
func await(ended <-chan ending, limit time.Duration) ending {
	select {
	case e := <-ended:
		return e
	case <-time.After(limit):
		return ending{trace: &trace{}}
	}
}

func (s *support) cellGoroutine(r *run, entry reflect.Value, ended chan<- ending) {
	var e ending
	st := s.strands.start(r)
	r.live.Add(-1)
	defer func() {
		r.mu.Lock()
		r.over = true
		r.results = nil
		r.mu.Unlock()
		s.strands.end(st)
		ended <- e
	}()
	defer func() { e.trace = s.takeTrace() }()
	defer func() {
		if p := recover(); p != nil {
			e.err = s.panicError(p)
		}
	}()
	entry.Call(nil)
	e.bundle = s.bundle(r.results) // calls methods of the cell's types, so it belongs to the run
	e.normal = true
}

// verdict says why a run did not end well, nil if it did.
func (s *support) verdict(r *run, e ending, interrupted bool) *Error {
	r.mu.Lock()
	reason := r.reason
	r.mu.Unlock()
	switch {
	case reason != nil:
		if len(reason.Traceback) == 0 {
			reason.Traceback = append([]string{reason.Message}, s.lines(e.trace)...)
		}
		return reason
	case interrupted && !e.normal && e.err == nil:
		return &Error{Name: "Interrupted", Message: "interrupted", Traceback: append([]string{"interrupted"}, s.lines(e.trace)...)}
	}
	return e.err
}

// settle lowers the stop flag once nothing that was stopped is left.
func (s *support) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.liveRuns()
	s.refreshStop()
}

// close stops all goroutines of a session.
func (s *support) close() {
	s.mu.Lock()
	var all []*run
	for r := range s.runs {
		all = append(all, r)
	}
	s.mu.Unlock()
	for _, r := range all {
		s.stop(r)
	}
	logs.remove(s)
	s.closeFiles()
}
