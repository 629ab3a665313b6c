package autograd

import (
	"slices"

	"gradbook/tensor"
)

// viewed is an operation that only looks at its operand in another way.
func (v *Var) viewed(name string, y *tensor.Tensor, back func(dy *tensor.Tensor) *tensor.Tensor) *Var {
	return op{name: name, in: []*Var{v}, back: func(s *visit) { s.send(0, back(s.dy)) }}.gives(y)
}

// T returns v with the last two dimensions exchanged.
func (v *Var) T() *Var {
	return v.viewed("t", v.Value.T(), func(dy *tensor.Tensor) *tensor.Tensor { return dy.T() })
}

// Transpose returns v with dimensions i and j exchanged.
func (v *Var) Transpose(i, j int) *Var {
	return v.viewed("transpose", v.Value.Transpose(i, j), func(dy *tensor.Tensor) *tensor.Tensor { return dy.Transpose(i, j) })
}

// Permute returns v with dimension dims[i] as its dimension i.
func (v *Var) Permute(dims ...int) *Var {
	back := make([]int, len(dims))
	y := v.Value.Permute(dims...)
	for i, d := range dims {
		if d < 0 {
			d += len(dims)
		}
		back[d] = i
	}
	return v.viewed("permute", y, func(dy *tensor.Tensor) *tensor.Tensor { return dy.Permute(back...) })
}

// Reshape returns the same elements in another shape. One size may be -1 and
// is worked out.
func (v *Var) Reshape(shape ...int) *Var { return v.reshaped("reshape", v.Value.Reshape(shape...)) }

func (v *Var) reshaped(name string, y *tensor.Tensor) *Var {
	shape := v.Shape()
	return v.viewed(name, y, func(dy *tensor.Tensor) *tensor.Tensor { return dy.Reshape(shape...) })
}

// Flatten returns the elements of each row of the first dimension as one
// dimension: (n, c, h, w) becomes (n, c*h*w).
func (v *Var) Flatten() *Var { return v.reshaped("flatten", v.Value.Flatten()) }

// Unsqueeze returns v with a dimension of size 1 put in at dim.
func (v *Var) Unsqueeze(dim int) *Var { return v.reshaped("unsqueeze", v.Value.Unsqueeze(dim)) }

// Squeeze returns v without dimension dim, which must have size 1.
func (v *Var) Squeeze(dim int) *Var { return v.reshaped("squeeze", v.Value.Squeeze(dim)) }

// BroadcastTo returns v with dimensions of size 1 repeated, and new ones in
// front, up to the given shape.
func (v *Var) BroadcastTo(shape ...int) *Var {
	from := v.Shape()
	return v.viewed("broadcast", v.Value.BroadcastTo(shape...), func(dy *tensor.Tensor) *tensor.Tensor { return dy.SumTo(from...) })
}

// Index returns what lies at the given indexes of the first dimensions: row i
// of a matrix. Negative indexes count from the end.
func (v *Var) Index(indexes ...int) *Var {
	indexes = slices.Clone(indexes)
	return v.picked("index", func(t *tensor.Tensor) *tensor.Tensor { return t.Index(indexes...) })
}

// Slice returns positions lo up to, but not including, hi of dimension dim.
// Negative positions count from the end.
func (v *Var) Slice(dim, lo, hi int) *Var {
	return v.picked("slice", func(t *tensor.Tensor) *tensor.Tensor { return t.Slice(dim, lo, hi) })
}

// picked is a view of a part: its gradient goes to that part of zeros.
func (v *Var) picked(name string, part func(*tensor.Tensor) *tensor.Tensor) *Var {
	shape := v.Shape()
	return v.viewed(name, part(v.Value), func(dy *tensor.Tensor) *tensor.Tensor {
		whole := tensor.Maker{Device: dy.Device(), DType: dy.DType()}.Zeros(shape...)
		part(whole).CopyFrom(dy)
		return whole
	})
}

// Gather returns the rows of v, along its first dimension, that an Int32
// variable names: what an embedding does.
func (v *Var) Gather(index *Var) *Var {
	ix, shape := index.Value, v.Shape()
	return op{name: "gather", in: []*Var{v, index}, reads: []*tensor.Tensor{ix}, back: func(s *visit) {
		if s.wants(0) {
			s.send(0, s.dy.ScatterAdd(ix, shape...))
		}
	}}.gives(v.Value.Gather(ix))
}

// Concat joins variables along dimension dim; the other sizes must be equal.
func Concat(dim int, vs ...*Var) *Var {
	ts := make([]*tensor.Tensor, len(vs))
	for i, v := range vs {
		ts[i] = v.Value
	}
	return op{name: "concat", in: slices.Clone(vs), back: func(s *visit) {
		lo := 0
		for i, v := range vs {
			hi := lo + v.Dim(dim)
			if s.wants(i) {
				s.send(i, s.dy.Slice(dim, lo, hi))
			}
			lo = hi
		}
	}}.gives(tensor.Concat(dim, ts...))
}

// Stack joins variables of one shape along a new dimension dim.
func Stack(dim int, vs ...*Var) *Var {
	ts := make([]*tensor.Tensor, len(vs))
	for i, v := range vs {
		ts[i] = v.Value
	}
	return op{name: "stack", in: slices.Clone(vs), back: func(s *visit) {
		for i := range vs {
			if s.wants(i) {
				s.send(i, s.dy.Slice(dim, i, i+1).Squeeze(dim))
			}
		}
	}}.gives(tensor.Stack(dim, ts...))
}
