package tensor

import (
	"fmt"
	"slices"

	"gradbook/gpu"
)

// Broadcast returns the shape that shapes a and b broadcast to: from the last
// dimension on, sizes are equal, or one of them is 1 or missing. ok is false
// if they do not fit.
func Broadcast(a, b []int) (shape []int, ok bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	shape = slices.Clone(a)
	lead := len(a) - len(b)
	for i, n := range b {
		m := a[lead+i]
		if m == 1 {
			shape[lead+i] = n
		} else if n != 1 && n != m {
			return nil, false
		}
	}
	return shape, true
}

// spread returns t's strides as seen from a shape that it broadcasts to.
func (t *Tensor) spread(shape []int) []int {
	strides := make([]int, len(shape))
	lead := len(shape) - len(t.shape)
	for i, n := range t.shape {
		if n == shape[lead+i] {
			strides[lead+i] = t.strides[i]
		}
	}
	return strides
}

// Binary launches out = scale*op(a, b) + offset with broadcasting.
func Binary(name string, op gpu.BinaryOp, a, b *Tensor, scale, offset float64) *Tensor {
	floats(name, a, b)
	shape, ok := Broadcast(a.shape, b.shape)
	if !ok {
		Fail(name, "the shapes do not broadcast", "sizes must be equal or 1, from the last dimension on", a, b)
	}
	out := a.like(name, shape)
	p := gpu.BinaryParams{Scale: scale, Offset: offset, Op: op, N: uint32(out.Len())}
	p.Rank, p.Dims = merge(shape, []*gpu.Strides{&p.A, &p.B}, a.spread(shape), b.spread(shape))
	run(name, gpu.Binary, a.dtype, &p, a.view(), b.view(), out.view())
	return out
}

// Unary launches out = scale*op(t) + offset.
func Unary(name string, op gpu.UnaryOp, t *Tensor, scale, offset float64) *Tensor {
	floats(name, t)
	x, free := t.dense(name)
	defer free()
	out := t.like(name, t.shape)
	run(name, gpu.Unary, t.dtype, &gpu.UnaryParams{Scale: scale, Offset: offset, Op: op, N: uint32(t.Len())}, x.view(), out.view())
	return out
}

// Add returns t + o, broadcast.
func (t *Tensor) Add(o *Tensor) *Tensor { return Binary("add", gpu.Add, t, o, 1, 0) }

// Sub returns t - o, broadcast.
func (t *Tensor) Sub(o *Tensor) *Tensor { return Binary("sub", gpu.Sub, t, o, 1, 0) }

// Mul returns t * o element by element, broadcast.
func (t *Tensor) Mul(o *Tensor) *Tensor { return Binary("mul", gpu.Mul, t, o, 1, 0) }

// Div returns t / o element by element, broadcast.
func (t *Tensor) Div(o *Tensor) *Tensor { return Binary("div", gpu.Div, t, o, 1, 0) }

// Pow returns t to the power of o element by element, broadcast.
func (t *Tensor) Pow(o *Tensor) *Tensor { return Binary("pow", gpu.Pow, t, o, 1, 0) }

// Maximum returns the larger of t and o element by element, broadcast.
func (t *Tensor) Maximum(o *Tensor) *Tensor { return Binary("maximum", gpu.Max, t, o, 1, 0) }

// Minimum returns the smaller of t and o element by element, broadcast.
func (t *Tensor) Minimum(o *Tensor) *Tensor { return Binary("minimum", gpu.Min, t, o, 1, 0) }

// Clamp returns t with what is below lo raised to lo, and what is above hi
// lowered to hi.
func (t *Tensor) Clamp(lo, hi float64) *Tensor {
	operands("clamp", t)
	if lo > hi {
		Fail("clamp", fmt.Sprintf("%g to %g is no range", lo, hi), "", t)
	}
	m := Maker{t.Device(), t.dtype}
	low, high := m.Full(lo), m.Full(hi)
	defer low.Free()
	defer high.Free()
	raised := Binary("clamp", gpu.Max, t, low, 1, 0)
	defer raised.Free()
	return Binary("clamp", gpu.Min, raised, high, 1, 0)
}

