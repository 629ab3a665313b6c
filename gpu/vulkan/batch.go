package vulkan

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"gradbook/gpu"
)

const (
	// batches that can be under way: enough that recording never waits for a
	// device that keeps up.
	batches = 8
	// marks is the most launches and copies of a batch.
	marks = 256
	// eager is how many launches are gathered for a device that is idle.
	eager = 16
)

// batch is a command buffer with what is needed to account for it.
type batch struct {
	commands unsafe.Pointer
	fence    unsafe.Pointer
	last     *batch       // of its submission: that one's fence tells of both
	queries  vk.QueryPool // null: no timestamps
	marks    []mark
	stamps   int  // timestamps taken
	shares   bool // the last of marks may share its time with the next
	bound    unsafe.Pointer
	serial   uint64
	ring     int64      // where the upload ring's head was when it was submitted
	replay   *recording // that it belongs to, or nil
}

func (b *Backend) newBatch(queries int) (*batch, error) {
	info := vk.CommandBufferAllocateInfo{SType: vk.StructureTypeCommandBufferAllocateInfo, CommandPool: b.pool,
		Level: vk.CommandBufferLevelPrimary, CommandBufferCount: 1}
	commands := make([]vk.CommandBuffer, 1)
	if r := vk.AllocateCommandBuffers(b.device, &info, commands); r != vk.Success {
		return nil, resultError(int(r))
	}
	t := &batch{commands: unsafe.Pointer(commands[0])}
	fenceInfo := vk.FenceCreateInfo{SType: vk.StructureTypeFenceCreateInfo}
	var fence vk.Fence
	if r := vk.CreateFence(b.device, &fenceInfo, nil, &fence); r != vk.Success {
		b.dropBatch(t)
		return nil, resultError(int(r))
	}
	t.fence = unsafe.Pointer(fence)
	if err := b.makeQueries(t, queries); err != nil {
		b.dropBatch(t)
		return nil, err
	}
	return t, nil
}

func (b *Backend) dropBatch(t *batch) {
	vk.FreeCommandBuffers(b.device, b.pool, 1, []vk.CommandBuffer{vk.CommandBuffer(t.commands)})
	if t.fence != nil {
		vk.DestroyFence(b.device, vk.Fence(t.fence), nil)
	}
	if t.queries != vk.NullQueryPool {
		vk.DestroyQueryPool(b.device, t.queries, nil)
	}
}

// begin sees to it that a batch is being recorded, with room for n marks.
func (b *Backend) begin(n int) error {
	if b.current != nil && len(b.current.marks)+n > marks {
		if err := b.submit(); err != nil {
			return err
		}
	}
	if b.current != nil {
		return nil
	}
	for len(b.idle) == 0 {
		if err := b.retireOldest(); err != nil {
			return err
		}
	}
	t := b.idle[len(b.idle)-1]
	b.idle = b.idle[:len(b.idle)-1]
	if err := b.open(t, marks+1); err != nil {
		b.idle = append(b.idle, t)
		return err
	}
	b.current = t
	return nil
}

// open starts the recording of a batch. The barrier at the end of the one before
// stands between the two.
func (b *Backend) open(t *batch, queries int) error {
	if err := resultError(int(C.gb_begin(b.calls, t.commands))); err != nil {
		return fmt.Errorf("begin a command buffer: %w", err)
	}
	if t.queries != vk.NullQueryPool {
		C.gb_reset_queries(b.calls, t.commands, unsafe.Pointer(t.queries), C.uint32_t(queries))
	}
	t.marks, t.stamps, t.shares, t.bound = t.marks[:0], 0, false, nil
	return nil
}

// barrier makes what was recorded before it visible to what comes after.
func (b *Backend) barrier(t *batch) {
	C.gb_barrier(b.calls, t.commands, 0)
	b.epoch++
}

// order notes that the batch accesses a buffer, and reports whether a barrier
// must come first: what was written since the last one may not be touched, what
// was read not be written.
func (b *Backend) order(m *buffer, acc gpu.Access) bool {
	hazard := m.written == b.epoch || acc != gpu.In && m.read == b.epoch
	m.used = b.serial
	return hazard
}

// touched is noted once the barrier, if any, stands.
func (b *Backend) touched(m *buffer, acc gpu.Access) {
	if acc != gpu.Out {
		m.read = b.epoch
	}
	if acc != gpu.In {
		m.written = b.epoch
	}
}

// submit hands the batch being recorded to the device.
func (b *Backend) submit() error {
	t, err := b.end()
	if t == nil || err != nil {
		return err
	}
	return b.send(nil, t)
}

// end ends the recording of the current batch, if there is one.
func (b *Backend) end() (*batch, error) {
	t := b.current
	if t == nil {
		return nil, nil
	}
	b.current = nil
	b.epoch++ // the barrier at its end
	if err := b.shut(t); err != nil {
		return nil, b.fail(t, err)
	}
	return t, nil
}

