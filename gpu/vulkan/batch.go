package vulkan

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"math"
	"slices"
	"time"
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
	queries  vk.QueryPool // null: no timestamps
	marks    []mark
	stamps   int  // timestamps taken
	shares   bool // the last of marks may share its time with the next
	bound    unsafe.Pointer
	serial   uint64
	ring     int64      // where the upload ring's head was when it was submitted
	replay   *recording // that it belongs to, or nil
}

// mark is a launch or a copy of a batch.
type mark struct {
	kernel gpu.Kernel // NumKernels for a copy
	dtype  gpu.DType
	stamp  int // the timestamp before it
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

func (b *Backend) makeQueries(t *batch, n int) error {
	if !b.physical.timestamps || n == 0 {
		return nil
	}
	info := vk.QueryPoolCreateInfo{SType: vk.StructureTypeQueryPoolCreateInfo, QueryType: vk.QueryTypeTimestamp, QueryCount: uint32(n)}
	var pool vk.QueryPool
	r := vk.CreateQueryPool(b.device, &info, nil, &pool)
	t.queries = pool
	return resultError(int(r))
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

// stamp takes the time before what comes next, when all before it has ended.
func (b *Backend) stamp(t *batch) {
	if t.queries != vk.NullQueryPool {
		C.gb_timestamp(b.calls, t.commands, unsafe.Pointer(t.queries), C.uint32_t(t.stamps))
		t.stamps++
	}
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
	t := b.current
	if t == nil {
		return nil
	}
	b.current = nil
	b.epoch++ // the barrier at its end
	if err := b.shut(t); err != nil {
		return b.fail(t, err)
	}
	return b.send(t)
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

func (b *Backend) send(t *batch) error {
	t.serial, t.ring = b.serial, b.ring.head
	r := 0
	if injected != nil {
		r = injected()
	}
	if r == 0 {
		r = int(C.gb_submit(b.calls, t.commands, t.fence))
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
			for i, m := range t.marks {
				if times[2*(m.stamp+1)+1] == 0 {
					last = slices.DeleteFunc(slices.Clone(t.marks[i:]), func(o mark) bool { return o.stamp != m.stamp })
					break
				}
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

func (m mark) String() string {
	if m.kernel == gpu.NumKernels {
		return "a copy"
	}
	return fmt.Sprintf("%s %s", m.kernel, m.dtype)
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
		switch r := vk.Result(C.gb_done(b.calls, b.flight[0].fence)); r {
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
	if err := resultError(int(C.gb_wait(b.calls, t.fence, math.MaxUint64))); err != nil {
		return b.fail(t, err)
	}
	if err := resultError(int(C.gb_reset(b.calls, t.fence))); err != nil {
		return b.fail(t, err)
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

// book adds the time between each two timestamps to the kernels between them, in
// equal parts.
func (b *Backend) book(t *batch) {
	if len(t.marks) == 0 {
		return
	}
	if t.stamps == 0 {
		if t.replay != nil {
			t.replay.book()
		}
		return
	}
	if cap(b.times) < 2*t.stamps {
		b.times = make([]C.uint64_t, 2*t.stamps)
	}
	times := b.times[:2*t.stamps]
	if C.gb_timestamps(b.calls, unsafe.Pointer(t.queries), C.uint32_t(t.stamps), &times[0]) != 0 {
		return
	}
	between := func(from, to int) time.Duration {
		ticks := uint64(times[2*to]-times[2*from]) & b.physical.stampMask
		return time.Duration(float64(ticks) * b.physical.tick)
	}
	if t.replay != nil && t == t.replay.whole {
		t.replay.took = between(0, 1)
		t.replay.book()
		return
	}
	var spent [gpu.NumKernels]time.Duration
	for i := 0; i < len(t.marks); {
		run := t.marks[i:]
		n := 1
		for n < len(run) && run[n].stamp == run[0].stamp {
			n++
		}
		took := between(run[0].stamp, run[0].stamp+1) / time.Duration(n)
		for _, m := range run[:n] {
			if m.kernel != gpu.NumKernels {
				spent[m.kernel] += took
			}
		}
		i += n
	}
	for k, d := range spent {
		b.spent[k] += d
	}
	if t.replay != nil {
		t.replay.alone = spent
	}
}
