package tensor

import (
	"fmt"

	"gradbook/gpu"
)

// Window is a window that slides over the planes of images (n, c, h, w).
// Stride and Dilation of 0 mean 1.
type Window struct {
	Height, Width        int
	StrideH, StrideW     int
	PadH, PadW           int // rows and columns of padding at each side
	DilationH, DilationW int
}

// Square is a window of size by size with one stride and padding for both
// directions.
func Square(size, stride, pad int) Window {
	return Window{Height: size, Width: size, StrideH: stride, StrideW: stride, PadH: pad, PadW: pad}
}

// over works out the parameters for images of a shape.
func (w Window) over(op string, shape []int, t *Tensor) gpu.WindowParams {
	if len(shape) != 4 {
		Fail(op, fmt.Sprintf("needs images (n, channels, height, width), has rank %d", len(shape)), "reshape", t)
	}
	w.StrideH, w.StrideW = max(1, w.StrideH), max(1, w.StrideW)
	w.DilationH, w.DilationW = max(1, w.DilationH), max(1, w.DilationW)
	out := func(n, k, stride, pad, dilation int) int {
		return (n+2*pad-dilation*(k-1)-1)/stride + 1
	}
	room := shape[2]+2*w.PadH >= w.DilationH*(w.Height-1)+1 && shape[3]+2*w.PadW >= w.DilationW*(w.Width-1)+1
	if w.Height < 1 || w.Width < 1 || w.PadH < 0 || w.PadW < 0 || !room {
		Fail(op, fmt.Sprintf("a window of %d by %d does not fit", w.Height, w.Width), "use a smaller window or padding", t)
	}
	return gpu.WindowParams{
		N: uint32(shape[0]), C: uint32(shape[1]), H: uint32(shape[2]), W: uint32(shape[3]),
		KH: uint32(w.Height), KW: uint32(w.Width),
		OH: uint32(out(shape[2], w.Height, w.StrideH, w.PadH, w.DilationH)),
		OW: uint32(out(shape[3], w.Width, w.StrideW, w.PadW, w.DilationW)),
		SH: uint32(w.StrideH), SW: uint32(w.StrideW), PH: uint32(w.PadH), PW: uint32(w.PadW),
		DH: uint32(w.DilationH), DW: uint32(w.DilationW),
	}
}

// Out returns the height and width of what the window gives for images of h by
// w.
func (w Window) Out(h, width int) (oh, ow int) {
	p := w.over("window", []int{1, 1, h, width}, nil)
	return int(p.OH), int(p.OW)
}

// Im2col returns the windows of images (n, c, h, w) as columns
// (n, c*kh*kw, oh*ow), zero outside the images.
func Im2col(x *Tensor, w Window) *Tensor {
	floats("im2col", x)
	p := w.over("im2col", x.shape, x)
	d, free := x.dense("im2col")
	defer free()
	cols := x.like("im2col", []int{int(p.N), int(p.C * p.KH * p.KW), int(p.OH * p.OW)})
	run("im2col", gpu.Im2col, x.dtype, &p, d.view(), cols.view())
	return cols
}

// Col2im adds columns up to images of the given shape: the gradient of Im2col.
func Col2im(cols *Tensor, w Window, shape ...int) *Tensor {
	floats("col2im", cols)
	p := w.over("col2im", shape, cols)
	if cols.Len() != int(p.N*p.C*p.KH*p.KW)*int(p.OH*p.OW) {
		Fail("col2im", "the columns do not fit images of "+shapeString(shape), "", cols)
	}
	d, free := cols.dense("col2im")
	defer free()
	x := cols.like("col2im", shape)
	run("col2im", gpu.Col2im, cols.dtype, &p, d.view(), x.view())
	return x
}

// MaxPool returns act, gpu.Identity or ReLU, of the largest element of each
// window, and as Int32 the element's position in the window, which MaxPoolGrad
// needs.
func MaxPool(x *Tensor, w Window, act gpu.UnaryOp) (y, index *Tensor) {
	floats("max_pool", x)
	p := w.over("max_pool", x.shape, x)
	if w.PadH >= w.Height || w.PadW >= w.Width {
		Fail("max_pool", "the padding is as large as the window", "use less", x)
	}
	d, free := x.dense("max_pool")
	defer free()
	shape := []int{int(p.N), int(p.C), int(p.OH), int(p.OW)}
	y, index = x.like("max_pool", shape), fresh(x.Device(), "max_pool", Int32, shape)
	run("max_pool", gpu.MaxPool, x.dtype, pool(&p, act), d.view(), y.view(), index.view())
	return y, index
}

// MaxPoolGrad returns the gradient of MaxPool's x, of the given shape.
func MaxPoolGrad(dy, index *Tensor, w Window, shape ...int) *Tensor {
	floats("max_pool_bwd", dy)
	p := w.over("max_pool_bwd", shape, dy)
	d, free := dy.dense("max_pool_bwd")
	defer free()
	dx := dy.like("max_pool_bwd", shape)
	run("max_pool_bwd", gpu.MaxPoolBwd, dy.dtype, pool(&p, gpu.Identity), d.view(), index.view(), dx.view())
	return dx
}

func pool(p *gpu.WindowParams, act gpu.UnaryOp) *gpu.PoolParams {
	return &gpu.PoolParams{Act: act, N: p.N, C: p.C, H: p.H, W: p.W, KH: p.KH, KW: p.KW, OH: p.OH, OW: p.OW,
		SH: p.SH, SW: p.SW, PH: p.PH, PW: p.PW, DH: p.DH, DW: p.DW}
}
