// Package atomic stands for the generic types of sync/atomic.
package atomic

import "sync"

// Pointer is an atomic pointer. A mutex takes the place of the processor's instructions.
type Pointer[T any] struct {
	mu sync.Mutex
	p  *T
}

// Load returns the pointer.
func (x *Pointer[T]) Load() *T {
	x.mu.Lock()
	p := x.p
	x.mu.Unlock()
	return p
}

// Store sets the pointer.
func (x *Pointer[T]) Store(val *T) {
	x.mu.Lock()
	x.p = val
	x.mu.Unlock()
}

// Swap sets the pointer and returns what it was.
func (x *Pointer[T]) Swap(val *T) *T {
	x.mu.Lock()
	old := x.p
	x.p = val
	x.mu.Unlock()
	return old
}

// CompareAndSwap sets the pointer if it is old.
func (x *Pointer[T]) CompareAndSwap(old, val *T) bool {
	x.mu.Lock()
	same := x.p == old
	if same {
		x.p = val
	}
	x.mu.Unlock()
	return same
}
