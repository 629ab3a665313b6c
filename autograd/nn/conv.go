package nn

import (
	"fmt"

	"gradbook/autograd"
	"gradbook/tensor"
)

// Conv2DLayer slides kernels over images.
type Conv2DLayer struct {
	W      *autograd.Var // (out, in, height, width)
	B      *autograd.Var // (out)
	Window tensor.Window
}

// Conv2D makes a convolution of images (n, in, h, w) to (n, out, h', w') with
// kernels of size by size, a step of stride and pad rows and columns of zeros
// around. Weights and bias start uniform within 1/sqrt(in*size*size). Window
// takes other shapes of kernels.
func Conv2D(in, out, size, stride, pad int) *Conv2DLayer {
	return def().Conv2D(in, out, size, stride, pad)
}

// Conv2D makes a convolution; see the function.
func (m Maker) Conv2D(in, out, size, stride, pad int) *Conv2DLayer {
	positive("conv2d", in, out, size, stride)
	return m.Conv2DWindow(in, out, tensor.Square(size, stride, pad))
}

// Conv2DWindow makes a convolution with a window of any shape.
func (m Maker) Conv2DWindow(in, out int, w tensor.Window) *Conv2DLayer {
	positive("conv2d", in, out, w.Height, w.Width)
	area := w.Height * w.Width
	return &Conv2DLayer{
		W:      autograd.Param(m.draw(FanIn, in*area, out*area, out, in, w.Height, w.Width)).Named("W"),
		B:      autograd.Param(m.draw(FanIn, in*area, out*area, out)).Named("B"),
		Window: w,
	}
}

// Init draws the weights anew, sets the bias to 0, and returns the layer.
func (l *Conv2DLayer) Init(init Init) *Conv2DLayer {
	area := l.W.Dim(2) * l.W.Dim(3)
	redraw(init, l.W, l.W.Dim(1)*area, l.W.Dim(0)*area)
	l.B.Value.Fill(0)
	return l
}

// Forward computes the layer's result.
func (l *Conv2DLayer) Forward(x *autograd.Var) *autograd.Var {
	return l.forward(x, autograd.NoActivation)
}

func (l *Conv2DLayer) forward(x *autograd.Var, act autograd.Activation) *autograd.Var {
	return autograd.Conv2D(x, l.W, l.B, l.Window, act)
}

// Params returns W and B.
func (l *Conv2DLayer) Params() []*autograd.Var { return []*autograd.Var{l.W, l.B} }

func (l *Conv2DLayer) String() string {
	return fmt.Sprintf("Conv2D(%d, %d, %dx%d)", l.W.Dim(1), l.W.Dim(0), l.W.Dim(2), l.W.Dim(3))
}

// MaxPool2DLayer takes the largest element of each window.
type MaxPool2DLayer struct {
	Window tensor.Window

	stateless
}

// MaxPool2D makes a layer that takes the largest element of each size by size
// window of images (n, c, h, w); the windows lie side by side.
func MaxPool2D(size int) *MaxPool2DLayer {
	positive("maxpool2d", size)
	return &MaxPool2DLayer{Window: tensor.Square(size, size, 0)}
}

// Forward computes the layer's result.
func (l *MaxPool2DLayer) Forward(x *autograd.Var) *autograd.Var { return x.MaxPool2D(l.Window) }

func (l *MaxPool2DLayer) String() string { return fmt.Sprintf("MaxPool2D(%d)", l.Window.Height) }
