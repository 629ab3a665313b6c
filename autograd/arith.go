package autograd

import (
	"gradbook/gpu"
	"gradbook/tensor"
)

// toShape sums t, made for this purpose, up to the shape that was broadcast to
// its own.
func toShape(t *tensor.Tensor, shape []int) *tensor.Tensor {
	s := t.SumTo(shape...)
	if s != t {
		t.Free()
	}
	return s
}

// times returns a*b*scale.
func times(a, b *tensor.Tensor, scale float64) *tensor.Tensor {
	return tensor.Binary("mul", gpu.Mul, a, b, scale, 0)
}

// Add returns v + o, broadcast.
func (v *Var) Add(o *Var) *Var {
	return op{name: "add", in: []*Var{v, o}, back: func(s *visit) {
		for i, in := range []*Var{v, o} {
			if s.wants(i) {
				s.send(i, s.dy.SumTo(in.Shape()...))
			}
		}
	}}.gives(v.Value.Add(o.Value))
}

// Sub returns v - o, broadcast.
func (v *Var) Sub(o *Var) *Var {
	return op{name: "sub", in: []*Var{v, o}, back: func(s *visit) {
		if s.wants(0) {
			s.send(0, s.dy.SumTo(v.Shape()...))
		}
		if s.wants(1) {
			s.send(1, toShape(s.dy.Neg(), o.Shape()))
		}
	}}.gives(v.Value.Sub(o.Value))
}

// Mul returns v * o element by element, broadcast.
func (v *Var) Mul(o *Var) *Var {
	a, b := v.Value, o.Value
	return op{name: "mul", in: []*Var{v, o}, reads: []*tensor.Tensor{a, b}, back: func(s *visit) {
		if s.wants(0) {
			s.send(0, toShape(s.dy.Mul(b), a.Shape()))
		}
		if s.wants(1) {
			s.send(1, toShape(s.dy.Mul(a), b.Shape()))
		}
	}}.gives(a.Mul(b))
}

// Div returns v / o element by element, broadcast.
func (v *Var) Div(o *Var) *Var {
	a, b := v.Value, o.Value
	y := a.Div(b)
	return op{name: "div", in: []*Var{v, o}, reads: []*tensor.Tensor{b, y}, back: func(s *visit) {
		if s.wants(0) {
			s.send(0, toShape(s.dy.Div(b), a.Shape()))
		}
		if s.wants(1) {
			n := s.dy.Mul(y)
			defer n.Free()
			s.send(1, toShape(tensor.Binary("div", gpu.Div, n, b, -1, 0), b.Shape()))
		}
	}}.gives(y)
}

// Pow returns v to the power of o element by element, broadcast. The gradient
// of o is 0 where v is 0, and NaN where v is negative.
func (v *Var) Pow(o *Var) *Var {
	a, b := v.Value, o.Value
	y := a.Pow(b)
	return op{name: "pow", in: []*Var{v, o}, reads: []*tensor.Tensor{a, b, y}, back: func(s *visit) {
		if s.wants(0) {
			e := b.AddScalar(-1)
			defer e.Free()
			p := a.Pow(e)
			defer p.Free()
			q := p.Mul(b)
			defer q.Free()
			s.send(0, toShape(s.dy.Mul(q), a.Shape()))
		}
		if s.wants(1) {
			log := a.Log()
			defer log.Free()
			zero := tensor.Maker{Device: a.Device(), DType: a.DType()}.Zeros()
			defer zero.Free()
			safe := tensor.Where(a, log, zero)
			defer safe.Free()
			q := safe.Mul(y)
			defer q.Free()
			s.send(1, toShape(s.dy.Mul(q), b.Shape()))
		}
	}}.gives(y)
}

// Maximum returns the larger of v and o element by element, broadcast. Where
// they are equal each gets half of the gradient.
func (v *Var) Maximum(o *Var) *Var {
	return v.extreme("maximum", o, gpu.GreaterEqual, gpu.Greater, v.Value.Maximum(o.Value))
}

// Minimum returns the smaller of v and o element by element, broadcast. Where
// they are equal each gets half of the gradient.
func (v *Var) Minimum(o *Var) *Var {
	return v.extreme("minimum", o, gpu.LessEqual, gpu.Less, v.Value.Minimum(o.Value))
}

func (v *Var) extreme(name string, o *Var, orEqual, strictly gpu.BinaryOp, y *tensor.Tensor) *Var {
	a, b := v.Value, o.Value
	return op{name: name, in: []*Var{v, o}, reads: []*tensor.Tensor{a, b}, back: func(s *visit) {
		half := func(x, y *tensor.Tensor) *tensor.Tensor {
			m := tensor.Binary(name, orEqual, x, y, 0.5, 0)
			n := tensor.Binary(name, strictly, x, y, 0.5, 0)
			defer n.Free()
			m.AddInPlace(n, 1)
			return m
		}
		if s.wants(0) {
			m := half(a, b)
			defer m.Free()
			s.send(0, toShape(s.dy.Mul(m), a.Shape()))
		}
		if s.wants(1) {
			m := half(b, a)
			defer m.Free()
			s.send(1, toShape(s.dy.Mul(m), b.Shape()))
		}
	}}.gives(y)
}

