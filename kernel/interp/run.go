package interp

import (
	"fmt"
	"go/types"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// run is one run of a cell, with the goroutines that it started.
type run struct {
	cell int

	stopped atomic.Bool
	done    chan struct{} // closed when stopped
	live    atomic.Int64  // goroutines, the cell's own among them

	mu      sync.Mutex
	reason  *Error // why the run was stopped, if by its own code
	over    bool   // the cell's own goroutine has ended
	results []result
	exited  bool // os.Exit(0): stopped, and well
}

// result is one value of the cell's last expression.
type result struct {
	typ types.Type
	val any
}

// stopGrace is how long a stopped run's goroutines have to end before they are left behind.
const stopGrace = 150 * time.Millisecond

// begin starts a run of cell n.
func (s *support) begin(n int) *run {
	r := &run{cell: n, done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.doneVar = r.done
	s.refreshStop()
	if s.liveRuns() == 0 {
		*s.depthVar = 0
	}
	s.runs[r] = true
	s.last.Store(r)
	return r
}

// liveRuns counts the runs that still have goroutines, and forgets the others.
func (s *support) liveRuns() (n int) {
	for r := range s.runs {
		if r.live.Load() > 0 {
			n++
		} else {
			delete(s.runs, r)
		}
	}
	return n
}

// refreshStop sets the flag that lowered loops look at: while a stopped run has goroutines, each loop asks whether it is meant.
func (s *support) refreshStop() {
	any := false
	for r := range s.runs {
		any = any || r.stopped.Load() && r.live.Load() > 0
	}
	*s.stopVar = any
}

// stop makes a run's goroutines end at their next check. Those of other runs go on.
func (s *support) stop(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.stopped.Swap(true) {
		return
	}
	*s.stopVar = true
	if *s.doneVar == r.done { // operations that other runs start now must not wake at once
		*s.doneVar = make(chan struct{})
	}
	close(r.done)
}

// abort stops the run that the calling goroutine belongs to, with a reason, and ends the goroutine. The deferred calls of the
// cell's functions run, as in runtime.Goexit; a panic would do too, but unwinding n interpreted frames by it takes time in
// the order of n squared (27 s for 20,000 frames).
func (s *support) abort(reason *Error) {
	r := s.strands.currentRun()
	if r != nil {
		r.mu.Lock()
		if r.reason == nil && !r.stopped.Load() {
			r.reason = reason
			r.exited = reason == nil
		}
		r.mu.Unlock()
		s.stop(r)
		s.strands.current().mayEnd()
	}
	runtime.Goexit()
}

// Check ends the calling goroutine if its run was stopped. Deferred calls of a goroutine that is ending may take a while.
func (s *support) Check() {
	if st := s.strands.current(); st != nil && st.run.stopped.Load() && st.mayEnd() {
		runtime.Goexit()
	}
}

// deferGrace is how long the deferred calls of a goroutine that was stopped may run.
const deferGrace = 100 * time.Millisecond

// mayEnd says whether the goroutine is not ending yet, or has been at it too long.
func (st *strand) mayEnd() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	now := time.Now()
	if st.ending.IsZero() {
		st.ending = now
		return true
	}
	return now.Sub(st.ending) > deferGrace
}

// wait waits for the run's goroutines to end; it says no if they did not in time.
func (r *run) wait(limit time.Duration) bool {
	end := time.Now().Add(limit)
	for r.live.Load() > 0 {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(200 * time.Microsecond)
	}
	return true
}

// Go starts a goroutine for a go statement at a site. A panic in it ends its cell with an error, as it would end a program.
func (s *support) Go(f func(), site int) {
	r := s.strands.currentRun()
	if r == nil {
		go f()
		return
	}
	s.goIn(r, f, site)
}

func (s *support) goIn(r *run, f func(), site int) {
	if r.stopped.Load() {
		runtime.Goexit()
	}
	r.live.Add(1) // counted before it starts
	go func() {
		st := s.strands.start(r)
		r.live.Add(-1)
		defer s.strands.end(st)
		defer func() {
			if p := recover(); p != nil {
				s.goroutinePanic(r, p, site)
			}
		}()
		f()
	}()
}

func (s *support) goroutinePanic(r *run, p any, site int) {
	e := s.panicError(p)
	if at, ok := s.session.Site(site); ok {
		e.Traceback = append(e.Traceback, fmt.Sprintf("started by go in cell [%d], line %d", at.Cell, at.Line))
	}
	r.mu.Lock()
	over := r.over
	if !over && r.reason == nil && !r.stopped.Load() {
		r.reason = e
	}
	r.mu.Unlock()
	if !over {
		s.stop(r)
		return
	}
	for _, line := range e.Traceback {
		s.write(r.cell, stderr, []byte(line+"\n"))
	}
}
