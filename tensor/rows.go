package tensor

import (
	"fmt"
	"slices"

	"gradbook/gpu"
)

// Gather returns the rows of t, along its first dimension, that an Int32
// tensor names: shape index.Shape() + t.Shape()[1:]. An index outside gives a
// row of NaN.
func (t *Tensor) Gather(index *Tensor) *Tensor {
	operands("gather", t)
	indexes("gather", t, index)
	if len(t.shape) == 0 {
		Fail("gather", "is a scalar", "", t)
	}
	table, free := t.dense("gather")
	defer free()
	ix, freeIx := index.dense("gather")
	defer freeIx()
	out := t.like("gather", append(index.Shape(), t.shape[1:]...))
	run("gather", gpu.GatherRows, t.dtype, rowsParams(index.Len(), t.shape), table.view(), ix.view(), out.view())
	return out
}

// ScatterAdd returns a tensor of the given shape, zero but for the rows that
// index names, to which the rows of t are added in order: what the gradient of
// Gather does.
func (t *Tensor) ScatterAdd(index *Tensor, shape ...int) *Tensor {
	floats("scatter_add", t)
	indexes("scatter_add", t, index)
	if len(shape) == 0 || t.Len() != index.Len()*count(shape[1:]) {
		Fail("scatter_add", fmt.Sprintf("the rows of the first do not fit %s", shapeString(shape)), "", t, index)
	}
	x, free := t.dense("scatter_add")
	defer free()
	ix, freeIx := index.dense("scatter_add")
	defer freeIx()
	out := Maker{t.Device(), t.dtype}.fill("scatter_add", 0, shape)
	run("scatter_add", gpu.ScatterAddRows, t.dtype, rowsParams(index.Len(), shape), x.view(), ix.view(), out.view())
	return out
}

func rowsParams(rows int, table []int) *gpu.RowsParams {
	return &gpu.RowsParams{Rows: uint32(rows), Width: uint32(count(table[1:])), Table: uint32(table[0])}
}

// Concat joins tensors along dimension dim; the other sizes must be equal.
func Concat(dim int, ts ...*Tensor) *Tensor {
	if len(ts) == 0 {
		Fail("concat", "there are no tensors", "")
	}
	operands("concat", ts...)
	d := ts[0].dim("concat", dim)
	shape := ts[0].Shape()
	for _, t := range ts[1:] {
		same := len(t.shape) == len(shape)
		for i := 0; same && i < len(shape); i++ {
			same = i == d || t.shape[i] == shape[i]
		}
		if !same {
			Fail("concat", "the shapes differ beside the joined dimension", "", ts...)
		}
		shape[d] += t.shape[d]
	}
	out := Maker{ts[0].Device(), ts[0].dtype}.fill("concat", 0, shape)
	at := 0
	for _, t := range ts {
		part := &Tensor{base: out.base, offset: at * out.strides[d], shape: t.shape, strides: out.strides, dtype: t.dtype}
		part.CopyFrom(t)
		at += t.shape[d]
	}
	return out
}

// Stack joins tensors of one shape along a new dimension dim.
func Stack(dim int, ts ...*Tensor) *Tensor {
	us := make([]*Tensor, len(ts))
	for i, t := range ts {
		us[i] = t.Unsqueeze(dim)
	}
	if dim < 0 {
		dim--
		if len(us) > 0 {
			dim = len(us[0].shape) + dim + 1
		}
	}
	return Concat(dim, us...)
}

// OneHot returns for an Int32 tensor of labels the rows of the n by n unit
// matrix, Float32: shape labels.Shape() + (n).
func OneHot(labels *Tensor, n int) *Tensor {
	operands("onehot", labels)
	eye := On(labels.Device()).Eye(n)
	defer eye.Free()
	return eye.Gather(labels)
}

// Expand returns a tensor of shape whole, zero but for t at positions lo and
// on of dimension dim: what the gradient of Slice does.
func (t *Tensor) Expand(dim, lo int, whole ...int) *Tensor {
	operands("expand", t)
	d := t.dim("expand", dim)
	out := Maker{t.Device(), t.dtype}.fill("expand", 0, whole)
	part := *out
	part.shape = slices.Clone(t.shape)
	part.offset = lo * out.strides[d]
	part.CopyFrom(t)
	return out
}