// shut ends the recording of a batch: what it wrote, the host may read.
func (b *Backend) shut(t *batch) error {
	C.gb_barrier(b.calls, t.commands, 1)
	b.stamp(t)
	if err := resultError(int(C.gb_end(b.calls, t.commands))); err != nil {
		return fmt.Errorf("end a command buffer: %w", err)
	}
	return nil
}

// injected, in tests, replaces what the driver says to a submission.
var injected func() int

// send submits a batch, after another if that is not nil: together the device
// starts the second some 12 us sooner (H200).
func (b *Backend) send(first, t *batch) error {
	var before unsafe.Pointer
	if first != nil {
		first.serial, first.ring, first.last = b.serial, b.ring.head, t
		b.serial++
		b.flight = append(b.flight, first)
		before = first.commands
	}
	t.serial, t.ring, t.last = b.serial, b.ring.head, t
	r := 0
	if injected != nil {
		r = injected()
	}
	if r == 0 {
		r = int(C.gb_submit(b.calls, before, t.commands, t.fence))
	}
	if err := resultError(r); err != nil {
		return b.fail(t, fmt.Errorf("submit: %w", err))
	}
	b.serial++
	b.flight = append(b.flight, t)
	return nil
}

// fail makes err, which names the launches that it may have come from, the
// answer to every call from now on: what they have done is unknown.
func (b *Backend) fail(t *batch, err error) error {
	b.lost = fmt.Errorf("vulkan: %s: %w %s; reopen the device", b.info.Name, err, b.suspects(t))
	if !slices.Contains(b.flight, t) {
		b.flight = append(b.flight, t)
	}
	return b.lost
}

// suspects names the launch of a failed batch that did not end, as far as its
// timestamps tell, or the launches in it.
func (b *Backend) suspects(t *batch) string {
	if len(t.marks) == 0 {
		return "before any launch"
	}
	last := t.marks
	if t.stamps > 0 && slices.Contains(b.flight, t) {
		times := make([]C.uint64_t, 2*t.stamps)
		if r := C.gb_timestamps(b.calls, unsafe.Pointer(t.queries), C.uint32_t(t.stamps), &times[0]); r == 0 || vk.Result(r) == vk.NotReady {
			i := slices.IndexFunc(t.marks, func(m mark) bool { return times[2*(m.stamp+1)+1] == 0 })
			if i < 0 && t.last != t {
				return b.suspects(t.last)
			}
			if i >= 0 {
				last = slices.DeleteFunc(slices.Clone(t.marks[i:]), func(o mark) bool { return o.stamp != t.marks[i].stamp })
			}
		}
	}
	if len(last) == 1 {
		return "in " + last[0].String()
	}
	all := len(last)
	last = last[max(0, len(last)-8):]
	text := ""
	for i, m := range last {
		if i > 0 {
			text += ", "
		}
		text += m.String()
	}
	return fmt.Sprintf("in one of %d launches, the last of them %s", all, text)
}

// finish submits what is recorded and waits for everything.
func (b *Backend) finish() error {
	if err := b.submit(); err != nil {
		return err
	}
	for len(b.flight) > 0 {
		if err := b.retireOldest(); err != nil {
			return err
		}
	}
	return nil
}

// waitFor waits until a submission has run.
func (b *Backend) waitFor(serial uint64) error {
	if b.current != nil && serial >= b.serial {
		if err := b.submit(); err != nil {
			return err
		}
	}
	for b.done < serial && len(b.flight) > 0 {
		if err := b.retireOldest(); err != nil {
			return err
		}
	}
	return nil
}

// poll books what has run, without waiting.
func (b *Backend) poll() error {
	for len(b.flight) > 0 {
		switch r := vk.Result(C.gb_done(b.calls, b.flight[0].last.fence)); r {
		case vk.Success:
			if err := b.retireOldest(); err != nil {
				return err
			}
		case vk.NotReady:
			return nil
		default:
			return b.fail(b.flight[0], resultError(int(r)))
		}
	}
	return nil
}

// retireOldest waits for the oldest submission, adds its times to the books and
// frees what waited for it.
func (b *Backend) retireOldest() error {
	t := b.flight[0]
	if err := resultError(int(C.gb_wait(b.calls, t.last.fence, math.MaxUint64))); err != nil {
		return b.fail(t, err)
	}
	if t.last == t {
		if err := resultError(int(C.gb_reset(b.calls, t.fence))); err != nil {
			return b.fail(t, err)
		}
	}
	b.flight = append(b.flight[:0], b.flight[1:]...)
	b.done = t.serial
	b.ring.tail = t.ring
	b.book(t)
	if t.replay == nil {
		b.idle = append(b.idle, t)
	}
	b.waiting = slices.DeleteFunc(b.waiting, func(m *buffer) bool {
		if m.used > b.done {
			return false
		}
		b.put(m.block, m.at, max(m.bytes, 1))
		return true
	})
	return nil
}
