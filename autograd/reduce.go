package autograd

import (
	"slices"

	"gradbook/tensor"
)

// kept is the shape of a reduction of v that leaves the dimensions with size
// 1.
func (v *Var) kept(dims []int) []int {
	shape := v.Shape()
	for i := range shape {
		if len(dims) == 0 || slices.Contains(dims, i) || slices.Contains(dims, i-len(shape)) {
			shape[i] = 1
		}
	}
	return shape
}

// Sum adds over the given dimensions, which the result lacks; without any,
// over all.
func (v *Var) Sum(dims ...int) *Var { return v.summed("sum", v.Value.Sum(dims...), dims, 1) }

// SumKeep is Sum, but the dimensions stay with size 1.
func (v *Var) SumKeep(dims ...int) *Var { return v.summed("sum", v.Value.SumKeep(dims...), dims, 1) }

// Mean averages over the given dimensions, which the result lacks; without
// any, over all.
func (v *Var) Mean(dims ...int) *Var {
	y := v.Value.Mean(dims...)
	return v.summed("mean", y, dims, float64(y.Len())/float64(v.Len()))
}

// MeanKeep is Mean, but the dimensions stay with size 1.
func (v *Var) MeanKeep(dims ...int) *Var {
	y := v.Value.MeanKeep(dims...)
	return v.summed("mean", y, dims, float64(y.Len())/float64(v.Len()))
}

func (v *Var) summed(name string, y *tensor.Tensor, dims []int, scale float64) *Var {
	shape, kept := v.Shape(), v.kept(dims)
	return op{name: name, in: []*Var{v}, back: func(s *visit) {
		dy := s.dy
		if scale != 1 {
			dy = dy.MulScalar(scale)
		}
		s.send(0, dy.Reshape(kept...).BroadcastTo(shape...))
	}}.gives(y)
}

// Max returns the largest elements over the given dimensions, which the result
// lacks; without any, the largest of all. Equal largest ones share the
// gradient evenly.
func (v *Var) Max(dims ...int) *Var { return v.extremum("max", v.Value.Max(dims...), dims) }

// Min returns the smallest elements over the given dimensions, which the
// result lacks; without any, the smallest of all. Equal smallest ones share
// the gradient evenly.
func (v *Var) Min(dims ...int) *Var { return v.extremum("min", v.Value.Min(dims...), dims) }

func (v *Var) extremum(name string, y *tensor.Tensor, dims []int) *Var {
	x, kept := v.Value, v.kept(dims)
	return op{name: name, in: []*Var{v}, reads: []*tensor.Tensor{x, y}, back: func(s *visit) {
		wide := y.Reshape(kept...)
		defer wide.Release()
		mask := x.Equal(wide)
		defer mask.Free()
		n := mask.SumKeep(dims...)
		defer n.Free()
		share := s.dy.Reshape(kept...).Div(n)
		defer share.Free()
		s.send(0, mask.Mul(share))
	}}.gives(y)
}

// LogSumExp returns log(sum(exp(v))) over dimension dim, which the result
// lacks, without overflow.
func (v *Var) LogSumExp(dim int) *Var {
	top := compared(v.Value.MaxKeep(dim))
	shifted := v.Sub(top)
	e := shifted.Exp()
	sum := e.SumKeep(dim)
	log := sum.Log()
	wide := log.Add(top)
	for _, w := range []*Var{top, shifted, e, sum, log, wide} {
		defer w.Discard()
	}
	return wide.Squeeze(dim)
}

// Variance returns the variance over the given dimensions, which the result lacks,
// without Bessel's correction; without any, over all.
func (v *Var) Variance(dims ...int) *Var {
	mean := v.MeanKeep(dims...)
	d := v.Sub(mean)
	sq := d.Square()
	for _, w := range []*Var{mean, d, sq} {
		defer w.Discard()
	}
	return sq.Mean(dims...)
}
