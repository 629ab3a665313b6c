package interp

import (
	"context"
	"runtime/pprof"
	"strconv"
	"sync"
	"time"
	"unsafe"
)

// strand is a goroutine of a cell, with those that compiled code starts on its behalf.
type strand struct {
	run    *run
	labels unsafe.Pointer

	mu     sync.Mutex
	trace  trace     // where it is being unwound through
	panics []*Defers // functions whose deferred calls run because of a panic, innermost last
	ending time.Time // since when it is being ended by a stop
}

// The runtime hands profiler labels on to goroutines that a goroutine starts, in compiled code too. Each strand has a label set
// of its own, so the address of the set tells the strand: reading it takes 2 ns, where the goroutine's number takes 1 us,
// and more than that on a deep stack.

//go:linkname labelSet runtime/pprof.runtime_getProfLabel
func labelSet() unsafe.Pointer

// strands maps label sets to strands.
type strands struct{ m sync.Map }

// start makes the calling goroutine a strand of a run.
func (o *strands) start(r *run) *strand {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("cell", strconv.Itoa(r.cell))))
	st := &strand{run: r, labels: labelSet()}
	o.m.Store(st.labels, st)
	r.live.Add(1)
	return st
}

// end forgets a strand. Goroutines that compiled code started for it, and that still run, belong to no cell from then on.
func (o *strands) end(st *strand) {
	o.m.Delete(st.labels)
	st.run.live.Add(-1)
}

// current is the strand that the calling goroutine is or belongs to, nil if it is none of a cell's.
func (o *strands) current() *strand {
	if p := labelSet(); p != nil {
		if st, ok := o.m.Load(p); ok {
			return st.(*strand)
		}
	}
	return nil
}

// currentRun is the run of the current strand.
func (o *strands) currentRun() *run {
	if st := o.current(); st != nil {
		return st.run
	}
	return nil
}
