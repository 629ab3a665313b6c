package display

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"sync/atomic"
)

// A Sink is where bundles go. Its methods may be called from any goroutine.
type Sink interface {
	// Display shows b; a later Update with the same non-empty id replaces it.
	Display(b Bundle, id string)
	// Update replaces every display of id. An unknown id shows nothing.
	Update(b Bundle, id string)
	// Clear removes the output of the cell, at once or, with wait, when the
	// next output arrives.
	Clear(wait bool)
}

// sink holds a holder, since atomic.Value wants one concrete type.
var sink atomic.Pointer[holder]

type holder struct{ Sink }

// SetSink makes s the sink of the process; nil restores the default one,
// which prints the plain text form to os.Stdout.
func SetSink(s Sink) {
	if s == nil {
		sink.Store(nil)
		return
	}
	sink.Store(&holder{s})
}

func current() Sink {
	if h := sink.Load(); h != nil {
		return h.Sink
	}
	return printer{}
}

// Show shows v: in its rich form when it has one (see [Rich]), else as text.
func Show(v any) { current().Display(Of(v), "") }

// ShowID shows b under id, so that [Update] can replace it.
func ShowID(b Bundle, id string) { current().Display(b, id) }

// Update replaces what was shown under id.
func Update(b Bundle, id string) { current().Update(b, id) }

// Clear removes the output of the running cell; with wait it stays until the
// next output arrives, so that it does not flicker.
func Clear(wait bool) { current().Clear(wait) }

// NewID returns a display id that no other display has.
func NewID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// printer is the sink when there is no front end.
type printer struct{}

func (printer) Display(b Bundle, _ string) { fmt.Fprintln(os.Stdout, b.Plain()) }
func (printer) Update(b Bundle, _ string)  { fmt.Fprintln(os.Stdout, b.Plain()) }
func (printer) Clear(bool)                 {}
