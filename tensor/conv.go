package tensor

import (
	"fmt"

	"gradbook/gpu"
)

// convolution works out the parameters for images of a shape and kernels of
// another.
func convolution(op string, w Window, images, kernels []int, act gpu.UnaryOp, ts ...*Tensor) *gpu.Conv2DParams {
	if len(images) != 4 || len(kernels) != 4 || images[1] != kernels[1] {
		Fail(op, "needs images (n, c, h, w) and kernels (out, c, kh, kw) of as many channels", "", ts...)
	}
	w.Height, w.Width = kernels[2], kernels[3]
	p := w.over(op, images, ts[0])
	return &gpu.Conv2DParams{Act: act, N: p.N, C: p.C, H: p.H, W: p.W, O: uint32(kernels[0]), KH: p.KH, KW: p.KW, OH: p.OH, OW: p.OW,
		SH: p.SH, SW: p.SW, PH: p.PH, PW: p.PW, DH: p.DH, DW: p.DW}
}

// Conv2D returns act of the cross-correlation of images x (n, c, h, w) with
// kernels w (out, c, kh, kw), plus b (out), in one launch: (n, out, oh, ow). The
// window's size is that of the kernels. Act is gpu.Identity, ReLU, Sigmoid or
// Tanh.
func Conv2D(x, w, b *Tensor, window Window, act gpu.UnaryOp) *Tensor {
	floats("conv2d", x, w, b)
	p := convolution("conv2d", window, x.shape, w.shape, act, x, w)
	if len(b.shape) != 1 || b.shape[0] != int(p.O) {
		Fail("conv2d", fmt.Sprintf("the bias is not a vector of %d", p.O), "", x, w, b)
	}
	xd, f1 := x.dense("conv2d")
	defer f1()
	wd, f2 := w.dense("conv2d")
	defer f2()
	bd, f3 := b.dense("conv2d")
	defer f3()
	y := x.like("conv2d", []int{int(p.N), int(p.O), int(p.OH), int(p.OW)})
	run("conv2d", gpu.Conv2D, x.dtype, p, xd.view(), wd.view(), bd.view(), y.view())
	return y
}

// Conv2DGrad returns the gradient of Conv2D's images, of the given shape, given
// that of x * w + b.
func Conv2DGrad(dy, w *Tensor, window Window, shape ...int) *Tensor {
	floats("conv2d_bwd", dy, w)
	p := convolution("conv2d_bwd", window, shape, w.shape, gpu.Identity, dy, w)
	dyd, f1 := dy.dense("conv2d_bwd")
	defer f1()
	wd, f2 := w.dense("conv2d_bwd")
	defer f2()
	dx := dy.like("conv2d_bwd", shape)
	run("conv2d_bwd", gpu.Conv2DBwd, dy.dtype, p, dyd.view(), wd.view(), dx.view())
	return dx
}

// Conv2DParamGrads returns the gradients of Conv2D's kernels, of the given shape,
// and of its bias, given that of x * w + b.
func Conv2DParamGrads(dy, x *Tensor, window Window, shape ...int) (dw, db *Tensor) {
	floats("conv2d_param_bwd", dy, x)
	p := convolution("conv2d_param_bwd", window, x.shape, shape, gpu.Identity, dy, x)
	dyd, f1 := dy.dense("conv2d_param_bwd")
	defer f1()
	xd, f2 := x.dense("conv2d_param_bwd")
	defer f2()
	dw, db = x.like("conv2d_param_bwd", shape), x.like("conv2d_param_bwd", []int{int(p.O)})
	run("conv2d_param_bwd", gpu.Conv2DParamBwd, x.dtype, p, dyd.view(), xd.view(), dw.view(), db.view())
	return dw, db
}
