package autograd

import (
	"gradbook/gpu"
	"gradbook/tensor"
)

// viaResult is a function whose gradient follows from its result.
func (v *Var) viaResult(name string, y *tensor.Tensor, grad func(dy, y *tensor.Tensor) *tensor.Tensor) *Var {
	return op{name: name, in: []*Var{v}, reads: []*tensor.Tensor{y}, back: func(s *visit) { s.send(0, grad(s.dy, y)) }}.gives(y)
}

// viaOperand is a function whose gradient follows from its operand.
func (v *Var) viaOperand(name string, y *tensor.Tensor, grad func(dy, x *tensor.Tensor) *tensor.Tensor) *Var {
	x := v.Value
	return op{name: name, in: []*Var{v}, reads: []*tensor.Tensor{x}, back: func(s *visit) { s.send(0, grad(s.dy, x)) }}.gives(y)
}

// bwd is the gradient that a binary kernel computes.
func bwd(name string, f gpu.BinaryOp) func(dy, x *tensor.Tensor) *tensor.Tensor {
	return func(dy, x *tensor.Tensor) *tensor.Tensor { return tensor.Binary(name, f, dy, x, 1, 0) }
}

// Neg returns -v.
func (v *Var) Neg() *Var {
	return op{name: "neg", in: []*Var{v}, back: func(s *visit) { s.send(0, s.dy.Neg()) }}.gives(v.Value.Neg())
}

// Abs returns the absolute values. The gradient at 0 is 0.
func (v *Var) Abs() *Var { return v.viaOperand("abs", v.Value.Abs(), bwd("abs_bwd", gpu.AbsBwd)) }

// Square returns v * v.
func (v *Var) Square() *Var {
	return v.viaOperand("square", v.Value.Square(), func(dy, x *tensor.Tensor) *tensor.Tensor { return times(dy, x, 2) })
}

// Sqrt returns the square roots.
func (v *Var) Sqrt() *Var { return v.viaResult("sqrt", v.Value.Sqrt(), bwd("sqrt_bwd", gpu.SqrtBwd)) }

// Rsqrt returns 1 / sqrt(v).
func (v *Var) Rsqrt() *Var {
	return v.viaResult("rsqrt", v.Value.Rsqrt(), func(dy, y *tensor.Tensor) *tensor.Tensor {
		cube := y.PowScalar(3)
		defer cube.Free()
		return times(dy, cube, -0.5)
	})
}

// Recip returns 1 / v.
func (v *Var) Recip() *Var {
	return v.viaResult("recip", v.Value.Recip(), func(dy, y *tensor.Tensor) *tensor.Tensor {
		t := dy.Mul(y)
		defer t.Free()
		return times(t, y, -1)
	})
}

// Exp returns e to the power of v.
func (v *Var) Exp() *Var {
	return v.viaResult("exp", v.Value.Exp(), func(dy, y *tensor.Tensor) *tensor.Tensor { return dy.Mul(y) })
}

// Log returns the natural logarithms.
func (v *Var) Log() *Var {
	return v.viaOperand("log", v.Value.Log(), func(dy, x *tensor.Tensor) *tensor.Tensor { return dy.Div(x) })
}

// Sin returns the sines.
func (v *Var) Sin() *Var {
	return v.viaOperand("sin", v.Value.Sin(), func(dy, x *tensor.Tensor) *tensor.Tensor {
		c := x.Cos()
		defer c.Free()
		return dy.Mul(c)
	})
}

// Cos returns the cosines.
func (v *Var) Cos() *Var {
	return v.viaOperand("cos", v.Value.Cos(), func(dy, x *tensor.Tensor) *tensor.Tensor {
		c := x.Sin()
		defer c.Free()
		return times(dy, c, -1)
	})
}

// Tanh returns the hyperbolic tangents.
func (v *Var) Tanh() *Var { return v.viaResult("tanh", v.Value.Tanh(), bwd("tanh_bwd", gpu.TanhBwd)) }

