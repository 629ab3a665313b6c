package vulkan

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"gradbook/gpu"
)

// mark is a launch or a copy of a batch.
type mark struct {
	kernel gpu.Kernel // NumKernels for a copy
	dtype  gpu.DType
	stamp  int // the timestamp before it
}

func (m mark) String() string {
	if m.kernel == gpu.NumKernels {
		return "a copy"
	}
	return fmt.Sprintf("%s %s", m.kernel, m.dtype)
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

// stamp takes the time before what comes next, when all before it has ended.
func (b *Backend) stamp(t *batch) {
	if t.queries != vk.NullQueryPool {
		C.gb_timestamp(b.calls, t.commands, unsafe.Pointer(t.queries), C.uint32_t(t.stamps))
		t.stamps++
	}
}

// smallBytes is the most that the arguments of a small launch have in all.
const smallBytes = 4 << 20

// small reports whether a launch takes about as long as any small one, the time
// to start it. Those that need no barrier between them are timed together and
// booked in equal parts, since a timestamp between two would make the second
// wait: on an H200 a step of 784-256-256-10 takes 105 us so, and 131 with a
// timestamp before each launch. Devices other than discrete GPUs start launches
// at less cost, or have slower memory.
func (b *Backend) small(l *gpu.Launch) bool {
	bytes := int64(0)
	for _, a := range l.Args {
		bytes += a.Bytes
	}
	return bytes <= smallBytes && !b.info.Unified
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
