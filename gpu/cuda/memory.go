//go:build cuda && linux && amd64

package cuda

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"gradbook/gpu"
	"gradbook/gpu/cuda/driver"
)

type buffer struct {
	address cu.DevicePtr
	bytes   int64
}

func (b *buffer) Bytes() int64 { return b.bytes }

func address(s gpu.Span) cu.DevicePtr {
	return s.Buffer.(*buffer).address + cu.DevicePtr(s.Offset)
}

func (b *backend) Alloc(bytes int64) (gpu.Buffer, error) {
	if b.lost != nil {
		return nil, b.lost
	}
	p, err := b.allocate(max(bytes, 1))
	if err != nil {
		return nil, b.fault(err)
	}
	b.held += bytes
	b.buffers++
	return &buffer{p, bytes}, nil
}

func (b *backend) allocate(bytes int64) (cu.DevicePtr, error) {
	leave, err := b.enter()
	if err != nil {
		return 0, err
	}
	defer leave()
	p, err := cu.MemAlloc(bytes)
	if err == nil {
		return p, nil
	}
	err = driver.ResultOf(err)
	if errors.Is(err, driver.OutOfMemory) {
		return 0, fmt.Errorf("%w: %w", gpu.ErrOutOfMemory, err)
	}
	return 0, err
}

// Free waits for the stream: the driver promises nothing about memory that
// running kernels use. The pool above asks for it only when memory is short.
func (b *backend) Free(buf gpu.Buffer) {
	f := buf.(*buffer)
	b.held -= f.bytes
	b.buffers--
	b.release(f.address)
}

func (b *backend) release(p cu.DevicePtr) {
	// A lost context keeps its memory until it is destroyed.
	if b.Sync() != nil {
		return
	}
	if leave, err := b.enter(); err == nil {
		cu.MemFree(p)
		leave()
	}
}

func (b *backend) Upload(dst gpu.Span, src []byte) error {
	if b.lost != nil {
		return b.lost
	}
	to := address(dst)
	for len(src) > 0 {
		room, err := b.up.next(len(src))
		if err != nil {
			return b.fault(err)
		}
		n := copy(room, src)
		if err := b.queue.Upload(to, room[:n]); err != nil {
			return b.fault(err)
		}
		to += cu.DevicePtr(n)
		src = src[n:]
	}
	return nil
}

// Download copies through both halves of the staging memory: one is read here
// while the device fills the other.
func (b *backend) Download(dst []byte, src gpu.Span) error {
	if b.lost != nil {
		return b.lost
	}
	from := address(src)
	var room, into []byte // of the copy that was started last
	for half := 0; len(dst) > 0 || into != nil; half ^= 1 {
		var nextRoom, nextInto []byte
		if n := min(len(dst), halfBytes); n > 0 {
			nextInto, dst = dst[:n], dst[n:]
			nextRoom = b.down.memory[half][:n]
			if err := b.queue.Download(nextRoom, from); err != nil {
				return b.fault(err)
			}
			if err := b.down.mark(half); err != nil {
				return b.fault(err)
			}
			from += cu.DevicePtr(n)
		}
		if into != nil {
			if err := b.down.settle(half ^ 1); err != nil {
				return b.fault(err)
			}
			copy(into, room)
		}
		room, into = nextRoom, nextInto
	}
	b.trail.clear()
	return nil
}
