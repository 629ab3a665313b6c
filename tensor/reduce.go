package tensor

import (
	"fmt"
	"slices"

	"gradbook/gpu"
)

// Sum adds over the given dimensions, which the result lacks; without any,
// over all. Elements are added in a fixed order.
func (t *Tensor) Sum(dims ...int) *Tensor { return t.reduce("sum", gpu.ReduceSum, false, false, dims) }

// SumKeep is Sum, but the dimensions stay with size 1.
func (t *Tensor) SumKeep(dims ...int) *Tensor {
	return t.reduce("sum", gpu.ReduceSum, false, true, dims)
}

// Mean averages over the given dimensions, which the result lacks; without
// any, over all.
func (t *Tensor) Mean(dims ...int) *Tensor { return t.reduce("mean", gpu.ReduceSum, true, false, dims) }

// MeanKeep is Mean, but the dimensions stay with size 1.
func (t *Tensor) MeanKeep(dims ...int) *Tensor {
	return t.reduce("mean", gpu.ReduceSum, true, true, dims)
}

// Max returns the largest elements over the given dimensions, which the result
// lacks; without any, the largest of all.
func (t *Tensor) Max(dims ...int) *Tensor { return t.reduce("max", gpu.ReduceMax, false, false, dims) }

// MaxKeep is Max, but the dimensions stay with size 1.
func (t *Tensor) MaxKeep(dims ...int) *Tensor {
	return t.reduce("max", gpu.ReduceMax, false, true, dims)
}

// Min returns the smallest elements over the given dimensions, which the
// result lacks; without any, the smallest of all.
func (t *Tensor) Min(dims ...int) *Tensor { return t.reduce("min", gpu.ReduceMin, false, false, dims) }

// MinKeep is Min, but the dimensions stay with size 1.
func (t *Tensor) MinKeep(dims ...int) *Tensor {
	return t.reduce("min", gpu.ReduceMin, false, true, dims)
}

// reduce launches once for each run of neighbouring dimensions, last run
// first.
func (t *Tensor) reduce(name string, op gpu.ReduceOp, mean, keep bool, dims []int) *Tensor {
	floats(name, t)
	gone := t.marked(name, dims)
	x, free := t.dense(name)
	scale := 1.0
	if mean {
		for d, n := range t.shape {
			if gone[d] {
				scale /= float64(n)
			}
		}
	}
	shape := slices.Clone(t.shape)
	for hi := len(shape); hi > 0; {
		if !gone[hi-1] {
			hi--
			continue
		}
		lo := hi - 1
		for lo > 0 && gone[lo-1] {
			lo--
		}
		x, free = x.reduceRun(name, op, scale, shape, lo, hi, free)
		scale, hi = 1, lo
	}
	left := shape[:0:0]
	for d, n := range shape {
		if keep || !gone[d] {
			left = append(left, n)
		}
	}
	if x.base == t.base { // a scalar: nothing to reduce
		return t.Clone()
	}
	x.shape, x.strides = left, rowMajor(left)
	return x
}

// reduceRun reduces dimensions lo up to hi of the contiguous x, whose shape
// it updates, and frees x.
func (x *Tensor) reduceRun(name string, op gpu.ReduceOp, scale float64, shape []int, lo, hi int, free func()) (*Tensor, func()) {
	defer free()
	p := gpu.ReduceParams{Scale: scale, Op: op, Outer: uint32(count(shape[:lo])), Axis: uint32(count(shape[lo:hi])), Inner: uint32(count(shape[hi:]))}
	for d := lo; d < hi; d++ {
		shape[d] = 1
	}
	out := x.like(name, shape)
	run(name, gpu.Reduce, x.dtype, &p, x.view(), out.view())
	return out, out.Free
}

// marked tells for each dimension whether it is among dims; without dims all
// are.
func (t *Tensor) marked(op string, dims []int) []bool {
	m := make([]bool, len(t.shape))
	for i := range m {
		m[i] = len(dims) == 0
	}
	for _, i := range dims {
		d := t.dim(op, i)
		if m[d] {
			Fail(op, fmt.Sprintf("dimension %d comes twice", i), "", t)
		}
		m[d] = true
	}
	return m
}

// SumTo adds t up to a shape that broadcasts to t's: what the gradient of a
// broadcast does. It returns t itself if that is its shape.
func (t *Tensor) SumTo(shape ...int) *Tensor {
	operands("sum_to", t)
	if slices.Equal(shape, t.shape) {
		return t
	}
	if full, ok := Broadcast(t.shape, shape); !ok || !slices.Equal(full, t.shape) {
		Fail("sum_to", shapeString(shape)+" does not broadcast to the operand's shape", "", t)
	}
	lead := len(t.shape) - len(shape)
	var dims []int
	for d, n := range t.shape {
		if d < lead || shape[d-lead] != n {
			dims = append(dims, d)
		}
	}
	out := t.reduce("sum_to", gpu.ReduceSum, false, true, dims)
	out.shape, out.strides = slices.Clone(shape), rowMajor(shape)
	return out
}

// ArgMax returns as Int32 the first positions of the largest elements along
// dimension dim, which the result lacks. A NaN counts as largest.
func (t *Tensor) ArgMax(dim int) *Tensor {
	floats("argmax", t)
	d := t.dim("argmax", dim)
	x, free := t.dense("argmax")
	defer free()
	out := fresh(t.Device(), "argmax", Int32, slices.Delete(slices.Clone(t.shape), d, d+1))
	run("argmax", gpu.ArgMax, t.dtype, &gpu.ArgMaxParams{Outer: uint32(count(t.shape[:d])), Axis: uint32(t.shape[d]), Inner: uint32(count(t.shape[d+1:]))}, x.view(), out.view())
	return out
}
