package autograd

import (
	"gradbook/gpu"
	"gradbook/tensor"
)

// Activation is a function that Linear applies to its result in one launch.
type Activation = gpu.UnaryOp

// The activations that Linear can take in.
const (
	NoActivation      Activation = gpu.Identity
	ReLUActivation    Activation = gpu.ReLU
	SigmoidActivation Activation = gpu.Sigmoid
	TanhActivation    Activation = gpu.Tanh
)

var activationBwd = map[Activation]gpu.BinaryOp{
	gpu.ReLU: gpu.ReLUBwd, gpu.Sigmoid: gpu.SigmoidBwd, gpu.Tanh: gpu.TanhBwd,
}

// Linear returns act(x*w' + b) in one launch, for x (..., in), w (out, in) and
// b (out).
func Linear(x, w, b *Var, act Activation) *Var {
	xt, wt := x.Value, w.Value
	y := tensor.Linear(xt, wt, b.Value, act)
	reads := []*tensor.Tensor{xt, wt}
	derivative, curved := activationBwd[act]
	if curved {
		reads = append(reads, y)
	}
	return op{name: "linear", in: []*Var{x, w, b}, reads: reads, back: func(s *visit) {
		dy := s.dy
		if curved {
			dy = tensor.Binary("linear_bwd", derivative, dy, y, 1, 0)
			defer dy.Free()
		}
		if s.wants(1) || s.wants(2) {
			dw, db := tensor.LinearParamGrads(dy, xt)
			sendOrFree(s, 1, dw)
			sendOrFree(s, 2, db)
		}
		if s.wants(0) {
			s.send(0, tensor.Product(dy, wt, false, false))
		}
	}}.gives(y)
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

// Conv2D returns the cross-correlation of images x (n, c, h, w) with kernels w
// (o, c, kh, kw), plus b (o): (n, o, oh, ow). The window's size is that of the
// kernels.
func Conv2D(x, w, b *Var, window tensor.Window) *Var {
	shape, ws := x.Shape(), w.Shape()
	if len(shape) != 4 || len(ws) != 4 || shape[1] != ws[1] {
		tensor.Fail("conv2d", "needs images (n, c, h, w) and kernels (out, c, kh, kw) of as many channels", "", x.Value, w.Value)
	}
	window.Height, window.Width = ws[2], ws[3]
	oh, ow := window.Out(shape[2], shape[3])
	cols := tensor.Im2col(x.Value, window)
	kernels := w.Value.Reshape(ws[0], -1)
	product := tensor.Product(kernels, cols, false, false)
	defer product.Free()
	bias := b.Value.Reshape(ws[0], 1)
	y := product.Add(bias).Reshape(shape[0], ws[0], oh, ow)
	y.Release() // the two views of it count as one
	bias.Release()
	return op{name: "conv2d", in: []*Var{x, w, b}, reads: []*tensor.Tensor{w.Value}, saved: []*tensor.Tensor{cols}, back: func(s *visit) {
		defer kernels.Release()
		dy := s.dy.Reshape(shape[0], ws[0], oh*ow)
		if !dy.SameStorage(s.dy) {
			defer dy.Free()
		}
		if s.wants(2) {
			s.send(2, dy.Sum(0, 2))
		}
		if s.wants(1) {
			each := tensor.Product(dy, cols, false, true)
			defer each.Free()
			s.send(1, each.Sum(0).Reshape(ws...))
		}
		if s.wants(0) {
			dcols := tensor.Product(kernels, dy, true, false)
			defer dcols.Free()
			s.send(0, tensor.Col2im(dcols, window, shape...))
		}
	}}.gives(y)
}

// MaxPool2D returns the largest element of each window of images (n, c, h, w).
// The first of equal ones gets the gradient.
func (v *Var) MaxPool2D(window tensor.Window) *Var {
	y, index := tensor.MaxPool(v.Value, window)
	shape := v.Shape()
	return op{name: "max_pool", in: []*Var{v}, saved: []*tensor.Tensor{index}, back: func(s *visit) {
		s.send(0, tensor.MaxPoolGrad(s.dy, index, window, shape...))
	}}.gives(y)
}
