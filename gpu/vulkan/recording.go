package vulkan

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"slices"

	"gradbook/gpu"
)

// recording is a list of launches in command buffers of its own. There are two,
// so that one can be submitted while the other runs; a third replay waits.
type recording struct {
	b       *Backend
	slots   [2]*batch
	next    int
	scratch *buffer
	buffers []*buffer
}

// Record writes the launches into command buffers that Replay submits whole.
func (b *Backend) Record(launches []gpu.Launch, _ []gpu.Span) (gpu.Recording, error) {
	if b.lost != nil {
		return nil, b.lost
	}
	r := &recording{b: b}
	scratch := int64(0)
	for i := range launches {
		l := &launches[i]
		if err := b.prepare(l); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Kernel, err)
		}
		scratch = max(scratch, b.plan.Scratch)
		for _, a := range l.Args {
			if m := a.Buffer.(*buffer); !slices.Contains(r.buffers, m) {
				r.buffers = append(r.buffers, m)
			}
		}
	}
	if scratch > 0 {
		m, err := b.alloc(b.local, scratch)
		if err != nil {
			return nil, fmt.Errorf("scratch memory of %s: %w", gpu.Bytes(scratch), err)
		}
		r.scratch = m
		r.buffers = append(r.buffers, m)
	}
	used := make([]uint64, len(r.buffers))
	for i, m := range r.buffers {
		used[i] = m.used
	}
	defer func() { // nothing was submitted
		for i, m := range r.buffers {
			m.used = used[i]
		}
	}()
	for i := range r.slots {
		t, err := b.recordAll(launches, r.scratch)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.slots[i] = t
	}
	return r, nil
}

func (b *Backend) recordAll(launches []gpu.Launch, scratch *buffer) (*batch, error) {
	t, err := b.newBatch(len(launches) + 1)
	if err != nil {
		return nil, err
	}
	t.keep = true
	err = b.open(t, len(launches)+1)
	for i := range launches {
		if err == nil {
			err = b.prepare(&launches[i])
		}
		if err == nil {
			err = b.record(t, &launches[i], scratch)
		}
	}
	if err == nil {
		err = b.shut(t)
	}
	if err != nil {
		b.dropBatch(t)
		return nil, err
	}
	return t, nil
}

// Replay submits the launches after everything launched before. Their buffers'
// addresses are part of the command buffers, so it does not fill inputs.
func (r *recording) Replay(sources []gpu.Span) error {
	b := r.b
	if b.lost != nil {
		return b.lost
	}
	if slices.ContainsFunc(sources, func(s gpu.Span) bool { return s.Buffer != nil }) {
		return gpu.ErrDeclined
	}
	if err := b.submit(); err != nil {
		return err
	}
	t := r.slots[r.next]
	r.next = 1 - r.next
	for slices.Contains(b.flight, t) {
		if err := b.retireOldest(); err != nil {
			return err
		}
	}
	for _, m := range r.buffers {
		m.used = b.serial
	}
	if err := b.send(t); err != nil {
		return err
	}
	return b.poll()
}

// Close frees the command buffers once they have run.
func (r *recording) Close() {
	b := r.b
	for i, t := range r.slots {
		if t == nil {
			continue
		}
		for b.lost == nil && slices.Contains(b.flight, t) {
			if b.retireOldest() != nil {
				break
			}
		}
		b.flight = slices.DeleteFunc(b.flight, func(o *batch) bool { return o == t })
		b.dropBatch(t)
		r.slots[i] = nil
	}
	if r.scratch != nil {
		b.free(r.scratch)
		r.scratch = nil
	}
}
