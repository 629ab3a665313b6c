package gpu

import "sync"

// pool keeps freed device buffers by size. Training asks for the same sizes
// every step, so exact sizes, rounded up to poolGrain, are enough.
type pool struct {
	free  map[int64][]Buffer
	bytes int64
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

// trim gives every free buffer back to the backend.
func (p *pool) trim(b Backend) {
	for size, l := range p.free {
		for _, buf := range l {
			b.Free(buf)
		}
		delete(p.free, size)
	}
	p.bytes = 0
}

// deadQueue takes storages from the garbage collector's goroutine, which must
// not wait for the device.
type deadQueue struct {
	mu   sync.Mutex
	list []*entry
}

func (q *deadQueue) push(e *entry) {
	q.mu.Lock()
	q.list = append(q.list, e)
	q.mu.Unlock()
}

func (q *deadQueue) take() []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.list
	q.list = nil
	return l
}
