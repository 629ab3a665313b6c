package gpu

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sort"
	"weak"
)

// Recorded is the launches of a function, to be run again. It keeps the
// buffers that they use, at their addresses, until Close or until Go can no
// longer reach it.
type Recorded struct{ r *recording }

// recording is what the device keeps of a Recorded, without reaching it.
type recording struct {
	dev      *Device
	id       uint64
	owner    Owner
	launches []Launch
	counts   [NumKernels]int64
	inputs   []*Storage // read before they are written, kept alive
	fed      []input    // those of them that replays are given content for
	written  []*entry
	buffers  []Buffer
	compiled Recording // nil: launched one by one
	lastUse  uint64
	closed   bool
	handle   weak.Pointer[Recorded]
}

// pin holds a buffer for recordings. An orphan has no storage any more.
type pin struct {
	recordings int
	orphan     bool
}

// recorder gathers a recording while its function runs.
type recorder struct {
	recording
	born    uint64          // storages with larger IDs are made inside
	touched map[Buffer]bool // the recording's buffers
	seen    map[*entry]bool // in inputs or written
	wrote   map[*entry]bool
	pool    pool  // buffers freed inside: reused inside only
	err     error // what cannot be recorded
}

// RecordError tells what a function did that a replay cannot repeat.
type RecordError struct{ What string }

func (e *RecordError) Error() string {
	return "inside a recorded step " + e.What + ": a replay would not do that again; do it before the step"
}

// Record runs f and keeps its launches, and those of other goroutines
// meanwhile, for Replay. What f makes of the device's own data is recorded;
// what passes through the host is not and is an error: reads and writes,
// storages made from host data, new parameters, optimizer state and
// generators. So is an error of f. Nothing is kept then, but what f did is
// done.
//
// Inputs are filled before f runs, and f reads them. A replay can fill them from
// elsewhere, which costs less than writing to them before it.
func (d *Device) Record(f func() error, inputs ...Input) (*Recorded, error) {
	if err := d.startRecording(inputs); err != nil {
		return nil, err
	}
	finished := false
	defer func() {
		if !finished { // f panicked
			d.mu.Lock()
			defer d.mu.Unlock()
			d.abandon()
		}
	}()
	err := f()
	finished = true
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.recorder
	if err == nil {
		err = r.finish()
	}
	if err == nil && len(r.launches) > 0 {
		r.compiled, err = d.backend.Record(r.launches, r.spans())
		if errors.Is(err, ErrDeclined) {
			r.compiled, err = nil, nil
		}
	}
	if err != nil {
		d.abandon()
		return nil, err
	}
	return d.keep(), nil
}

