package tensor

import (
	"fmt"
	"slices"

	"gradbook/gpu"
)

// MatMul returns the matrix product. Two vectors give a scalar, a matrix and a
// vector a vector. With more dimensions the last two are matrices and the rest
// is broadcast: (b, m, k) by (k, n) or (b, k, n) gives (b, m, n). Transposed
// views are multiplied as they are.
func (t *Tensor) MatMul(o *Tensor) *Tensor { return Product(t, o, false, false) }

// Product returns the matrix product of a and b, either of them transposed
// first, without making views. See MatMul.
func Product(a, b *Tensor, transA, transB bool) *Tensor {
	floats("matmul", a, b)
	if len(a.shape) == 0 || len(b.shape) == 0 {
		Fail("matmul", "an operand is a scalar", "use Mul", a, b)
	}
	x, y := a.matrices(true, transA), b.matrices(false, transB)
	m, k, n := x.shape[len(x.shape)-2], x.shape[len(x.shape)-1], y.shape[len(y.shape)-1]
	if k2 := y.shape[len(y.shape)-2]; k != k2 {
		Fail("matmul", fmt.Sprintf("the inner sizes %d and %d differ", k, k2), "transpose an operand with T if its dimensions are the wrong way round", a, b)
	}
	batch, ok := Broadcast(x.shape[:len(x.shape)-2], y.shape[:len(y.shape)-2])
	if !ok {
		Fail("matmul", "the dimensions before the last two do not broadcast", "", a, b)
	}
	out := a.like("matmul", append(batch, m, n))
	if len(y.shape) == 2 && x.Contiguous() {
		// One matrix for all of x: its rows make one tall matrix.
		x.shape, x.strides = []int{x.Len() / k, k}, []int{k, 1}
		batch = nil
	}
	gemm(x, y, out, batch)
	shape := slices.Clone(out.shape)
	if len(b.shape) == 1 {
		shape = shape[:len(shape)-1]
	}
	if len(a.shape) == 1 {
		shape = slices.Delete(shape, len(batch), len(batch)+1)
	}
	out.shape, out.strides = shape, rowMajor(shape)
	return out
}

// matrices is t, transposed if asked, with a vector made a matrix: a row if it
// is the left operand. It is no holder of the storage.
func (t *Tensor) matrices(left, trans bool) *Tensor {
	v := *t
	v.shape, v.strides = slices.Clone(t.shape), slices.Clone(t.strides)
	if len(v.shape) == 1 {
		if left {
			v.shape, v.strides = []int{1, v.shape[0]}, []int{0, v.strides[0]}
		} else {
			v.shape, v.strides = []int{v.shape[0], 1}, []int{v.strides[0], 0}
		}
		return &v
	}
	if n := len(v.shape); trans {
		v.shape[n-1], v.shape[n-2] = v.shape[n-2], v.shape[n-1]
		v.strides[n-1], v.strides[n-2] = v.strides[n-2], v.strides[n-1]
	}
	return &v
}

// operand is how gemm reads the matrices of a tensor.
type operand struct {
	t          *Tensor
	trans      uint32
	ld, stride uint32
	free       func()
}

func gemm(x, y, out *Tensor, batch []int) {
	a, b := x.gemmOperand(batch), y.gemmOperand(batch)
	defer a.free()
	defer b.free()
	m, k, n := x.shape[len(x.shape)-2], x.shape[len(x.shape)-1], y.shape[len(y.shape)-1]
	run("matmul", gpu.Gemm, x.dtype, &gpu.GemmParams{
		Alpha: 1, TransA: a.trans, TransB: b.trans, M: uint32(m), N: uint32(n), K: uint32(k),
		LDA: a.ld, LDB: b.ld, LDC: uint32(n), Batch: uint32(count(batch)),
		StrideA: a.stride, StrideB: b.stride, StrideC: uint32(m * n),
	}, a.t.view(), b.t.view(), out.view())
}

// gemmOperand finds a way to read t's matrices in place, and copies them
// otherwise.
func (t *Tensor) gemmOperand(batch []int) operand {
	if o, ok := t.inPlace(batch); ok {
		return o
	}
	c := t.wide(append(slices.Clone(batch), t.shape[len(t.shape)-2:]...)).copy("matmul")
	o, _ := c.inPlace(batch)
	o.free = c.Free
	return o
}

func (t *Tensor) inPlace(batch []int) (operand, bool) {
	o := operand{t: t, free: func() {}}
	n := len(t.shape)
	rows, cols := t.shape[n-2], t.shape[n-1]
	down, right := t.strides[n-2], t.strides[n-1]
	switch {
	case (right == 1 || cols == 1) && (down >= cols || rows == 1):
		o.ld = uint32(max(down, cols))
	case (down == 1 || rows == 1) && (right >= rows || cols == 1):
		o.ld, o.trans = uint32(max(right, rows)), 1
	default:
		return o, false
	}
	strides := t.wide(append(slices.Clone(batch), rows, cols)).strides
	step, dims := oneStep(batch, strides[:len(batch)])
	o.stride = uint32(step)
	return o, dims <= 1
}

// oneStep returns the step through dimensions that lie as one, and how many
// there are after merging.
func oneStep(shape, strides []int) (step, dims int) {
	var s gpu.Strides
	n, d := merge(shape, []*gpu.Strides{&s}, strides)
	if n == 1 && d[0] == 1 {
		return 0, 0
	}
	return int(s[0]), int(n)
}
