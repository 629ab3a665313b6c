package vulkan

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"gradbook/gpu"
)

const (
	ringBytes   = 16 << 20
	readerBytes = 16 << 20
	// directRead is what the host reads of device memory itself even where that
	// is slow for it: less than a copy's submission costs.
	directRead = 256
)

// ring is host memory through which uploads pass in order. head and tail count
// bytes since the start; what lies between is in use.
type ring struct {
	buffer     *buffer
	head, tail int64
}

func (r *ring) open(b *Backend) (err error) {
	r.buffer, err = b.alloc(b.stage, ringBytes)
	return err
}

// take finds room for up to n bytes, at least one, and returns where and how
// many.
func (b *Backend) ringTake(n int64) (at, size int64, err error) {
	r := &b.ring
	for r.head-r.tail == ringBytes {
		// All of it is in use: by the batch being recorded, or before.
		if len(b.flight) == 0 {
			err = b.submit()
		} else {
			err = b.retireOldest()
		}
		if err != nil {
			return 0, 0, err
		}
	}
	at = r.head % ringBytes
	size = min(n, ringBytes-at, ringBytes-(r.head-r.tail))
	// So that most copies start where memory is moved fastest.
	r.head += (size + 63) / 64 * 64
	return at, size, nil
}

// Upload copies src into dst after everything launched before it. Where the
// host sees the buffer and nothing uses it, that is a plain copy.
func (b *Backend) Upload(dst gpu.Span, src []byte) error {
	if b.lost != nil {
		return b.lost
	}
	m, err := b.own(dst)
	if err != nil {
		return err
	}
	if int64(len(src)) > dst.Bytes {
		return fmt.Errorf("upload of %d bytes into a span of %d", len(src), dst.Bytes)
	}
	if err := b.poll(); err != nil {
		return err
	}
	if host := m.host(dst.Offset, int64(len(src))); host != nil && m.used <= b.done {
		copy(host, src)
		return nil
	}
	for at := int64(0); at < int64(len(src)); {
		if err := b.begin(1); err != nil {
			return err
		}
		from, n, err := b.ringTake(int64(len(src)) - at)
		if err != nil {
			return err
		}
		// Taking room may have submitted the batch.
		if err := b.begin(1); err != nil {
			return err
		}
		copy(b.ring.buffer.host(from, n), src[at:at+n])
		b.copy(b.ring.buffer, from, m, dst.Offset+at, n)
		at += n
	}
	return nil
}

// copy records a copy to or from staging memory, which its user orders.
func (b *Backend) copy(src *buffer, srcAt int64, dst *buffer, dstAt, n int64) {
	m, acc := dst, gpu.Out
	if src.block.kind == b.local && dst == b.reader {
		m, acc = src, gpu.In
	}
	if b.order(m, acc) {
		b.barrier(b.current)
	}
	b.stamp(b.current)
	b.current.shares = false
	C.gb_copy(b.calls, b.current.commands, unsafe.Pointer(src.block.buffer), C.uint64_t(src.at+srcAt),
		unsafe.Pointer(dst.block.buffer), C.uint64_t(dst.at+dstAt), C.uint64_t(n))
	b.current.marks = append(b.current.marks, mark{kernel: gpu.NumKernels, stamp: b.current.stamps - 1})
	b.touched(m, acc)
}

// Download copies src into dst after everything launched before it, and waits.
func (b *Backend) Download(dst []byte, src gpu.Span) error {
	if b.lost != nil {
		return b.lost
	}
	m, err := b.own(src)
	if err != nil {
		return err
	}
	if int64(len(dst)) > src.Bytes {
		return fmt.Errorf("download of %d bytes from a span of %d", len(dst), src.Bytes)
	}
	if host := m.host(src.Offset, int64(len(dst))); host != nil && (m.block.kind.cached || len(dst) <= directRead) {
		if err := b.waitFor(m.used); err != nil {
			return err
		}
		copy(dst, host)
		return nil
	}
	if b.reader == nil {
		if b.reader, err = b.alloc(b.readback, readerBytes); err != nil {
			return fmt.Errorf("memory to download through: %w", err)
		}
	}
	for at := int64(0); at < int64(len(dst)); {
		n := min(int64(len(dst))-at, readerBytes)
		if err := b.begin(1); err != nil {
			return err
		}
		b.copy(m, src.Offset+at, b.reader, 0, n)
		if err := b.waitFor(b.serial); err != nil {
			return err
		}
		copy(dst[at:at+n], b.reader.host(0, n))
		at += n
	}
	return nil
}
