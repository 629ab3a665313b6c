package session

import (
	"strings"
	"testing"
	"time"

	"gradbook/gpu"
	"gradbook/tensor"
	"gradbook/viz/display"
)

func newSession(t *testing.T) *Session {
	s := New()
	t.Cleanup(func() { s.Close() })
	if _, err := s.Use("host"); err != nil {
		t.Fatal(err)
	}
	return s
}

// filled makes a storage of n float32 on the session's device, by one launch.
func filled(t *testing.T, s *Session, n int, value float64) *gpu.Storage {
	t.Helper()
	d, err := s.Device()
	if err != nil {
		t.Fatal(err)
	}
	st := d.NewStorage(int64(4*n), "fill", gpu.Temporary)
	if err := d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{Value: value, N: uint32(n)}, st.All()); err != nil {
		t.Fatal(err)
	}
	return st
}

func TestLedger(t *testing.T) {
	s := newSession(t)
	s.BeginCell(1)
	x := filled(t, s, 1000, 2)
	if _, err := x.Host(); err != nil {
		t.Fatal(err)
	}
	e, err := s.EndCell(End{Globals: []Global{global("x", 1, x)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Work) != 1 {
		t.Fatalf("%d devices worked, want 1", len(e.Work))
	}
	w := e.Work[0]
	if w.Counters.Launches[gpu.Fill] != 1 || w.Counters.BytesDown != 4000 || w.Counters.PeakBytes != 4096 || w.Before != 0 || w.After != 4096 {
		t.Errorf("entry %+v", w)
	}
	s.BeginCell(2)
	e, _ = s.EndCell(End{Err: "Panic: oh", Globals: []Global{global("x", 1, x)}})
	if len(e.Work) != 0 || e.Err != "Panic: oh" {
		t.Errorf("an idle cell has the entry %+v", e)
	}
	snap := s.Snapshot()
	if len(snap.Ledger) != 2 || snap.Cell != 2 || snap.Current != "host" {
		t.Errorf("snapshot: %d entries, cell %d, device %q", len(snap.Ledger), snap.Cell, snap.Current)
	}
	row := snap.Devices[0].Rows[0]
	if row.Owner.Name != "x" || row.Owner.Cell != 1 || row.Owner.Op != "fill" {
		t.Errorf("owner %+v", row.Owner)
	}
	if _, err := s.EndCell(End{}); err == nil {
		t.Error("a second end must be an error")
	}
}

// What no variable leads to is collected when it is worth a collection, and
// only then.
func TestMemoryRule(t *testing.T) {
	s := newSession(t)
	d, _ := s.Device()
	run := func(n, floats int) {
		s.BeginCell(n)
		filled(t, s, floats, 1)
		if _, err := s.EndCell(End{}); err != nil {
			t.Fatal(err)
		}
	}
	before := d.Counters().Collects
	run(1, 100)
	if got := d.Counters().Collects - before; got != 0 {
		t.Errorf("%d collections for 400 bytes", got)
	}
	for i := range 20 {
		run(2+i, 1<<20)
	}
	if got := d.Counters().Collects - before; got != 20 {
		t.Errorf("%d collections, want one for each of 20 cells that drop 4 MiB", got)
	}
	if got := d.Snapshot().InUse; got > 1<<20 {
		t.Errorf("%v stay in use", gpu.Bytes(got))
	}
}

func TestFree(t *testing.T) {
	s := newSession(t)
	d, _ := s.Device()
	filled(t, s, 1<<18, 1)
	kept := filled(t, s, 1<<10, 1)
	given, held := s.Free()
	if given != 1<<20 || held != 1<<12 {
		t.Errorf("%v given back, %v held", given, held)
	}
	if got := d.Snapshot().Backend.BytesHeld; got != 1<<12 {
		t.Errorf("the backend holds %d bytes", got)
	}
	kept.Free()
}

// What a closure holds cannot be named, and must not be collected for in
// every cell.
func TestMemoryRuleGivesUp(t *testing.T) {
	s := newSession(t)
	d, _ := s.Device()
	held := filled(t, s, 1<<20, 1)
	for i := range 5 {
		s.BeginCell(i)
		s.EndCell(End{})
	}
	if got := d.Counters().Collects; got != 1 {
		t.Errorf("%d collections, want 1: the first one showed that the bytes are held", got)
	}
	held.Free()
}

func TestBackgroundKeepsNames(t *testing.T) {
	s := newSession(t)
	s.BeginCell(1)
	x := filled(t, s, 10, 1)
	s.EndCell(End{Globals: []Global{global("x", 1, x)}})
	s.BeginCell(2)
	s.EndCell(End{Background: true})
	if x.Owner().Name != "x" {
		t.Error("names were taken away while goroutines run")
	}
}

func TestInterruptReachesDevices(t *testing.T) {
	s := newSession(t)
	d, _ := s.Device()
	s.BeginCell(1)
	s.Interrupt()
	err := d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{N: 1}, d.NewStorage(4, "x", gpu.Temporary).All())
	if i, ok := err.(interface{ Interrupted() bool }); !ok || !i.Interrupted() {
		t.Errorf("a launch after Interrupt: %v", err)
	}
	s.EndCell(End{})
	if s.Stopped() || d.Interrupted() {
		t.Error("the next cell must run")
	}
}

func TestUse(t *testing.T) {
	s := newSession(t)
	a, _ := s.Device()
	b, err := s.Use("host:0")
	if err != nil {
		t.Fatal(err)
	}
	if a != b || gpu.Default() != a || len(s.Snapshot().Devices) != 1 {
		t.Error("host and host:0 must be one device")
	}
	if _, err := s.Use("abacus"); err == nil || !strings.Contains(err.Error(), "host") {
		t.Errorf("an unknown device: %v", err)
	}
	if d, _ := s.Device(); d != a {
		t.Error("a device that cannot be opened must leave the current one")
	}
}

func TestValuesMadeBeforeTheSession(t *testing.T) {
	gpu.SetDefault(nil)
	d := gpu.Default()
	s := New()
	defer s.Close()
	if err := s.Seed(1); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Use("host"); got != d {
		t.Error("the session opened the host a second time")
	}
}

func TestSeedReachesLaterDevices(t *testing.T) {
	s := newSession(t)
	draw := func(d *gpu.Device) uint64 { return d.HostRandom().Uint64() }
	if err := s.Seed(42); err != nil {
		t.Fatal(err)
	}
	first, _ := s.Device()
	x := draw(first)
	// The host's second library is a device of its own.
	second, err := s.Use("host:1")
	if err != nil {
		t.Fatal(err)
	}
	if y := draw(second); first == second || x != y {
		t.Errorf("draws %x and %x with one seed", x, y)
	}
	s.Seed(43)
	if z := draw(first); x == z {
		t.Error("another seed draws the same")
	}
}

func TestDisplaysFinishBeforeTheLedger(t *testing.T) {
	s := newSession(t)
	s.BeginCell(1)
	if !display.AtEnd(func() { filled(t, s, 10, 1) }) {
		t.Error("no cell is running, displays are told")
	}
	e, _ := s.EndCell(End{})
	if len(e.Work) != 1 || e.Work[0].Counters.Launches[gpu.Fill] != 1 {
		t.Errorf("what a display did at the end is missing in the entry: %+v", e)
	}
	if display.AtEnd(func() {}) {
		t.Error("a cell is running, displays are told")
	}
}

func TestWallTimeIncludesTheDevice(t *testing.T) {
	s := newSession(t)
	s.BeginCell(1)
	time.Sleep(2 * time.Millisecond)
	if e, _ := s.EndCell(End{}); e.Wall < 2*time.Millisecond {
		t.Errorf("wall time %v", e.Wall)
	}
}

func TestThroughHost(t *testing.T) {
	s := New()
	d, err := s.Use("host")
	if err != nil {
		t.Fatal(err)
	}
	defer s.ThroughHost()
	if err := s.ThroughHost("optimiser"); err == nil || !strings.Contains(err.Error(), "activations, backward and optimizer") {
		t.Error(err)
	}
	if err := s.ThroughHost("optimizer"); err != nil {
		t.Fatal(err)
	}
	w, v, g := tensor.On(d).Ones(4), tensor.On(d).Zeros(4), tensor.On(d).Ones(4)
	before := d.Counters().Fallbacks
	tensor.SGDStep(g, w, v, gpu.SGDParams{LR: 1})
	if n := d.Counters().Fallbacks - before; n != 1 {
		t.Errorf("%d launches went through the host, want 1", n)
	}
}