func (d *Device) startRecording(inputs []Input) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer runtime.KeepAlive(inputs)
	if d.closed {
		return ErrClosed
	}
	if d.recorder != nil {
		return errors.New("gpu: a recording inside a recording")
	}
	r := &recorder{born: d.lastID, touched: map[Buffer]bool{}, seen: map[*entry]bool{}, wrote: map[*entry]bool{}}
	r.dev = d
	r.owner = Owner{Cell: d.cell, Op: "record", Role: Replaying}
	r.pool.init()
	d.recorder = r
	if err := r.begin(inputs); err != nil {
		d.abandon()
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// spans are where the inputs lie.
func (r *recorder) spans() (spans []Span) {
	for i := range r.fed {
		spans = append(spans, r.fed[i].span())
	}
	return spans
}

// refuse notes and returns what cannot be recorded.
func (r *recorder) refuse(format string, args ...any) error {
	err := &RecordError{fmt.Sprintf(format, args...)}
	if r.err == nil {
		r.err = err
	}
	return err
}

// add keeps a launch of its own.
func (r *recorder) add(l Launch) {
	l.Args = append([]Span(nil), l.Args...)
	params := reflect.New(reflect.TypeOf(l.Params).Elem())
	params.Elem().Set(reflect.ValueOf(l.Params).Elem())
	l.Params = params.Interface()
	r.launches = append(r.launches, l)
	r.counts[l.Kernel]++
	for _, a := range l.Args {
		r.touch(a.Buffer)
	}
}

// touch makes a buffer the recording's.
func (r *recorder) touch(b Buffer) {
	if !r.touched[b] {
		r.touched[b] = true
		r.buffers = append(r.buffers, b)
	}
}

// uses notes what a launch does with a storage, before its state moves.
func (r *recorder) uses(v View, acc Access) {
	e := v.Storage.e
	if v.keeps(acc) && !r.seen[e] && e.id <= r.born {
		r.inputs = append(r.inputs, v.Storage)
	}
	r.seen[e] = true
	if acc != In && !r.wrote[e] {
		r.wrote[e] = true
		r.written = append(r.written, e)
	}
}

// finish says whether the launches can be repeated.
func (r *recorder) finish() error {
	if r.err != nil {
		return r.err
	}
	for _, s := range r.inputs {
		if s.e.freed {
			return r.refuse("%s is used and then freed", s.e.owner)
		}
	}
	return nil
}

// abandon ends a recording of which nothing is kept.
func (d *Device) abandon() {
	r := d.recorder
	d.recorder = nil
	for _, l := range r.pool.free {
		for _, b := range l {
			d.retire(b)
		}
	}
}

// keep ends a recording that can be replayed.
func (d *Device) keep() *Recorded {
	rec := d.recorder
	d.recorder = nil
	r := &rec.recording
	d.lastID++
	r.id = d.lastID
	r.lastUse = d.clock
	for _, b := range r.buffers {
		if d.pins[b] == nil {
			d.pins[b] = &pin{}
		}
		d.pins[b].recordings++
	}
	for _, l := range rec.pool.free {
		for _, b := range l {
			d.pins[b].orphan = true
		}
	}
	d.recordings[r.id] = r
	handle := &Recorded{r}
	r.handle = weak.Make(handle)
	return handle
}

// Launches is the number of launches of a replay.
func (rec *Recorded) Launches() int { return len(rec.r.launches) }

// SetName sets the name that maps show the recording's own buffers under.
func (rec *Recorded) SetName(name string) {
	rec.r.dev.mu.Lock()
	defer rec.r.dev.mu.Unlock()
	rec.r.owner.Name = name
}

// Closed reports whether the recording was closed, by Close or with the backend
// that it was made on.
func (rec *Recorded) Closed() bool {
	rec.r.dev.mu.Lock()
	defer rec.r.dev.mu.Unlock()
	return rec.r.closed
}

// Close gives up the recording's buffers. A second Close does nothing.
func (rec *Recorded) Close() {
	d := rec.r.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closeRecording(rec.r)
}

func (d *Device) closeRecording(r *recording) {
	if r.closed {
		return
	}
	r.closed = true
	if r.compiled != nil {
		r.compiled.Close()
	}
	for _, b := range r.buffers {
		p := d.pins[b]
		p.recordings--
		if p.recordings == 0 {
			delete(d.pins, b)
			if p.orphan {
				d.give(b)
			}
		}
	}
	delete(d.recordings, r.id)
	r.inputs, r.fed, r.written, r.buffers, r.launches = nil, nil, nil, nil, nil
}

// recordingRows shows the buffers that only recordings hold, each once: under
// the oldest of its recordings, or under the one that is being made.
func (d *Device) recordingRows() []Row {
	var rs []*recording
	for _, r := range d.recordings {
		rs = append(rs, r)
	}
	sort.Slice(rs, func(i, j int) bool { return rs[i].id < rs[j].id })
	shown := map[Buffer]bool{}
	var rows []Row
	for _, r := range rs {
		row := Row{ID: r.id, Residency: OnDevice, Owner: r.owner, LastUse: r.lastUse}
		for _, b := range r.buffers {
			if d.pins[b].orphan && !shown[b] {
				shown[b] = true
				row.DeviceBytes += b.Bytes()
			}
		}
		row.Bytes = row.DeviceBytes
		rows = append(rows, row)
	}
	if d.recorder != nil {
		rows = append(rows, Row{ID: d.lastID + 1, Residency: OnDevice, Owner: d.recorder.owner, Bytes: d.recorder.pool.bytes, DeviceBytes: d.recorder.pool.bytes})
	}
	return rows
}
