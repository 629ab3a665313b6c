package tensor

import (
	"fmt"

	"gradbook/gpu"
)

// The functions of this file are the fused kernels. A device that lacks one
// runs the primitives that it stands for.

// rows is t's size as a matrix of the last dimension's rows.
func (t *Tensor) rows() (rows, cols int) {
	if len(t.shape) == 0 {
		return 1, 1
	}
	cols = t.shape[len(t.shape)-1]
	return t.Len() / cols, cols
}

// Linear returns act(x*w' + b) for x (..., in), w (out, in) and b (out). act
// is gpu.Identity, gpu.ReLU, gpu.Sigmoid or gpu.Tanh.
func Linear(x, w, b *Tensor, act gpu.UnaryOp) *Tensor {
	floats("linear", x, w, b)
	rank("linear", w, 2, "a weight matrix (out, in)")
	rows, in := x.rows()
	out := w.shape[0]
	if len(x.shape) == 0 || in != w.shape[1] {
		Fail("linear", fmt.Sprintf("the input's last dimension is not the weights' %d", w.shape[1]), "flatten the input, or make the layer for its size", x, w, b)
	}
	if len(b.shape) != 1 || b.shape[0] != out {
		Fail("linear", fmt.Sprintf("the bias is not a vector of %d", out), "", x, w, b)
	}
	xd, f1 := x.dense("linear")
	defer f1()
	wd, f2 := w.dense("linear")
	defer f2()
	bd, f3 := b.dense("linear")
	defer f3()
	y := x.like("linear", append(x.Shape()[:len(x.shape)-1], out))
	run("linear", gpu.Linear, x.dtype, &gpu.LinearParams{Act: act, Rows: uint32(rows), In: uint32(in), Out: uint32(out)}, xd.view(), wd.view(), bd.view(), y.view())
	return y
}

// LinearParamGrads returns the gradients of Linear's weights and bias, given
// that of x*w' + b.
func LinearParamGrads(dy, x *Tensor) (dw, db *Tensor) {
	floats("linear_param_bwd", dy, x)
	rows, out := dy.rows()
	_, in := x.rows()
	dyd, f1 := dy.dense("linear_param_bwd")
	defer f1()
	xd, f2 := x.dense("linear_param_bwd")
	defer f2()
	dw, db = x.like("linear_param_bwd", []int{out, in}), x.like("linear_param_bwd", []int{out})
	run("linear_param_bwd", gpu.LinearParamBwd, x.dtype, &gpu.LinearParamBwdParams{Rows: uint32(rows), In: uint32(in), Out: uint32(out)}, dyd.view(), xd.view(), dw.view(), db.view())
	return dw, db
}

// Softmax returns exp(t) over the last dimension, divided by its sum.
func (t *Tensor) Softmax() *Tensor { return t.softmax("softmax", 0) }

// LogSoftmax returns the logarithm of Softmax.
func (t *Tensor) LogSoftmax() *Tensor { return t.softmax("log_softmax", 1) }

func (t *Tensor) softmax(op string, log uint32) *Tensor {
	floats(op, t)
	rows, cols := t.rows()
	x, free := t.dense(op)
	defer free()
	y := t.like(op, t.shape)
	run(op, gpu.Softmax, t.dtype, &gpu.SoftmaxParams{Rows: uint32(rows), Cols: uint32(cols), Log: log}, x.view(), y.view())
	return y
}

// SoftmaxGrad returns the gradient of Softmax's operand, or of LogSoftmax's if
// log, given the result y and its gradient.
func SoftmaxGrad(y, dy *Tensor, log bool) *Tensor {
	floats("softmax_bwd", y, dy)
	rows, cols := y.rows()
	d, free := dy.dense("softmax_bwd")
	defer free()
	dx := y.like("softmax_bwd", y.shape)
	p := gpu.SoftmaxParams{Rows: uint32(rows), Cols: uint32(cols)}
	if log {
		p.Log = 1
	}
	run("softmax_bwd", gpu.SoftmaxBwd, y.dtype, &p, y.view(), d.view(), dx.view())
	return dx
}

// CrossEntropy returns for logits (n, classes) and Int32 labels (n) the losses
// (n) and the logarithms (n) of the rows' sums of exponentials, which
// CrossEntropyGrad needs. A label outside the classes gives a loss of NaN.
func CrossEntropy(logits, labels *Tensor) (loss, lse *Tensor) {
	floats("xent", logits)
	indexes("xent", logits, labels)
	rank("xent", logits, 2, "logits (n, classes)")
	n := logits.shape[0]
	if labels.Len() != n {
		Fail("xent", fmt.Sprintf("%d rows of logits, but %d labels", n, labels.Len()), "give one label a row", logits, labels)
	}
	x, f1 := logits.dense("xent")
	defer f1()
	l, f2 := labels.dense("xent")
	defer f2()
	loss, lse = logits.like("xent", []int{n}), logits.like("xent", []int{n})
	run("xent", gpu.Xent, logits.dtype, &gpu.XentParams{Rows: uint32(n), Cols: uint32(logits.shape[1])}, x.view(), l.view(), loss.view(), lse.view())
	return loss, lse
}