// compare is Binary for comparisons, which take Int32 too: as Float64 where the
// device has it, else as Float32, which holds whole numbers up to 2^24. The
// result is then Float32.
func compare(name string, op gpu.BinaryOp, a, b *Tensor) *Tensor {
	operands(name, a, b)
	if a.dtype != Int32 {
		return Binary(name, op, a, b, 1, 0)
	}
	exact := Float32
	if a.Device().Info().Float64 {
		exact = Float64
	}
	x, y := a.Cast(exact), b.Cast(exact)
	defer x.Free()
	defer y.Free()
	mask := Binary(name, op, x, y, 1, 0)
	if exact == Float32 {
		return mask
	}
	defer mask.Free()
	return mask.Cast(Float32)
}

// Less returns 1 where t < o, else 0, broadcast.
func (t *Tensor) Less(o *Tensor) *Tensor { return compare("less", gpu.Less, t, o) }

// LessEqual returns 1 where t <= o, else 0, broadcast.
func (t *Tensor) LessEqual(o *Tensor) *Tensor { return compare("less_equal", gpu.LessEqual, t, o) }

// Greater returns 1 where t > o, else 0, broadcast.
func (t *Tensor) Greater(o *Tensor) *Tensor { return compare("greater", gpu.Greater, t, o) }

// GreaterEqual returns 1 where t >= o, else 0, broadcast.
func (t *Tensor) GreaterEqual(o *Tensor) *Tensor {
	return compare("greater_equal", gpu.GreaterEqual, t, o)
}

// Equal returns 1 where t == o, else 0, broadcast.
func (t *Tensor) Equal(o *Tensor) *Tensor { return compare("equal", gpu.Equal, t, o) }

// NotEqual returns 1 where t != o, else 0, broadcast.
func (t *Tensor) NotEqual(o *Tensor) *Tensor { return compare("not_equal", gpu.NotEqual, t, o) }

// AddScalar returns t + s.
func (t *Tensor) AddScalar(s float64) *Tensor { return Unary("add_scalar", gpu.Identity, t, 1, s) }

// MulScalar returns t * s.
func (t *Tensor) MulScalar(s float64) *Tensor { return Unary("mul_scalar", gpu.Identity, t, s, 0) }

// PowScalar returns t to the power of s.
func (t *Tensor) PowScalar(s float64) *Tensor {
	switch s {
	case 1:
		return t.MulScalar(1)
	case 2:
		return t.Square()
	case 0.5:
		return t.Sqrt()
	case -1:
		return t.Recip()
	case -0.5:
		return t.Rsqrt()
	}
	operands("pow", t)
	e := Maker{t.Device(), t.dtype}.Full(s)
	defer e.Free()
	return t.Pow(e)
}

// Neg returns -t.
func (t *Tensor) Neg() *Tensor { return Unary("neg", gpu.Neg, t, 1, 0) }

// Abs returns the absolute values.
func (t *Tensor) Abs() *Tensor { return Unary("abs", gpu.Abs, t, 1, 0) }

// Sign returns -1, 0 or 1.
func (t *Tensor) Sign() *Tensor { return Unary("sign", gpu.Sign, t, 1, 0) }

// Square returns t * t.
func (t *Tensor) Square() *Tensor { return Unary("square", gpu.Square, t, 1, 0) }

// Sqrt returns the square roots.
func (t *Tensor) Sqrt() *Tensor { return Unary("sqrt", gpu.Sqrt, t, 1, 0) }

// Rsqrt returns 1 / sqrt(t).
func (t *Tensor) Rsqrt() *Tensor { return Unary("rsqrt", gpu.Rsqrt, t, 1, 0) }

// Recip returns 1 / t.
func (t *Tensor) Recip() *Tensor { return Unary("recip", gpu.Recip, t, 1, 0) }

// Exp returns e to the power of t.
func (t *Tensor) Exp() *Tensor { return Unary("exp", gpu.Exp, t, 1, 0) }

// Log returns the natural logarithms.
func (t *Tensor) Log() *Tensor { return Unary("log", gpu.Log, t, 1, 0) }

// Sin returns the sines.
func (t *Tensor) Sin() *Tensor { return Unary("sin", gpu.Sin, t, 1, 0) }

// Cos returns the cosines.
func (t *Tensor) Cos() *Tensor { return Unary("cos", gpu.Cos, t, 1, 0) }

// Tanh returns the hyperbolic tangents.
func (t *Tensor) Tanh() *Tensor { return Unary("tanh", gpu.Tanh, t, 1, 0) }

// Sigmoid returns 1 / (1 + exp(-t)).
func (t *Tensor) Sigmoid() *Tensor { return Unary("sigmoid", gpu.Sigmoid, t, 1, 0) }

