//go:build cuda && linux && amd64

package cuda

import (
	"fmt"

	"gorgonia.org/cu"

	"gradbook/gpu/cuda/driver"
)

// halfBytes is half of a staging area. Go's memory is pageable, and the driver
// copies pageable memory through pinned memory of its own, but then waits.
const halfBytes = 4 << 20

// staging is pinned memory in two halves, one of which the host works on while
// the device copies the other.
type staging struct {
	b      *backend
	memory [2][]byte
	copied [2]cu.Event // recorded behind the last copy of a half
	marked [2]bool
	half   int // that next hands out from
	used   int // of it, in bytes
}

func (s *staging) init(b *backend) (err error) {
	s.b = b
	for h := range s.memory {
		if s.memory[h], err = b.queue.Pinned(halfBytes); err != nil {
			return fmt.Errorf("no pinned memory: %w", err)
		}
		if s.copied[h], err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return fmt.Errorf("no event: %w", driver.ResultOf(err))
		}
	}
	return nil
}

// next returns up to n bytes for an upload, whose earlier content has been
// copied.
func (s *staging) next(n int) ([]byte, error) {
	if s.used >= halfBytes {
		if err := s.mark(s.half); err != nil {
			return nil, err
		}
		s.half ^= 1
		s.used = 0
		if err := s.settle(s.half); err != nil {
			return nil, err
		}
	}
	room := s.memory[s.half][s.used:]
	n = min(n, len(room))
	s.used += (n + 63) &^ 63 // the copy engine likes whole cache lines
	return room[:n], nil
}

// mark remembers that a half is free when what was given to the stream so far
// has run.
func (s *staging) mark(half int) error {
	leave, err := s.b.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := s.copied[half].Record(s.b.stream); err != nil {
		return driver.ResultOf(err)
	}
	s.marked[half] = true
	return nil
}

// settle waits until a half is free.
func (s *staging) settle(half int) error {
	if !s.marked[half] {
		return nil
	}
	leave, err := s.b.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := s.copied[half].Synchronize(); err != nil {
		return driver.ResultOf(err)
	}
	s.marked[half] = false
	return nil
}

func (s *staging) close() {
	for h := range s.memory {
		if s.memory[h] != nil {
			s.b.queue.Unpin(s.memory[h])
		}
		if s.copied[h] != (cu.Event{}) {
			cu.DestroyEvent(&s.copied[h])
		}
	}
}