// Sigmoid returns 1 / (1 + exp(-v)).
func (v *Var) Sigmoid() *Var {
	return v.viaResult("sigmoid", v.Value.Sigmoid(), bwd("sigmoid_bwd", gpu.SigmoidBwd))
}

// ReLU returns v where it is positive, else 0. The gradient at 0 is 0.
func (v *Var) ReLU() *Var { return v.viaResult("relu", v.Value.ReLU(), bwd("relu_bwd", gpu.ReLUBwd)) }

// GELU returns the Gaussian error linear unit of v, in its tanh form
// (Hendrycks & Gimpel 2016).
func (v *Var) GELU() *Var { return v.viaOperand("gelu", v.Value.GELU(), bwd("gelu_bwd", gpu.GELUBwd)) }

// SiLU returns v * sigmoid(v).
func (v *Var) SiLU() *Var { return v.viaOperand("silu", v.Value.SiLU(), bwd("silu_bwd", gpu.SiLUBwd)) }

// Softplus returns log(1 + exp(v)).
func (v *Var) Softplus() *Var {
	return v.viaOperand("softplus", v.Value.Softplus(), bwd("softplus_bwd", gpu.SoftplusBwd))
}

// Softmax returns exp(v) over the last dimension, divided by its sum.
func (v *Var) Softmax() *Var {
	return v.viaResult("softmax", v.Value.Softmax(), func(dy, y *tensor.Tensor) *tensor.Tensor { return tensor.SoftmaxGrad(y, dy, false) })
}

// LogSoftmax returns the logarithm of Softmax.
func (v *Var) LogSoftmax() *Var {
	return v.viaResult("log_softmax", v.Value.LogSoftmax(), func(dy, y *tensor.Tensor) *tensor.Tensor { return tensor.SoftmaxGrad(y, dy, true) })
}

// Cast returns v converted to dtype dt. A gradient goes back from float to
// float.
func (v *Var) Cast(dt DType) *Var {
	from := v.DType()
	switch {
	case from == dt:
		return v
	case !from.IsFloat() || !dt.IsFloat():
		return compared(v.Value.Cast(dt))
	}
	return op{name: "cast", in: []*Var{v}, back: func(s *visit) { s.send(0, s.dy.Cast(from)) }}.gives(v.Value.Cast(dt))
}

// Sign returns -1, 0 or 1: a constant.
func (v *Var) Sign() *Var { return compared(v.Value.Sign()) }

// Floor returns the largest whole numbers not above v: a constant.
func (v *Var) Floor() *Var { return compared(v.Value.Floor()) }

// Less returns 1 where v < o, else 0, broadcast: a constant.
func (v *Var) Less(o *Var) *Var { return compared(v.Value.Less(o.Value)) }

// LessEqual returns 1 where v <= o, else 0, broadcast: a constant.
func (v *Var) LessEqual(o *Var) *Var { return compared(v.Value.LessEqual(o.Value)) }

// GreaterEqual returns 1 where v >= o, else 0, broadcast: a constant.
func (v *Var) GreaterEqual(o *Var) *Var { return compared(v.Value.GreaterEqual(o.Value)) }

// NotEqual returns 1 where v != o, else 0, broadcast: a constant.
func (v *Var) NotEqual(o *Var) *Var { return compared(v.Value.NotEqual(o.Value)) }

// Greater returns 1 where v > o, else 0, broadcast: a constant.
func (v *Var) Greater(o *Var) *Var { return compared(v.Value.Greater(o.Value)) }

// Equal returns 1 where v == o, else 0, broadcast: a constant.
func (v *Var) Equal(o *Var) *Var { return compared(v.Value.Equal(o.Value)) }

// ArgMax returns as Int32 the first positions of the largest elements along
// dimension dim, which the result lacks: a constant.
func (v *Var) ArgMax(dim int) *Var { return compared(v.Value.ArgMax(dim)) }

func compared(t *tensor.Tensor) *Var { return &Var{Value: t, made: true} }
