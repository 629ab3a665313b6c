package gpu

import (
	"errors"
	"time"
)

// Sync waits until everything launched has run.
func (d *Device) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	d.count.Reads++
	return d.backend.Sync()
}

// Interrupt makes every Run and Replay fail with an InterruptedError until
// Resume.
func (d *Device) Interrupt() { d.stop.Store(true) }

// Resume ends an Interrupt.
func (d *Device) Resume() { d.stop.Store(false) }

// Interrupted reports whether an Interrupt is in force.
func (d *Device) Interrupted() bool { return d.stop.Load() }

// Shield runs f, work that interrupts must not divide, such as an optimizer
// step: they wait until it is done. The storages that f is said to use are
// first brought to the device, where they stay until then; an error of that is
// returned before f has begun.
func (d *Device) Shield(f func(), storages ...*Storage) error {
	if err := d.fortify(storages); err != nil {
		return err
	}
	defer d.relax(storages)
	f()
	return nil
}

func (d *Device) fortify(storages []*Storage) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock++
	for _, s := range storages {
		if err := d.usable(s.e); err != nil {
			return err
		}
		s.e.lastUse = d.clock
	}
	for _, s := range storages {
		if s.e.state != None {
			if err := d.ready(s.All(), In); err != nil {
				return err
			}
		}
	}
	for _, s := range storages {
		s.e.holds++
	}
	d.shield++
	return nil
}

func (d *Device) relax(storages []*Storage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range storages {
		s.e.holds--
	}
	d.shield--
}

// ResetPeak starts the measurement of PeakBytes anew.
func (d *Device) ResetPeak() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drain()
	d.count.PeakBytes = d.inUse
}

// Counters returns the totals so far.
func (d *Device) Counters() Counters {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// Snapshot returns the state of the device.
func (d *Device) Snapshot() Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.totals()
	s.Rows = d.rows()
	if !d.closed {
		checkBooks(&s)
	}
	return s
}

// Totals is Snapshot without Rows, whose cost grows with the live storages.
func (d *Device) Totals() Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.totals()
}

func (d *Device) totals() Snapshot {
	d.drain()
	s := Snapshot{Info: d.info, Time: time.Now(), InUse: d.inUse, PoolBytes: d.pool.bytes,
		Held: d.inUse + d.pool.bytes, Counters: d.count}
	if !d.closed {
		s.Backend = d.backend.Stats()
	}
	return s
}

// Close frees every storage and recording and closes the backend. Storages
// that are still reachable answer ErrClosed.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	if d.recorder != nil {
		return errors.New("gpu: device closed while a step is recorded")
	}
	for _, r := range d.recordings {
		d.closeRecording(r)
	}
	for _, e := range d.entries {
		d.drop(e)
	}
	d.trim()
	d.closed = true
	d.cycle.closed.Store(true)
	return d.backend.Close()
}
