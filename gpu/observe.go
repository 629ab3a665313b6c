package gpu

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// EventKind says what happened on a device.
type EventKind uint8

// The events.
const (
	Launched EventKind = iota
	Declined           // a fused kernel ran as the launches before this event
	Uploaded
	Downloaded
	Allocated // from the backend, not from the pool
	Freed     // to the backend
	Spilled   // a device copy was dropped for lack of memory
	Replayed  // a recording ran as one submission
)

// Event is something that a device did. Launch belongs to the device: it is
// valid, as it is, only during the call.
type Event struct {
	Kind   EventKind
	Launch *Launch // Launched, Declined
	Span   Span    // the others; Buffer is nil in Replayed
	Count  int     // Replayed: launches
}

type observer struct{ see func(Event) }

// Observe calls see after everything that the device does, until the function
// that it returns is called. see must not use the device.
func (d *Device) Observe(see func(Event)) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := &observer{see}
	d.observers = append(d.observers, o)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.observers = slices.DeleteFunc(slices.Clone(d.observers), func(p *observer) bool { return p == o })
		if len(d.observers) == 0 {
			d.observers = nil
		}
	}
}

func (d *Device) emit(e Event) {
	for _, o := range d.observers {
		o.see(e)
	}
}

// Trace returns an observer that writes an event a line. Buffers are written
// as #number+offset:bytes, numbered in the order in which they were first
// seen, so that two runs that do the same have the same trace.
func Trace(w io.Writer) func(Event) {
	numbers := map[Buffer]int{}
	next := 1
	span := func(s Span) string {
		if s.Buffer == nil {
			return "#0"
		}
		if numbers[s.Buffer] == 0 {
			numbers[s.Buffer] = next
			next++
		}
		return fmt.Sprintf("#%d+%d:%d", numbers[s.Buffer], s.Offset, s.Bytes)
	}
	return func(e Event) {
		switch e.Kind {
		case Launched:
			fmt.Fprintf(w, "launch %s %s", e.Launch.Kernel, e.Launch.DType)
			for i, a := range e.Launch.Args {
				fmt.Fprintf(w, " %s=%s", Kernels[e.Launch.Kernel].Args[i].Name, span(a))
			}
			fmt.Fprintf(w, " %s\n", strings.TrimPrefix(fmt.Sprintf("%+v", e.Launch.Params), "&"))
		case Declined:
			fmt.Fprintf(w, "composed %s %s\n", e.Launch.Kernel, e.Launch.DType)
		case Uploaded:
			fmt.Fprintf(w, "upload %s\n", span(e.Span))
		case Downloaded:
			fmt.Fprintf(w, "download %s\n", span(e.Span))
		case Allocated:
			fmt.Fprintf(w, "alloc %s\n", span(e.Span))
		case Freed:
			fmt.Fprintf(w, "free %s\n", span(e.Span))
			delete(numbers, e.Span.Buffer)
		case Spilled:
			fmt.Fprintf(w, "spill %s\n", span(e.Span))
		case Replayed:
			fmt.Fprintf(w, "replay of %d launches\n", e.Count)
		}
	}
}
