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

// Shield runs f, work that must be done whole or not at all, as an optimizer
// step is. It first brings the storages to the device, where they then stay
// until f is done: an error of that is returned before f has begun. Interrupts
// wait. A launch, an upload or an allocation that fails is tried once more; if
// that goes well so does f, and Shield returns the failure afterwards.
func (d *Device) Shield(f func(), storages ...*Storage) error {
	if err := d.fortify(storages); err != nil {
		return err
	}
	defer d.relax(storages)
	f()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shield > 1 {
		return nil // the outermost Shield tells
	}
	err := d.fault
	d.fault = nil
	return err
}

func (d *Device) fortify(storages []*Storage) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
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
	if d.shield == 0 {
		d.fault = nil
	}
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
	d.drain()
	s := Snapshot{Info: d.info, Time: time.Now(), InUse: d.inUse, PoolBytes: d.pool.bytes,
		Held: d.inUse + d.pool.bytes, Counters: d.count, Rows: d.rows()}
	if !d.closed {
		s.Backend = d.backend.Stats()
		checkBooks(&s)
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
