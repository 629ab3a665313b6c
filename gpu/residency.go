package gpu

import (
	"fmt"
	"sort"
)

func (d *Device) usable(e *entry) error {
	switch {
	case e.dev != d:
		return fmt.Errorf("storage is on %s, not on %s", e.dev, d)
	case d.closed:
		return ErrClosed
	case e.freed:
		return fmt.Errorf("%w (%s)", ErrFreed, e.owner)
	}
	return nil
}

// move is the only place where residency changes.
func (d *Device) move(e *entry, to Residency) {
	checkMove(e, to)
	if to == OnDevice {
		e.host = nil
	}
	e.state = to
	e.lost = false
}

// missing says why there is no content.
func (e *entry) missing() error {
	if e.lost {
		return fmt.Errorf("%w, and its content with it (%s)", ErrLost, e.owner)
	}
	return fmt.Errorf("nothing was written to it yet (%s)", e.owner)
}

// spillable reports that the host copy can stand in for the device's.
func (e *entry) spillable() bool {
	return e.buf != nil && e.holds == 0 && (e.state == Both || e.state == OnHost)
}

// pinned reports that a recording knows a buffer by its address.
func (d *Device) pinned(b Buffer) bool {
	return d.pins[b] != nil || d.recorder != nil && d.recorder.touched[b]
}

// spill drops a device copy that the host copy can stand in for.
func (d *Device) spill(e *entry) {
	if d.observers != nil {
		d.emit(Event{Kind: Spilled, Span: Span{e.buf, 0, e.bytes}})
	}
	d.release(e)
	d.move(e, OnHost)
}

// release gives up an entry's device buffer.
func (d *Device) release(e *entry) {
	if e.buf != nil {
		d.give(e.buf)
		e.buf = nil
	}
}

// drop ends an entry.
func (d *Device) drop(e *entry) {
	if e.freed {
		return
	}
	e.freed = true
	d.release(e)
	e.host = nil
	e.state = None
	delete(d.entries, e.id)
}

func (d *Device) rows() []Row {
	rows := make([]Row, 0, len(d.entries))
	for _, e := range d.entries {
		r := Row{ID: e.id, Bytes: e.bytes, HostBytes: int64(len(e.host)), Residency: e.state, Owner: e.owner, LastUse: e.lastUse}
		if e.buf != nil {
			r.DeviceBytes = e.buf.Bytes()
		}
		rows = append(rows, r)
	}
	rows = append(rows, d.recordingRows()...)
	sort.Slice(rows, func(i, j int) bool { return rows[i].ID < rows[j].ID })
	return rows
}