// ReLU returns t where it is positive, else 0.
func (t *Tensor) ReLU() *Tensor { return Unary("relu", gpu.ReLU, t, 1, 0) }

// GELU returns the Gaussian error linear unit of t, in its tanh form
// (Hendrycks & Gimpel 2016).
func (t *Tensor) GELU() *Tensor { return Unary("gelu", gpu.GELU, t, 1, 0) }

// SiLU returns t * sigmoid(t).
func (t *Tensor) SiLU() *Tensor { return Unary("silu", gpu.SiLU, t, 1, 0) }

// Softplus returns log(1 + exp(t)).
func (t *Tensor) Softplus() *Tensor { return Unary("softplus", gpu.Softplus, t, 1, 0) }

// Floor returns the largest whole numbers not above t.
func (t *Tensor) Floor() *Tensor { return Unary("floor", gpu.Floor, t, 1, 0) }

// Where returns a where cond is not 0, else b, all broadcast.
func Where(cond, a, b *Tensor) *Tensor {
	floats("where", cond, a, b)
	shape, ok := Broadcast(a.shape, b.shape)
	if ok {
		shape, ok = Broadcast(shape, cond.shape)
	}
	if !ok {
		Fail("where", "the shapes do not broadcast", "sizes must be equal or 1, from the last dimension on", cond, a, b)
	}
	args := make([]gpu.View, 0, 4)
	for _, t := range []*Tensor{cond, a, b} {
		x, free := t.wide(shape).dense("where")
		defer free()
		args = append(args, x.view())
	}
	out := a.like("where", shape)
	run("where", gpu.Where, a.dtype, &gpu.WhereParams{N: uint32(out.Len())}, append(args, out.view())...)
	return out
}

// wide is BroadcastTo for a shape known to fit, which is no holder of the storage.
func (t *Tensor) wide(shape []int) *Tensor {
	return &Tensor{base: t.base, offset: t.offset, shape: shape, strides: t.spread(shape), dtype: t.dtype}
}

// Fill sets every element of t to v.
func (t *Tensor) Fill(v float64) {
	operands("fill", t)
	if t.Contiguous() {
		run("fill", gpu.Fill, t.dtype, &gpu.FillParams{Value: v, N: uint32(t.Len())}, t.view())
		t.version.Add(1)
		return
	}
	x := Maker{t.Device(), t.dtype}.Full(v, t.shape...)
	defer x.Free()
	t.CopyFrom(x)
}

// CopyFrom replaces the elements of t by those of o, broadcast.
func (t *Tensor) CopyFrom(o *Tensor) {
	operands("copyfrom", t, o)
	for d, n := range t.shape {
		if n > 1 && t.strides[d] == 0 {
			Fail("copyfrom", "the target repeats its elements", "use Clone first", t, o)
		}
	}
	if shape, ok := Broadcast(t.shape, o.shape); !ok || !slices.Equal(shape, t.shape) {
		Fail("copyfrom", "the second does not broadcast to the first", "", t, o)
	}
	x := o.wide(t.shape)
	if !x.Contiguous() || o.base == t.base {
		x = x.copy("copyfrom")
		defer x.Free()
	}
	p := gpu.PasteParams{N: uint32(t.Len())}
	p.Rank, p.Dims = merge(t.shape, []*gpu.Strides{&p.Dst}, t.strides)
	run("copyfrom", gpu.Paste, t.dtype, &p, x.view(), t.view())
	t.version.Add(1)
}

// AddInPlace adds scale*o to t.
func (t *Tensor) AddInPlace(o *Tensor, scale float64) { t.Blend(o, scale, 1) }

// Blend replaces t by alpha*o + beta*t.
func (t *Tensor) Blend(o *Tensor, alpha, beta float64) {
	floats("blend", t, o)
	if !slices.Equal(t.shape, o.shape) {
		Fail("blend", "the shapes differ", "broadcast the second with BroadcastTo", t, o)
	}
	if !t.Contiguous() {
		c := t.copy("blend")
		defer c.Free()
		c.Blend(o, alpha, beta)
		t.CopyFrom(c)
		return
	}
	x := o
	if !o.Contiguous() || o.base == t.base {
		x = o.copy("blend")
		defer x.Free()
	}
	run("blend", gpu.Axpby, t.dtype, &gpu.AxpbyParams{Alpha: alpha, Beta: beta, N: uint32(t.Len())}, x.view(), t.view())
	t.version.Add(1)
}
