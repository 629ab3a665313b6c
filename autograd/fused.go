package autograd

import (
	"gradbook/gpu"
	"gradbook/tensor"
)

// Activation is a function that Linear and Conv2D apply to their result in one
// launch.
type Activation = gpu.UnaryOp

// The activations that they can take in.
const (
	NoActivation      Activation = gpu.Identity
	ReLUActivation    Activation = gpu.ReLU
	SigmoidActivation Activation = gpu.Sigmoid
	TanhActivation    Activation = gpu.Tanh
)

var activations = map[Activation]struct {
	name       string
	derivative gpu.BinaryOp
}{
	gpu.ReLU: {"relu", gpu.ReLUBwd}, gpu.Sigmoid: {"sigmoid", gpu.SigmoidBwd}, gpu.Tanh: {"tanh", gpu.TanhBwd},
}

// Linear returns act(x*w' + b) in one launch, for x (..., in), w (out, in) and
// b (out).
func Linear(x, w, b *Var, act Activation) *Var {
	xt, wt := x.Value, w.Value
	y := tensor.Linear(xt, wt, b.Value, act)
	return curved(op{name: "linear", in: []*Var{x, w, b}, reads: []*tensor.Tensor{xt, wt}}, y, act, func(s *visit, dy *tensor.Tensor) {
		if s.wants(1) || s.wants(2) {
			dw, db := tensor.LinearParamGrads(dy, xt)
			sendOrFree(s, 1, dw)
			sendOrFree(s, 2, db)
		}
		if s.wants(0) {
			s.send(0, tensor.Product(dy, wt, false, false))
		}
	})
}

// curved completes an operation whose result y an activation has passed: back
// gets the gradient of what the activation was given. On the tape the two are one
// operation, with both names.
func curved(o op, y *tensor.Tensor, act Activation, back func(s *visit, dy *tensor.Tensor)) *Var {
	a, isCurved := activations[act]
	if !isCurved {
		o.back = func(s *visit) { back(s, s.dy) }
		return o.gives(y)
	}
	o.reads = append(o.reads, y)
	bwd := o.name + "_bwd"
	o.name += "+" + a.name
	o.back = func(s *visit) {
		dy := tensor.Binary(bwd, a.derivative, s.dy, y, 1, 0)
		defer dy.Free()
		back(s, dy)
	}
	return o.gives(y)
}

func sendOrFree(s *visit, i int, t *tensor.Tensor) {
	if s.wants(i) {
		s.send(i, t)
	} else {
		t.Free()
	}
}

// CrossEntropy returns the mean, over the rows, of the cross-entropy of
// softmax(logits) and the labels: logits (n, classes), Int32 labels (n). A
// label outside the classes makes it NaN.
func CrossEntropy(logits, labels *Var) *Var {
	x, l := logits.Value, labels.Value
	losses, lse := tensor.CrossEntropy(x, l)
	defer losses.Free()
	return op{name: "cross_entropy", in: []*Var{logits, labels}, reads: []*tensor.Tensor{x, l}, saved: []*tensor.Tensor{lse}, back: func(s *visit) {
		s.send(0, tensor.CrossEntropyGrad(x, l, lse, s.dy, 1/float64(x.Dim(0))))
	}}.gives(losses.Mean())
}

// LayerNorm returns (x-mean)/sqrt(var+eps)*gamma + beta over x's last
// dimension (Ba et al. 2016).
func LayerNorm(x, gamma, beta *Var, eps float64) *Var {
	xt, g := x.Value, gamma.Value
	y, mean, rstd := tensor.LayerNorm(xt, g, beta.Value, eps)
	return op{name: "layer_norm", in: []*Var{x, gamma, beta}, reads: []*tensor.Tensor{xt, g}, saved: []*tensor.Tensor{mean, rstd}, back: func(s *visit) {
		if s.wants(1) || s.wants(2) {
			dg, db := tensor.LayerNormParamGrads(s.dy, xt, mean, rstd)
			sendOrFree(s, 1, dg)
			sendOrFree(s, 2, db)
		}
		if s.wants(0) {
			s.send(0, tensor.LayerNormGrad(s.dy, xt, g, mean, rstd))
		}
	}}.gives(y)
}

// Dropout returns v with each element zero with probability p and the others
// divided by 1-p (Srivastava et al. 2014). It draws from the device's
// generator.
func (v *Var) Dropout(p float64) *Var {
	y, mask := tensor.Dropout(v.Value, p)
	return op{name: "dropout", in: []*Var{v}, saved: []*tensor.Tensor{mask}, back: func(s *visit) { s.send(0, s.dy.Mul(mask)) }}.gives(y)
}

// Conv2D returns act of the cross-correlation of images x (n, c, h, w) with
// kernels w (o, c, kh, kw), plus b (o), in one launch: (n, o, oh, ow). The window's
// size is that of the kernels.
func Conv2D(x, w, b *Var, window tensor.Window, act Activation) *Var {
	xt, wt := x.Value, w.Value
	y := tensor.Conv2D(xt, wt, b.Value, window, act)
	shape, kernels := x.Shape(), w.Shape()
	return curved(op{name: "conv2d", in: []*Var{x, w, b}, reads: []*tensor.Tensor{xt, wt}}, y, act, func(s *visit, dy *tensor.Tensor) {
		if s.wants(1) || s.wants(2) {
			dw, db := tensor.Conv2DParamGrads(dy, xt, window, kernels...)
			sendOrFree(s, 1, dw)
			sendOrFree(s, 2, db)
		}
		if s.wants(0) {
			s.send(0, tensor.Conv2DGrad(dy, wt, window, shape...))
		}
	})
}

// MaxPool2D returns the largest element of each window of images (n, c, h, w).
// The first of equal ones gets the gradient.
func (v *Var) MaxPool2D(window tensor.Window) *Var { return maxPool(v, window, NoActivation) }

// ReLUMaxPool2D returns max(0, largest element) of each window of images (n, c,
// h, w), in one launch: what x.ReLU().MaxPool2D(window) gives, value and gradient,
// and x.MaxPool2D(window).ReLU() too.
func ReLUMaxPool2D(x *Var, window tensor.Window) *Var { return maxPool(x, window, ReLUActivation) }

func maxPool(v *Var, window tensor.Window, act Activation) *Var {
	y, index := tensor.MaxPool(v.Value, window, act)
	shape, name := v.Shape(), "max_pool"
	if act != NoActivation {
		name = activations[act].name + "+" + name
	}
	return op{name: name, in: []*Var{v}, saved: []*tensor.Tensor{index}, back: func(s *visit) {
		s.send(0, tensor.MaxPoolGrad(s.dy, index, window, shape...))
	}}.gives(y)
}
