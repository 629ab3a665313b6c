package gpu

import (
	"maps"
	"slices"
)

// pool keeps freed device buffers by size. Training asks for the same sizes
// every step, so exact sizes, rounded up to poolGrain, are enough.
type pool struct {
	free  map[int64][]Buffer
	bytes int64
	off   bool
}

// poolGrain is in bytes: a whole number of every device's alignment.
const poolGrain = 256

func (p *pool) init() { p.free = map[int64][]Buffer{} }

func grain(bytes int64) int64 {
	return max(poolGrain, (bytes+poolGrain-1)/poolGrain*poolGrain)
}

func (p *pool) get(size int64) Buffer {
	l := p.free[size]
	if len(l) == 0 {
		return nil
	}
	b := l[len(l)-1]
	l[len(l)-1] = nil
	p.free[size] = l[:len(l)-1]
	p.bytes -= size
	return b
}

func (p *pool) put(b Buffer) {
	size := b.Bytes()
	p.free[size] = append(p.free[size], b)
	p.bytes += size
}

// SetReuse says whether freed buffers are kept for reuse, as they are from the
// start. Without, every allocation is the backend's.
func (d *Device) SetReuse(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pool.off = !on
	if !on {
		d.trim()
	}
}

// Trim gives the pool's free buffers back to the backend.
func (d *Device) Trim() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drain()
	d.trim()
}

func (d *Device) trim() {
	for _, size := range slices.Sorted(maps.Keys(d.pool.free)) {
		for _, b := range d.pool.free[size] {
			d.free(b)
		}
	}
	clear(d.pool.free)
	d.pool.bytes = 0
}

func (d *Device) free(b Buffer) {
	d.backend.Free(b)
	if d.observers != nil {
		d.emit(Event{Kind: Freed, Span: Span{b, 0, b.Bytes()}})
	}
}

// give takes a buffer out of use. One that a recording knows stays with the
// recording.
func (d *Device) give(b Buffer) {
	if p := d.pins[b]; p != nil {
		p.orphan = true
		return
	}
	if d.recorder != nil && d.recorder.touched[b] {
		d.recorder.pool.put(b)
		return
	}
	d.retire(b)
}

// retire takes a buffer out of use that no recording knows.
func (d *Device) retire(b Buffer) {
	d.inUse -= b.Bytes()
	if d.pool.off {
		d.free(b)
	} else {
		d.pool.put(b)
	}
}