// Clamp returns v with what is below lo raised to lo, and what is above hi
// lowered to hi; no gradient comes from there.
func (v *Var) Clamp(lo, hi float64) *Var {
	x := v.Value
	y := x.Clamp(lo, hi)
	return op{name: "clamp", in: []*Var{v}, reads: []*tensor.Tensor{x, y}, back: func(s *visit) {
		same := x.Equal(y)
		defer same.Free()
		s.send(0, s.dy.Mul(same))
	}}.gives(y)
}

// AddScalar returns v + c.
func (v *Var) AddScalar(c float64) *Var {
	return op{name: "add_scalar", in: []*Var{v}, back: func(s *visit) { s.send(0, s.dy) }}.gives(v.Value.AddScalar(c))
}

// MulScalar returns v * c.
func (v *Var) MulScalar(c float64) *Var {
	return op{name: "mul_scalar", in: []*Var{v}, back: func(s *visit) { s.send(0, s.dy.MulScalar(c)) }}.gives(v.Value.MulScalar(c))
}

// PowScalar returns v to the power of c.
func (v *Var) PowScalar(c float64) *Var {
	x := v.Value
	return op{name: "pow_scalar", in: []*Var{v}, reads: []*tensor.Tensor{x}, back: func(s *visit) {
		switch c {
		case 0:
			s.send(0, s.dy.MulScalar(0))
		case 1:
			s.send(0, s.dy)
		case 2:
			s.send(0, times(s.dy, x, 2))
		default:
			p := x.PowScalar(c - 1)
			defer p.Free()
			s.send(0, times(s.dy, p, c))
		}
	}}.gives(x.PowScalar(c))
}

// Where returns a where cond is not 0, else b, all broadcast. There is no
// gradient through cond.
func Where(cond, a, b *Var) *Var {
	c := cond.Value
	return op{name: "where", in: []*Var{cond, a, b}, reads: []*tensor.Tensor{c}, back: func(s *visit) {
		zero := tensor.Maker{Device: c.Device(), DType: c.DType()}.Zeros()
		defer zero.Free()
		if s.wants(1) {
			s.send(1, toShape(tensor.Where(c, s.dy, zero), a.Shape()))
		}
		if s.wants(2) {
			s.send(2, toShape(tensor.Where(c, zero, s.dy), b.Shape()))
		}
	}}.gives(tensor.Where(c, a.Value, b.Value))
}

// MatMul returns the matrix product. Two vectors give a scalar, a matrix and a
// vector a vector. With more dimensions the last two are matrices and the rest
// is broadcast.
func (v *Var) MatMul(o *Var) *Var {
	a, b := v.Value, o.Value
	return op{name: "matmul", in: []*Var{v, o}, reads: []*tensor.Tensor{a, b}, back: func(s *visit) {
		// As matrices: a is (..., m, k), b is (..., k, n), dy is (..., m, n).
		am, bm, dy := a, b, s.dy
		if a.Rank() == 1 {
			am = a.Unsqueeze(0)
			dy = dy.Unsqueeze(max(0, b.Rank()-2))
		}
		if b.Rank() == 1 {
			bm = b.Unsqueeze(1)
			dy = dy.Unsqueeze(-1)
		}
		if s.wants(0) {
			da := tensor.Product(dy, bm, false, true)
			s.send(0, shaped(toShape(da, am.Shape()), a.Shape()))
		}
		if s.wants(1) {
			var db *tensor.Tensor
			if am.Rank() > 2 && bm.Rank() == 2 {
				// All rows of the batch make one product.
				db = tensor.Product(am.Reshape(-1, am.Dim(-1)), dy.Reshape(-1, dy.Dim(-1)), true, false)
			} else {
				db = tensor.Product(am, dy, true, false)
			}
			s.send(1, shaped(toShape(db, bm.Shape()), b.Shape()))
		}
		release(am, a)
		release(bm, b)
	}}.gives(a.MatMul(b))
}

// shaped is t, made for this purpose, in another shape of as many elements.
func shaped(t *tensor.Tensor, shape []int) *tensor.Tensor {
	if len(shape) == t.Rank() {
		return t
	}
	return t.Reshape(shape...)
}

// release gives up v if it is a view made of t.
func release(v, t *tensor.Tensor) {
	if v != t {
		v.Release()
	}
}
