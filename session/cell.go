package session

import (
	"errors"
	"time"

	"gradbook/gpu"
	"gradbook/viz/display"
)

// ledgerCells are kept at most, of about 1 KB each; the oldest tenth goes when
// they are full.
const ledgerCells = 5000

// Entry is one cell in the ledger.
type Entry struct {
	Cell  int // execution count
	Start time.Time
	Wall  time.Duration // from begin to end, the device's work included
	Work  []Work        // by device, those that did something
	Err   string        // "" when the cell ended well
}

// Work is what one device did during a cell.
type Work struct {
	Device     string
	Counters   gpu.Counters // differences over the cell; PeakBytes is the most in use at once
	KernelTime [gpu.NumKernels]time.Duration
	Before     int64 // device bytes in use at begin
	After      int64 // and at end, after a collection if there was one
}

// DeviceTime is the time the device spent in kernels; 0 where it cannot tell.
func (w *Work) DeviceTime() (t time.Duration) {
	for _, k := range w.KernelTime {
		t += k
	}
	return t
}

// End is what the kernel knows at the end of a cell.
type End struct {
	// Globals are the live named variables, of all cells.
	Globals []Global
	// Background tells that goroutines of cells are still running. Variables
	// cannot be looked at then: the names stay as they are.
	Background bool
	// Err is the cell's error, "" if there was none.
	Err string
}

// running is the cell between begin and end.
type running struct {
	start  time.Time
	before map[*gpu.Device]gpu.Snapshot
}

// BeginCell starts the ledger entry of the cell with execution count n.
func (s *Session) BeginCell(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A device that cannot be opened is an error of the cell's first use of
	// it, not of the cell's begin.
	_, _ = s.Device()
	s.cell = n
	display.Begin()
	s.open = &running{time.Now(), map[*gpu.Device]gpu.Snapshot{}}
	for _, d := range s.list() {
		d.SetCell(n)
		d.ResetPeak()
		s.open.before[d] = d.Totals()
	}
}

// EndCell ends the cell: lets displays show their last state, waits for what it launched, names the storages,
// collects when worth it, and writes the ledger entry. The error is what a
// device met on the way and could not report before.
func (s *Session) EndCell(end End) (Entry, error) {
	s.Resume()
	display.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return Entry{}, errors.New("session: no cell has begun")
	}
	run := s.open
	s.open = nil
	var errs []error
	for _, d := range s.list() {
		now, before := d.Counters(), run.before[d]
		if now.TotalLaunches() > before.Counters.TotalLaunches() {
			errs = append(errs, d.Sync())
		}
	}
	e := Entry{Cell: s.cell, Start: run.start, Wall: time.Since(run.start), Err: end.Err}
	if !end.Background {
		s.collectIfWorth(s.names.apply(end.Globals))
	}
	for _, d := range s.list() {
		before, after := run.before[d], d.Totals()
		w := Work{Device: d.String(), Counters: after.Counters.Sub(before.Counters), Before: before.InUse, After: after.InUse}
		for k := range w.KernelTime {
			w.KernelTime[k] = after.Backend.KernelTime[k] - before.Backend.KernelTime[k]
		}
		if w.didSomething() {
			e.Work = append(e.Work, w)
		}
	}
	err := errors.Join(errs...)
	if err != nil && e.Err == "" {
		e.Err = err.Error()
	}
	if len(s.ledger) == ledgerCells {
		s.ledger = append([]Entry(nil), s.ledger[ledgerCells/10:]...)
	}
	s.ledger = append(s.ledger, e)
	return e, err
}

func (w *Work) didSomething() bool {
	idle := gpu.Counters{PeakBytes: w.Counters.PeakBytes}
	return w.Counters != idle || w.Before != w.After
}

// worthCollecting is how many device bytes that no variable leads to, more than
// the last collection left, make another one worth it. A collection takes 5 to
// 20 ms in a kernel with MNIST loaded; a cell that trains a small model drops
// more than this each time it is run again.
const worthCollecting = 1 << 20

// collectIfWorth collects when device bytes that no variable leads to have
// grown. Go's collector would not start for them: it sees only the handles.
func (s *Session) collectIfWorth(reached map[*gpu.Storage]string) {
	stray := func(d *gpu.Device) (bytes int64) {
		owned := map[uint64]bool{}
		for st := range reached {
			if st.Device() == d {
				owned[st.ID()] = true
			}
		}
		for _, r := range d.Snapshot().Rows {
			if !owned[r.ID] {
				bytes += r.DeviceBytes
			}
		}
		return bytes
	}
	for _, d := range s.list() {
		// What is stray is in use: below that sum there is nothing to look for.
		if least := s.stray[d] + worthCollecting; d.Totals().InUse < least || stray(d) < least {
			continue
		}
		d.Collect()
		s.stray[d] = stray(d)
	}
}

// Snapshot is the state of a session at one moment: plain data.
type Snapshot struct {
	Cell    int // execution count of the running or last cell
	Current string
	Devices []gpu.Snapshot // in the order of opening
	Ledger  []Entry        // oldest first
}

// Snapshot returns the state of the session.
func (s *Session) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := Snapshot{Cell: s.cell, Ledger: append([]Entry(nil), s.ledger...)}
	s.devMu.Lock()
	if s.current != nil {
		snap.Current = s.current.String()
	}
	s.devMu.Unlock()
	for _, d := range s.list() {
		snap.Devices = append(snap.Devices, d.Snapshot())
	}
	return snap
}
