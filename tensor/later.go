package tensor

import (
	"sync"

	"gradbook/gpu"
)

// Later copies the value of a tensor with one element, as it is after the
// operations so far, and returns what reads it. Neither the copy nor Later
// waits for the device; the read does, and brings its neighbours along: up to
// 1,024 numbers copied one after the other cost one wait.
func (t *Tensor) Later() func() float64 {
	operands("later", t)
	if t.Len() != 1 {
		Fail("later", "one element was expected", "reduce it first, with Mean or Sum", t)
	}
	if !t.dtype.IsFloat() {
		v := t.Item()
		return func() float64 { return v }
	}
	laterMu.Lock()
	defer laterMu.Unlock()
	key := laterKey{t.Device(), t.dtype}
	b := laterBlocks[key]
	if b == nil || b.n == laterSize {
		b = &laterBlock{values: fresh(key.device, "later", t.dtype, []int{laterSize})}
		b.values.SetRole(gpu.Data).SetName("numbers read later")
		laterBlocks[key] = b
	}
	slot := b.n
	size := t.dtype.Size()
	to := gpu.View{Storage: b.values.store, Offset: int64(slot) * size, Bytes: size}
	run("later", gpu.Copy, t.dtype, &gpu.CopyParams{N: 1, Rank: 1, Dims: gpu.Dims{1}, X: gpu.Strides{1}}, t.view(), to)
	b.n++
	return func() float64 { return b.read(slot) }
}

// laterSize numbers share a block on the device: 4 or 8 KiB.
const laterSize = 1024

type laterKey struct {
	device *gpu.Device
	dtype  DType
}

// laterBlock is numbers on a device and those of them that were read.
type laterBlock struct {
	values *Tensor
	n      int // numbers copied into it
	known  []float64
}

var (
	laterMu     sync.Mutex
	laterBlocks = map[laterKey]*laterBlock{}
)

func (b *laterBlock) read(slot int) float64 {
	laterMu.Lock()
	defer laterMu.Unlock()
	if slot >= len(b.known) {
		b.known = append(b.known, b.values.Slice(0, len(b.known), b.n).Float64s()...)
		if b.n == laterSize {
			b.values.Free()
		}
	}
	return b.known[slot]
}
