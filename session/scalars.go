package session

import (
	"encoding/binary"
	"fmt"
	"math"

	"gradbook/gpu"
)

// Scalars keeps numbers that kernels computed on their device, in the order in
// which they were added, until Read brings all of them at once: a loss a step
// costs one launch, and no wait.
//
// The zero value is empty and ready. It is not safe for concurrent use.
type Scalars struct {
	block  *gpu.Storage
	dtype  gpu.DType
	n      int
	values []float64 // read already, before those in block
}

// scalarsPerBlock numbers are read at once at the latest; 4 or 8 KiB.
const scalarsPerBlock = 1024

// Add copies the number in view, whose type is t, as it is after the launches
// so far.
func (q *Scalars) Add(view gpu.View, t gpu.DType) error {
	size := int64(t.Size())
	if view.Bytes != size {
		return fmt.Errorf("one %s was expected, got %d bytes", t, view.Bytes)
	}
	d := view.Storage.Device()
	if q.block == nil || q.block.Device() != d || q.dtype != t || q.n == scalarsPerBlock {
		if err := q.fetch(); err != nil {
			return err
		}
		if q.block == nil || q.block.Device() != d || q.dtype != t {
			q.Free()
			q.block, q.dtype = d.NewStorage(scalarsPerBlock*size, "scalars", gpu.Data), t
		}
	}
	slot := gpu.View{Storage: q.block, Offset: int64(q.n) * size, Bytes: size}
	if err := d.Run(gpu.Copy, t, &gpu.CopyParams{N: 1, Rank: 1, Dims: gpu.Dims{1}, X: gpu.Strides{1}}, view, slot); err != nil {
		return err
	}
	q.n++
	return nil
}

// Len is how many numbers Read would return.
func (q *Scalars) Len() int { return len(q.values) + q.n }

// Read returns the numbers added since the last Read, and waits for them. On
// error the numbers on the device are lost.
func (q *Scalars) Read() ([]float64, error) {
	err := q.fetch()
	values := q.values
	q.values = nil
	return values, err
}

func (q *Scalars) fetch() error {
	if q.n == 0 {
		return nil
	}
	size := int(q.dtype.Size())
	raw := make([]byte, q.n*size)
	n := q.n
	q.n = 0
	if err := q.block.Read(raw, 0); err != nil {
		for range n {
			q.values = append(q.values, math.NaN())
		}
		return err
	}
	for i := range n {
		b := raw[i*size:]
		if q.dtype == gpu.Float64 {
			q.values = append(q.values, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		} else {
			q.values = append(q.values, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	}
	return nil
}

// Free gives the device memory back; what is on the device is lost.
func (q *Scalars) Free() {
	if q.block != nil {
		q.block.Free()
	}
	q.block, q.n = nil, 0
}
