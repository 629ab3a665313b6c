package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"sort"
	"sync/atomic"
)

// pressure makes Go's collector feel device memory: it collects when the
// device bytes that storages took and did not give back by Free, since the
// last collection, pass a budget.
type pressure struct {
	since int64
	floor int64
	left  int64 // bytes in use after the last collection
}

// collectFloor is the least budget, in bytes: below it a collection costs more
// than the memory is worth.
const collectFloor = 256 << 20

func (p *pressure) init() { p.floor = collectFloor }

// SetCollectBudget sets the least number of device bytes that storages take
// between two collections. The budget is the bytes that the last collection
// left in use when those are more. A pool that outgrows both the least budget
// and what is in use is given back.
func (d *Device) SetCollectBudget(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pressure.floor = bytes
}

// feel books bytes that a storage is about to take.
func (d *Device) feel(bytes int64) {
	d.pressure.since += bytes
	if d.pressure.since > max(d.pressure.floor, d.pressure.left) {
		d.collect()
	}
}

// take returns a buffer from the pool or the backend. When memory is short it
// gives back the pool, collects garbage, and spills what the host has a copy
// of, in this order.
func (d *Device) take(bytes int64) (Buffer, error) {
	if d.recorder != nil {
		if b := d.recorder.pool.get(grain(bytes)); b != nil {
			d.count.Reuses++
			return b, nil // in use by the recording all along
		}
	}
	return d.takeOutside(bytes)
}

// takeOutside is take without the buffers that a recording reuses: what keeps
// its content from replay to replay must not share one.
func (d *Device) takeOutside(bytes int64) (Buffer, error) {
	size := grain(bytes)
	d.drain()
	b := d.pool.get(size)
	if b != nil {
		d.count.Reuses++
	} else {
		var err error
		if b, err = d.find(size); err != nil {
			return nil, err
		}
	}
	d.inUse += size
	d.count.PeakBytes = max(d.count.PeakBytes, d.inUse)
	return b, nil
}

// find gets a buffer out of the backend.
func (d *Device) find(size int64) (Buffer, error) {
	if d.info.MemoryBytes > 0 && size > d.info.MemoryBytes {
		return nil, d.outOfMemory(size) // no relief will help
	}
	if d.pool.bytes > max(d.pressure.floor, d.inUse) {
		d.trim() // full of sizes that nobody asks for any more
	}
	b, err := d.alloc(size)
	if err == nil || !errors.Is(err, ErrOutOfMemory) {
		return b, err
	}
	for _, relieve := range []func(){func() {}, d.collect} {
		relieve()
		if d.pool.bytes > 0 {
			d.trim()
			if b, err := d.alloc(size); err == nil {
				return b, nil
			}
		}
	}
	for _, e := range d.spillable() {
		d.spill(e)
		d.count.Spills++
		d.trim()
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
	if d.observers != nil {
		d.emit(Event{Kind: Allocated, Span: Span{b, 0, size}})
	}
	return b, nil
}

// spillable lists entries whose host copy can stand in, oldest use first,
// without those of the current launch and those that must stay where they are.
func (d *Device) spillable() []*entry {
	var l []*entry
	for _, e := range d.entries {
		if e.spillable() && e.lastUse < d.clock && !d.pinned(e.buf) {
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

func (d *Device) collect() {
	d.count.Collects++
	runtime.GC()
	d.cycle.ended.Store(false)
	d.sweep()
	d.pressure.since, d.pressure.left = 0, d.inUse
}

// cycle tells that Go's collector has ended a cycle since somebody asked last.
type cycle struct {
	ended, closed atomic.Bool
}

// watch waits for the next cycle: the one in which a sentinel dies.
func (c *cycle) watch() {
	sentinel := new([64]byte)
	runtime.AddCleanup(sentinel, func(c *cycle) {
		c.ended.Store(true)
		if !c.closed.Load() {
			c.watch()
		}
	}, c)
}

// drain ends what the collector found unreachable, if it has run.
func (d *Device) drain() {
	if d.cycle.ended.Load() && d.cycle.ended.Swap(false) {
		d.sweep()
	}
}

// sweep looks for storages and recordings whose handles are gone. A weak
// pointer tells as soon as a cycle is done, where a cleanup for each storage
// would run some time later, and cost a microsecond to set up.
func (d *Device) sweep() {
	for _, r := range d.recordings {
		if r.handle.Value() == nil {
			d.closeRecording(r)
		}
	}
	for _, e := range d.entries {
		if e.handle.Value() == nil {
			d.drop(e)
		}
	}
}