// CrossEntropyGrad returns scale times the gradient of the logits. dloss has
// one element, for all rows, or one for each.
func CrossEntropyGrad(logits, labels, lse, dloss *Tensor, scale float64) *Tensor {
	floats("xent_bwd", logits, lse, dloss)
	x, f1 := logits.dense("xent_bwd")
	defer f1()
	l, f2 := labels.dense("xent_bwd")
	defer f2()
	d, f3 := dloss.dense("xent_bwd")
	defer f3()
	n := logits.shape[0]
	p := gpu.XentBwdParams{Scale: scale, Rows: uint32(n), Cols: uint32(logits.shape[1])}
	if d.Len() == n && n > 1 {
		p.DLossStride = 1
	}
	dx := logits.like("xent_bwd", logits.shape)
	run("xent_bwd", gpu.XentBwd, logits.dtype, &p, x.view(), l.view(), lse.view(), d.view(), dx.view())
	return dx
}

// LayerNorm returns (x-mean)*rstd*gamma + beta over x's last dimension, and
// the means and reciprocal deviations of the rows.
func LayerNorm(x, gamma, beta *Tensor, eps float64) (y, mean, rstd *Tensor) {
	floats("layer_norm", x, gamma, beta)
	rows, cols := x.rows()
	if gamma.Len() != cols || beta.Len() != cols {
		Fail("layer_norm", fmt.Sprintf("gamma and beta must have %d elements, as the last dimension", cols), "", x, gamma, beta)
	}
	xd, f1 := x.dense("layer_norm")
	defer f1()
	g, f2 := gamma.dense("layer_norm")
	defer f2()
	b, f3 := beta.dense("layer_norm")
	defer f3()
	y, mean, rstd = x.like("layer_norm", x.shape), x.like("layer_norm", []int{rows}), x.like("layer_norm", []int{rows})
	run("layer_norm", gpu.LayerNorm, x.dtype, &gpu.LayerNormParams{Eps: eps, Rows: uint32(rows), Cols: uint32(cols)},
		xd.view(), g.view(), b.view(), y.view(), mean.view(), rstd.view())
	return y, mean, rstd
}

// LayerNormGrad returns the gradient of LayerNorm's x.
func LayerNormGrad(dy, x, gamma, mean, rstd *Tensor) *Tensor {
	floats("layer_norm_bwd", dy, x, gamma)
	rows, cols := x.rows()
	d, f1 := dy.dense("layer_norm_bwd")
	defer f1()
	xd, f2 := x.dense("layer_norm_bwd")
	defer f2()
	g, f3 := gamma.dense("layer_norm_bwd")
	defer f3()
	dx := x.like("layer_norm_bwd", x.shape)
	run("layer_norm_bwd", gpu.LayerNormBwd, x.dtype, &gpu.LayerNormBwdParams{Rows: uint32(rows), Cols: uint32(cols)},
		d.view(), xd.view(), g.view(), mean.view(), rstd.view(), dx.view())
	return dx
}

// LayerNormParamGrads returns the gradients of LayerNorm's gamma and beta.
func LayerNormParamGrads(dy, x, mean, rstd *Tensor) (dgamma, dbeta *Tensor) {
	floats("layer_norm_param_bwd", dy, x)
	rows, cols := x.rows()
	d, f1 := dy.dense("layer_norm_param_bwd")
	defer f1()
	xd, f2 := x.dense("layer_norm_param_bwd")
	defer f2()
	dgamma, dbeta = x.like("layer_norm_param_bwd", []int{cols}), x.like("layer_norm_param_bwd", []int{cols})
	run("layer_norm_param_bwd", gpu.LayerNormParamBwd, x.dtype, &gpu.LayerNormBwdParams{Rows: uint32(rows), Cols: uint32(cols)},
		d.view(), xd.view(), mean.view(), rstd.view(), dgamma.view(), dbeta.view())
	return dgamma, dbeta
}

// Dropout returns x with each element zero with probability p and the others
// divided by 1-p, and the mask that x was multiplied by. It draws from the
// device's generator.
func Dropout(x *Tensor, p float64) (y, mask *Tensor) {
	floats("dropout", x)
	if !(p >= 0 && p <= 1) {
		Fail("dropout", fmt.Sprintf("the probability is %g", p), "use one from 0 to 1", x)
	}
	xd, free := x.dense("dropout")
	defer free()
	y, mask = x.like("dropout", x.shape), x.like("dropout", x.shape)
	state := x.Device().RandomState()
	run("dropout", gpu.Dropout, x.dtype, &gpu.DropoutParams{P: p, N: uint32(x.Len())}, state.All(), xd.view(), y.view(), mask.view())
	advance("dropout", state, (x.Len()+3)/4)
	return y, mask
}
