package interp

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"unsafe"
)

// A goroutine belongs to the cell that started it. The runtime hands profiler labels on to goroutines that a goroutine
// starts, in compiled code too, so the address of the label set tells the cell: reading it takes 2 ns, where finding a
// goroutine's number takes 1 us.

//go:linkname labelSet runtime/pprof.runtime_getProfLabel
func labelSet() unsafe.Pointer

// owners maps label sets to runs. An entry lives as long as its run has goroutines.
type owners struct{ m sync.Map }

// adopt makes the calling goroutine, and those it starts, belong to a run.
func (o *owners) adopt(r *run) {
	r.ctx = pprof.WithLabels(context.Background(), pprof.Labels("cell", strconv.Itoa(r.cell)))
	pprof.SetGoroutineLabels(r.ctx)
	r.labels = labelSet()
	o.m.Store(r.labels, r)
}

// current is the run that the calling goroutine belongs to, nil if it is none of a cell's.
func (o *owners) current() *run {
	if p := labelSet(); p != nil {
		if r, ok := o.m.Load(p); ok {
			return r.(*run)
		}
	}
	return nil
}

func (o *owners) forget(r *run) { o.m.Delete(r.labels) }

// goid is the number of the calling goroutine. It is for the slow paths: panics and recovers.
func goid() int64 {
	var b [64]byte
	s := bytes.TrimPrefix(b[:runtime.Stack(b[:], false)], []byte("goroutine "))
	n, _ := strconv.ParseInt(string(s[:max(bytes.IndexByte(s, ' '), 0)]), 10, 64)
	return n
}

// join makes a goroutine that the runtime started, a timer's for instance, belong to a run.
func (o *owners) join(r *run) {
	pprof.SetGoroutineLabels(r.ctx)
}
