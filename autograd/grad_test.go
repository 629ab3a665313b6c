package autograd

import (
	"testing"

	"gradbook/tensor"
)

func rnd(shape ...int) *tensor.Tensor { return tensor.As(tensor.Float64).Randn(shape...) }

// positive numbers away from 0.
func pos(shape ...int) *tensor.Tensor {
	return tensor.As(tensor.Float64).Rand(shape...).AddScalar(0.5)
}

func unary(f func(*Var) *Var) func([]*Var) *Var {
	return func(v []*Var) *Var { return f(v[0]) }
}

func binary(f func(a, b *Var) *Var) func([]*Var) *Var {
	return func(v []*Var) *Var { return f(v[0], v[1]) }
}

type check struct {
	name string
	f    func([]*Var) *Var
	in   []*tensor.Tensor
}

func checks() []check {
	ints := func(v ...int) *Var { return Const(tensor.FromInts(v)) }
	one := func(name string, x *tensor.Tensor, f func(*Var) *Var) check {
		return check{name, unary(f), []*tensor.Tensor{x}}
	}
	two := func(name string, a, b *tensor.Tensor, f func(a, b *Var) *Var) check {
		return check{name, binary(f), []*tensor.Tensor{a, b}}
	}
	var all []check
	for _, shapes := range [][2][]int{{{2, 3}, {2, 3}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}}, {{3}, {2, 3}}, {{}, {2, 2}}, {{2, 1, 2}, {3, 1}}} {
		a, b := shapes[0], shapes[1]
		all = append(all,
			two("add", rnd(a...), rnd(b...), (*Var).Add),
			two("sub", rnd(a...), rnd(b...), (*Var).Sub),
			two("mul", rnd(a...), rnd(b...), (*Var).Mul),
			two("div", rnd(a...), pos(b...), (*Var).Div),
			two("pow", pos(a...), rnd(b...), (*Var).Pow),
			two("maximum", rnd(a...), rnd(b...), (*Var).Maximum),
			two("minimum", rnd(a...), rnd(b...), (*Var).Minimum),
			two("where", rnd(a...), rnd(b...), func(x, y *Var) *Var { return Where(x.Greater(y), x, y) }),
		)
	}
	for _, s := range [][2][]int{{{2, 3}, {3, 4}}, {{3}, {3}}, {{2, 3}, {3}}, {{3}, {3, 2}}, {{2, 2, 3}, {3, 2}}, {{2, 3}, {2, 3, 2}}, {{2, 2, 3}, {2, 3, 2}}, {{2, 1, 2, 3}, {3, 3, 2}}, {{2, 2, 3}, {3}}, {{3}, {2, 3, 2}}} {
		all = append(all, two("matmul", rnd(s[0]...), rnd(s[1]...), (*Var).MatMul))
	}
	all = append(all,
		two("matmul of views", rnd(3, 2), rnd(4, 6), func(a, b *Var) *Var { return a.T().MatMul(b.Slice(1, 2, 5).T().Slice(1, 0, 3)) }),
		one("neg", rnd(3), (*Var).Neg), one("abs", rnd(5), (*Var).Abs), one("square", rnd(3), (*Var).Square),
		one("sqrt", pos(3), (*Var).Sqrt), one("recip", pos(3), (*Var).Recip), one("rsqrt", pos(3), (*Var).Rsqrt), one("exp", rnd(3), (*Var).Exp),
		one("log", pos(3), (*Var).Log), one("sin", rnd(3), (*Var).Sin), one("cos", rnd(3), (*Var).Cos),
		one("tanh", rnd(3), (*Var).Tanh), one("sigmoid", rnd(3), (*Var).Sigmoid), one("relu", rnd(6), (*Var).ReLU),
		one("gelu", rnd(6), (*Var).GELU), one("silu", rnd(6), (*Var).SiLU), one("softplus", rnd(6), (*Var).Softplus),
		one("unary of a view", rnd(3, 2), func(x *Var) *Var { return x.T().Tanh() }),
		one("clamp", rnd(8), func(x *Var) *Var { return x.Clamp(-0.7, 0.4) }),
		one("add scalar", rnd(3), func(x *Var) *Var { return x.AddScalar(2) }),
		one("mul scalar", rnd(3), func(x *Var) *Var { return x.MulScalar(-2) }),
		one("pow scalar", pos(3), func(x *Var) *Var { return x.PowScalar(2.5) }),
		one("pow scalar 0", pos(3), func(x *Var) *Var { return x.PowScalar(0) }),
		one("pow scalar 1", rnd(3), func(x *Var) *Var { return x.PowScalar(1) }),
		one("pow scalar 2", rnd(3), func(x *Var) *Var { return x.PowScalar(2) }),
		one("pow scalar 3", rnd(3), func(x *Var) *Var { return x.PowScalar(3) }),
		one("softmax", rnd(2, 4), (*Var).Softmax), one("log softmax", rnd(2, 4), (*Var).LogSoftmax),
		one("softmax of a view", rnd(4, 2), func(x *Var) *Var { return x.T().Softmax() }),
		one("logsumexp", rnd(2, 4), func(x *Var) *Var { return x.LogSumExp(0) }),
		one("variance", rnd(2, 4), func(x *Var) *Var { return x.Variance(1) }),

		one("t", rnd(2, 3), (*Var).T),
		one("permute", rnd(2, 3, 4), func(x *Var) *Var { return x.Permute(2, 0, -2).Square() }),
		one("reshape", rnd(2, 6), func(x *Var) *Var { return x.T().Reshape(3, 4).Square() }),
		one("flatten", rnd(2, 3, 2), func(x *Var) *Var { return x.Flatten().Exp() }),
		one("unsqueeze", rnd(2, 3), func(x *Var) *Var { return x.Unsqueeze(1).Squeeze(1).Square() }),
		one("broadcast", rnd(2, 1), func(x *Var) *Var { return x.BroadcastTo(3, 2, 4).Square() }),
		one("index", rnd(3, 4), func(x *Var) *Var { return x.Index(-1, 2).Add(x.Index(1).Sum()) }),
		one("slice", rnd(3, 4), func(x *Var) *Var { return x.Slice(1, 1, 3).Square() }),
		one("slices that overlap", rnd(5), func(x *Var) *Var { return x.Slice(0, 0, 3).Mul(x.Slice(0, 2, 5)) }),
		one("gather", rnd(4, 2), func(x *Var) *Var { return x.Gather(ints(3, 0, 3)).Square() }),
		two("concat", rnd(2, 3), rnd(2, 2), func(a, b *Var) *Var { return Concat(1, a, b, a).Square() }),
		two("stack", rnd(2, 3), rnd(2, 3), func(a, b *Var) *Var { return Stack(-1, a, b).Square() }),

		one("sum", rnd(2, 3, 2), func(x *Var) *Var { return x.Square().Sum() }),
		one("sum over dims", rnd(2, 3, 2), func(x *Var) *Var { return x.Sum(0, -1).Square() }),
		one("sum keep", rnd(2, 3), func(x *Var) *Var { return x.Mul(x.SumKeep(1)) }),
		one("mean", rnd(2, 3, 2), func(x *Var) *Var { return x.Mean(1).Square() }),
		one("mean keep", rnd(2, 3), func(x *Var) *Var { return x.Mul(x.MeanKeep()) }),
		one("max", rnd(2, 3, 2), func(x *Var) *Var { return x.Max(1) }),
		one("max of all", rnd(2, 3), func(x *Var) *Var { return x.Max().Mul(x) }),
		one("min", rnd(2, 3, 2), func(x *Var) *Var { return x.Min(0, 2) }),

		one("cross entropy", rnd(3, 4), func(x *Var) *Var { return CrossEntropy(x, ints(3, 0, 1)) }),
		one("cross entropy of a view", rnd(4, 3), func(x *Var) *Var { return CrossEntropy(x.T(), ints(3, 0, 1)).Square() }),
		one("max pool", rnd(2, 2, 4, 5), func(x *Var) *Var { return x.MaxPool2D(tensor.Square(2, 2, 0)) }),
		one("relu and max pool", rnd(2, 2, 4, 6), func(x *Var) *Var { return ReLUMaxPool2D(x, tensor.Square(2, 2, 0)) }),
		one("max pool with padding", rnd(1, 2, 4, 5), func(x *Var) *Var { return x.MaxPool2D(tensor.Square(3, 2, 1)) }),
	)
	for _, act := range []Activation{NoActivation, ReLUActivation, SigmoidActivation, TanhActivation} {
		all = append(all, check{"conv2d and activation", func(v []*Var) *Var { return Conv2D(v[0], v[1], v[2], tensor.Square(2, 1, 1), act) },
			[]*tensor.Tensor{rnd(2, 3, 3, 4), rnd(2, 3, 2, 2), rnd(2)}})
		all = append(all, check{"linear", func(v []*Var) *Var { return Linear(v[0], v[1], v[2], act) }, []*tensor.Tensor{rnd(4, 3), rnd(2, 3), rnd(2)}})
	}
	for _, w := range []tensor.Window{tensor.Square(3, 1, 1), tensor.Square(3, 2, 0), {StrideH: 1, StrideW: 2, PadH: 1, DilationH: 2}} {
		all = append(all, check{"conv2d", func(v []*Var) *Var { return Conv2D(v[0], v[1], v[2], w, NoActivation) }, []*tensor.Tensor{rnd(2, 2, 5, 6), rnd(3, 2, 3, 3), rnd(3)}})
	}
	return append(all,
		check{"linear of 3 dimensions", func(v []*Var) *Var { return Linear(v[0], v[1], v[2], NoActivation) }, []*tensor.Tensor{rnd(2, 2, 3), rnd(2, 3), rnd(2)}},
		check{"linear of views", func(v []*Var) *Var { return Linear(v[0].T(), v[1].T(), v[2].Slice(0, 1, 3), NoActivation) }, []*tensor.Tensor{rnd(3, 4), rnd(3, 2), rnd(4)}},
		check{"layer norm", func(v []*Var) *Var { return LayerNorm(v[0], v[1], v[2], 1e-5) }, []*tensor.Tensor{rnd(2, 3, 4), rnd(4), rnd(4)}},
		check{"reuse", func(v []*Var) *Var { a := v[0].Tanh(); return a.Mul(a).Add(a).Sub(a.Exp().Mul(v[0])) }, []*tensor.Tensor{rnd(3)}},
		check{"one operand twice", func(v []*Var) *Var { return v[0].MatMul(v[0]).Add(v[0].Div(v[0].T())) }, []*tensor.Tensor{pos(3, 3)}},
		check{"custom", func(v []*Var) *Var { return cube(v[0].Mul(v[1]), v[1]) }, []*tensor.Tensor{rnd(3), rnd(3)}},
	)
}

