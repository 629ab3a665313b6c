package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"sort"
	"time"
)

// pressure makes Go's collector feel device memory: it collects when the
// device bytes handed out since the last collection pass a budget.
type pressure struct {
	since int64 // device bytes handed out since the last collection
	floor int64
}

// collectFloor is the least budget, in bytes: below it a collection costs more
// than the memory is worth.
const collectFloor = 256 << 20

func (p *pressure) init() { p.floor = collectFloor }

// SetCollectBudget sets the least number of device bytes that are handed out
// between two collections. The budget grows to the bytes in use when those are
// more.
func (d *Device) SetCollectBudget(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pressure.floor = bytes
}

// take returns a buffer from the pool or the backend. When memory is short it
// gives back the pool, collects garbage, and spills what the host has a copy
// of, in this order.
func (d *Device) take(bytes int64) (Buffer, error) {
	size := grain(bytes)
	d.pressure.since += size
	if d.pressure.since > max(d.pressure.floor, d.inUse) {
		d.collect()
	} else {
		d.drain()
	}
	if b := d.pool.get(size); b != nil {
		d.count.Reuses++
		return b, nil
	}
	b, err := d.alloc(size)
	if err == nil || !errors.Is(err, ErrOutOfMemory) {
		return b, err
	}
	relief := []func() bool{
		func() bool { had := d.pool.bytes > 0; d.pool.trim(d.backend); return had },
		func() bool { d.collect(); had := d.pool.bytes > 0; d.pool.trim(d.backend); return had },
	}
	for _, r := range relief {
		if r() {
			if b, err := d.alloc(size); err == nil {
				return b, nil
			}
		}
	}
	for _, e := range d.spillable() {
		d.spill(e)
		d.count.Spills++
		d.pool.trim(d.backend)
		if b, err := d.alloc(size); err == nil {
			return b, nil
		}
	}
	return nil, d.outOfMemory(size)
}

func (d *Device) alloc(size int64) (Buffer, error) {
	b, err := d.backend.Alloc(size)
	if err != nil {
		if errors.Is(err, ErrOutOfMemory) {
			return nil, err
		}
		return nil, fmt.Errorf("allocation of %v: %w", Bytes(size), err)
	}
	d.count.Allocs++
	return b, nil
}

// spillable lists entries whose host copy can stand in, oldest use first,
// without those of the current launch.
func (d *Device) spillable() []*entry {
	var l []*entry
	for _, e := range d.entries {
		if e.buf != nil && (e.state == Both || e.state == OnHost) && e.lastUse < d.clock {
			l = append(l, e)
		}
	}
	sort.Slice(l, func(i, j int) bool { return l[i].lastUse < l[j].lastUse })
	return l
}

func (d *Device) outOfMemory(size int64) error {
	rows := d.rows()
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].DeviceBytes > rows[j].DeviceBytes })
	n := 0
	for n < len(rows) && n < 5 && rows[n].DeviceBytes > 0 {
		n++
	}
	return &OutOfMemoryError{Device: d.info.Name, Want: size, Held: d.inUse + d.pool.bytes, Largest: rows[:n]}
}

// Collect runs Go's collector and frees the storages it finds unreachable.
func (d *Device) Collect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.collect()
}

// collect waits for the cleanups of storages that died: the runtime runs them
// on a goroutine of its own after the collection. It asks for a collection and
// for a cleanup of an object that dies in it; when that one has run, so have,
// nearly always, those queued before it.
func (d *Device) collect() {
	d.count.Collects++
	d.pressure.since = 0
	done := make(chan struct{})
	sentinel := new([16]byte)
	runtime.AddCleanup(sentinel, func(c chan struct{}) { close(c) }, done)
	sentinel = nil
	runtime.GC()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
	d.drain()
}

// Trim gives the pool's free buffers back to the backend.
func (d *Device) Trim() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drain()
	d.pool.trim(d.backend)
}
