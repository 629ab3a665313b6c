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
	queries  vk.QueryPool
	marks    []mark // what is between each two timestamps
	bound    unsafe.Pointer
	serial   uint64
	ring     int64 // where the upload ring's head was when it was submitted
	keep     bool  // belongs to a recording
}

// mark says what ended at a timestamp.
type mark struct {
	kernel gpu.Kernel // NumKernels for a copy
	dtype  gpu.DType
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
	if !b.physical.timestamps {
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
	t.marks = t.marks[:0]
	if err := b.open(t, marks+1); err != nil {
		b.idle = append(b.idle, t)
		return err
	}
	b.current = t
	return nil
}

// open starts the recording of a batch, after all that was submitted before.
func (b *Backend) open(t *batch, queries int) error {
	if err := resultError(int(C.gb_begin(b.calls, t.commands))); err != nil {
		return fmt.Errorf("begin a command buffer: %w", err)
	}
	if b.physical.timestamps {
		C.gb_reset_queries(b.calls, t.commands, unsafe.Pointer(t.queries), C.uint32_t(queries))
	}
	t.bound = nil
	b.barrier(t)
	return nil
}

// barrier makes what was recorded before it visible to what comes after.
func (b *Backend) barrier(t *batch) {
	C.gb_barrier(b.calls, t.commands, 0)
	b.epoch++
}

// stamp takes the time before what comes next, when all before it has ended.
func (b *Backend) stamp(t *batch) {
	if b.physical.timestamps {
		C.gb_timestamp(b.calls, t.commands, unsafe.Pointer(t.queries), C.uint32_t(len(t.marks)))
	}
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
	if err := b.shut(t); err != nil {
		return b.fail(t, err)
	}
	return b.send(t)
}

// shut ends the recording of a batch: what it wrote, the host may read.
func (b *Backend) shut(t *batch) error {
	C.gb_barrier(b.calls, t.commands, 1)
	b.epoch++
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
	if b.physical.timestamps && slices.Contains(b.flight, t) {
		times := make([]C.uint64_t, 2*(len(t.marks)+1))
		if r := C.gb_timestamps(b.calls, unsafe.Pointer(t.queries), C.uint32_t(len(t.marks)+1), &times[0]); r == 0 || vk.Result(r) == vk.NotReady {
			for i, m := range t.marks {
				if times[2*(i+1)+1] == 0 {
					return fmt.Sprintf("in %s, launch %d of %d in its submission", m, i+1, len(t.marks))
				}
			}
		}
	}
	if len(t.marks) == 1 {
		return "in " + t.marks[0].String()
	}
	last := t.marks[max(0, len(t.marks)-8):]
	text := ""
	for i, m := range last {
		if i > 0 {
			text += ", "
		}
		text += m.String()
	}
	return fmt.Sprintf("in one of %d launches, the last of them %s", len(t.marks), text)
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
	if !t.keep {
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

// book adds the time between each two timestamps to the kernel that ended at the
// second.
func (b *Backend) book(t *batch) {
	if !b.physical.timestamps || len(t.marks) == 0 {
		return
	}
	n := len(t.marks) + 1
	if cap(b.times) < 2*n {
		b.times = make([]C.uint64_t, 2*n)
	}
	times := b.times[:2*n]
	if C.gb_timestamps(b.calls, unsafe.Pointer(t.queries), C.uint32_t(n), &times[0]) != 0 {
		return
	}
	for i, m := range t.marks {
		if m.kernel != gpu.NumKernels {
			ticks := uint64(times[2*i+2]-times[2*i]) & b.physical.stampMask
			b.spent[m.kernel] += time.Duration(float64(ticks) * b.physical.tick)
		}
	}
}
