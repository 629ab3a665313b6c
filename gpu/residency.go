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
}

// spill drops a device copy that the host copy can stand in for.
func (d *Device) spill(e *entry) bool {
	if e.buf == nil || (e.state != Both && e.state != OnHost) {
		return false
	}
	d.release(e)
	d.move(e, OnHost)
	return true
}

// release returns an entry's device buffer to the pool.
func (d *Device) release(e *entry) {
	if e.buf == nil {
		return
	}
	d.inUse -= e.buf.Bytes()
	d.pool.put(e.buf)
	e.buf = nil
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

func (d *Device) used(bytes int64) {
	d.inUse += bytes
	d.count.PeakBytes = max(d.count.PeakBytes, d.inUse)
}

// drain drops the storages that Go found unreachable.
func (d *Device) drain() {
	for _, e := range d.dead.take() {
		d.drop(e)
	}
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
	sort.Slice(rows, func(i, j int) bool { return rows[i].ID < rows[j].ID })
	return rows
}
