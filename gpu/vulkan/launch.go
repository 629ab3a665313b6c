package vulkan

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"gradbook/gpu"
	"gradbook/gpu/kernels"
)

// Launch records a kernel's dispatches. They are submitted with others: when
// enough have gathered, sooner for a device that is idle, at once when the host
// wants to read.
func (b *Backend) Launch(l gpu.Launch) error {
	if b.lost != nil {
		return b.lost
	}
	if err := b.prepare(&b.plan, &l); err != nil || b.plan.N == 0 {
		return err
	}
	if b.plan.Scratch > 0 && (b.scratch == nil || b.scratch.bytes < b.plan.Scratch) {
		if err := b.growScratch(b.plan.Scratch); err != nil {
			return err
		}
	}
	if err := b.begin(1); err != nil {
		return err
	}
	if err := b.record(b.current, &l, b.scratch); err != nil {
		return err
	}
	if n := len(b.current.marks); n >= marks {
		return b.submit()
	} else if n%eager == 0 {
		if err := b.poll(); err != nil {
			return err
		}
		if len(b.flight) == 0 {
			return b.submit()
		}
	}
	return nil
}

func (b *Backend) growScratch(bytes int64) error {
	size := int64(1 << 20)
	for size < bytes {
		size *= 2
	}
	m, err := b.alloc(b.local, size)
	if err != nil {
		return fmt.Errorf("scratch memory of %s: %w", gpu.Bytes(size), err)
	}
	if b.scratch != nil {
		b.free(b.scratch)
	}
	b.scratch = m
	return nil
}

// prepare plans a launch and makes its pipelines: all that may fail, before
// anything is recorded.
func (b *Backend) prepare(p *kernels.Plan, l *gpu.Launch) error {
	if !b.info.Float64 && (l.DType == gpu.Float64 || fromFloat64(l)) {
		return gpu.ErrDeclined
	}
	var addrs [8]uint64
	for i, a := range l.Args {
		m, err := b.own(a)
		if err != nil {
			return fmt.Errorf("argument %s: %w", l.Kernel.Info().Args[i].Name, err)
		}
		addrs[i] = m.address() + uint64(a.Offset)
	}
	if err := p.Make(l, addrs[:len(l.Args)], b.limits); err != nil {
		return err
	}
	for i := range p.N {
		s := &p.Steps[i]
		if _, err := b.pipelines.get(b, s.Code, l.DType, s.Op); err != nil {
			return err
		}
	}
	return nil
}

func fromFloat64(l *gpu.Launch) bool {
	c, ok := l.Params.(*gpu.CastParams)
	return ok && gpu.DType(c.From) == gpu.Float64
}

// own checks that a span lies in a live buffer of this backend.
func (b *Backend) own(s gpu.Span) (*buffer, error) {
	m, ok := s.Buffer.(*buffer)
	if !ok {
		return nil, fmt.Errorf("a buffer of type %T, which is not of this device", s.Buffer)
	}
	if m.freed {
		return nil, gpu.ErrFreed
	}
	if s.Offset < 0 || s.Bytes < 0 || s.Offset+s.Bytes > m.bytes {
		return nil, fmt.Errorf("bytes %d to %d of a buffer of %d", s.Offset, s.Offset+s.Bytes, m.bytes)
	}
	return m, nil
}

// record writes the planned dispatches into a batch.
func (b *Backend) record(t *batch, l *gpu.Launch, scratch *buffer) error {
	args := l.Kernel.Info().Args
	hazard := false
	for i, a := range l.Args {
		hazard = b.order(a.Buffer.(*buffer), args[i].Access) || hazard
	}
	var scratchAddr uint64
	if b.plan.Scratch > 0 {
		hazard = b.order(scratch, gpu.Out) || hazard
		scratchAddr = scratch.address()
	}
	small := b.small(l)
	stamp := hazard || !small || !t.shares
	t.shares = small
	for i := range b.plan.N {
		barrier := hazard || i > 0
		if barrier {
			b.epoch++
		}
		if err := b.dispatch(t, &b.plan, i, l.DType, scratchAddr, barrier, stamp && i == 0); err != nil {
			return err
		}
	}
	t.marks = append(t.marks, mark{l.Kernel, l.DType, t.stamps - 1})
	for i, a := range l.Args {
		b.touched(a.Buffer.(*buffer), args[i].Access)
	}
	if b.plan.Scratch > 0 {
		b.touched(scratch, gpu.InOut)
	}
	return nil
}

// dispatch writes one step of a plan into a batch, after a barrier and a
// timestamp where they are wanted.
func (b *Backend) dispatch(t *batch, p *kernels.Plan, i int, dtype gpu.DType, scratch uint64, barrier, stamp bool) error {
	s := &p.Steps[i]
	n, err := p.Pack(i, unsafe.Slice((*byte)(b.block), gpu.MaxBlock), scratch)
	if err != nil {
		return err
	}
	pipeline, err := b.pipelines.get(b, s.Code, dtype, s.Op)
	if err != nil {
		return err
	}
	bind := pipeline
	if t.bound == pipeline {
		bind = nil
	}
	t.bound = pipeline
	first := C.int(0)
	if barrier {
		first = 1
	}
	queries := unsafe.Pointer(t.queries)
	if !stamp {
		queries = nil
	}
	C.gb_dispatch(b.calls, t.commands, first, bind, unsafe.Pointer(b.pipelines.layout), b.block, C.uint32_t(n),
		C.uint32_t(s.Grid[0]), C.uint32_t(s.Grid[1]), C.uint32_t(s.Grid[2]), queries, C.uint32_t(t.stamps))
	if queries != nil {
		t.stamps++
	}
	return nil
}