// cube is a*a*a + b.
var cube = Func("cube",
	func(in []*tensor.Tensor) *tensor.Tensor { return in[0].PowScalar(3).Add(in[1]) },
	func(in []*tensor.Tensor, out, dout *tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{dout.Mul(in[0].Square()).MulScalar(3), dout}
	})

func TestGradients(t *testing.T) {
	tensor.Seed(3)
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			if err := GradCheck(c.f, c.in...); err != nil {
				t.Error(err)
			}
		})
	}
}

// GradCheck must notice what it is for.
func TestGradCheckNoticesFaults(t *testing.T) {
	scaled := func(by float64) func([]*Var) *Var {
		return unary(func(v *Var) *Var {
			return Func("faulty",
				func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Square() },
				func(in []*tensor.Tensor, out, dout *tensor.Tensor) []*tensor.Tensor {
					return []*tensor.Tensor{dout.Mul(in[0]).MulScalar(by)}
				})(v)
		})
	}
	if err := GradCheck(scaled(2), rnd(2, 2)); err != nil {
		t.Error(err)
	}
	for _, by := range []float64{2.001, 0, -2} {
		if GradCheck(scaled(by), rnd(2, 2)) == nil {
			t.Errorf("a gradient scaled by %g/2 went unnoticed", by)
		}
	}
	transposed := unary(func(v *Var) *Var {
		return Func("transposed",
			func(in []*tensor.Tensor) *tensor.Tensor { return in[0].MulScalar(1) },
			func(in []*tensor.Tensor, out, dout *tensor.Tensor) []*tensor.Tensor {
				return []*tensor.Tensor{dout.T()}
			})(v)
	})
	if GradCheck(transposed, rnd(2, 2)) == nil {
		t.Error("a transposed gradient went unnoticed")
	}
}
