package gpu

import (
	"errors"
	"sort"
)

// Reopen goes on with backend b in the place of one that was lost, and closes
// that one. Storages whose bytes the host has as well go on as they are.
// Those that only the device had are lost until something is written to them;
// they are returned, the largest first. Recordings are closed, and random
// numbers start from the seed again.
func (d *Device) Reopen(b Backend) (lost []Row, err error) {
	d.random.mu.Lock()
	d.random.state = nil
	d.random.mu.Unlock()
	d.one.mu.Lock()
	clear(d.one.values[:])
	d.one.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, ErrClosed
	}
	if d.recorder != nil {
		return nil, errors.New("gpu: device opened anew while a step is recorded")
	}
	d.drain()
	for _, r := range d.recordings {
		d.closeRecording(r)
	}
	for _, r := range d.rows() {
		e := d.entries[r.ID]
		if e == nil { // a recording's row
			continue
		}
		e.buf = nil
		switch e.state {
		case OnDevice:
			// The one way back to None, which move does not know.
			e.state, e.lost = None, true
			lost = append(lost, r)
		case Both:
			d.move(e, OnHost)
		}
	}
	sort.SliceStable(lost, func(i, j int) bool { return lost[i].Bytes > lost[j].Bytes })
	// The buffers are the lost backend's: its Close frees them.
	clear(d.pool.free)
	d.pool.bytes, d.inUse = 0, 0
	clear(d.pins)
	old := d.backend
	d.backend, d.info = b, b.Info()
	d.stop.Store(false)
	return lost, old.Close()
}
