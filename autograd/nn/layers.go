package nn

import (
	"fmt"

	"gradbook/autograd"
	"gradbook/tensor"
)

// LinearLayer is x*W' + B.
type LinearLayer struct {
	W *autograd.Var // (out, in)
	B *autograd.Var // (out)
}

// Linear makes a fully connected layer for inputs (..., in), with results
// (..., out). Weights and bias start uniform within 1/sqrt(in); Init draws the
// weights anew.
func Linear(in, out int) *LinearLayer { return def().Linear(in, out) }

// Linear makes a fully connected layer; see the function.
func (m Maker) Linear(in, out int) *LinearLayer {
	positive("linear", in, out)
	return &LinearLayer{
		W: autograd.Param(m.draw(FanIn, in, out, out, in)).Named("W"),
		B: autograd.Param(m.draw(FanIn, in, out, out)).Named("B"),
	}
}

// Init draws the weights anew, sets the bias to 0, and returns the layer.
func (l *LinearLayer) Init(init Init) *LinearLayer {
	redraw(init, l.W, l.W.Dim(1), l.W.Dim(0))
	l.B.Value.Fill(0)
	return l
}

// redraw fills a parameter with new initial weights.
func redraw(init Init, p *autograd.Var, fanIn, fanOut int) {
	values := make([]float64, p.Len())
	r := p.Device().HostRandom()
	for i := range values {
		values[i] = init(r, fanIn, fanOut)
	}
	p.Value.Set(values)
}

// Forward computes the layer's result.
func (l *LinearLayer) Forward(x *autograd.Var) *autograd.Var {
	return l.forward(x, autograd.NoActivation)
}

func (l *LinearLayer) forward(x *autograd.Var, act autograd.Activation) *autograd.Var {
	return autograd.Linear(x, l.W, l.B, act)
}

// Params returns W and B.
func (l *LinearLayer) Params() []*autograd.Var { return []*autograd.Var{l.W, l.B} }

func (l *LinearLayer) String() string { return fmt.Sprintf("Linear(%d, %d)", l.W.Dim(1), l.W.Dim(0)) }

// EmbeddingLayer is a table of rows, one for each index.
type EmbeddingLayer struct {
	Table *autograd.Var // (n, width)
}

// Embedding makes a table of n rows of width numbers, which start normal with
// deviation 1. Forward takes Int32 indexes of any shape.
func Embedding(n, width int) *EmbeddingLayer { return def().Embedding(n, width) }

// Embedding makes a table of rows; see the function.
func (m Maker) Embedding(n, width int) *EmbeddingLayer {
	positive("embedding", n, width)
	return &EmbeddingLayer{autograd.Param(m.draw(Normal, n, width, n, width)).Named("Table")}
}

// Forward returns the rows that x names: shape x.Shape() + (width).
func (l *EmbeddingLayer) Forward(x *autograd.Var) *autograd.Var { return l.Table.Gather(x) }

// Params returns the table.
func (l *EmbeddingLayer) Params() []*autograd.Var { return []*autograd.Var{l.Table} }

func (l *EmbeddingLayer) String() string {
	return fmt.Sprintf("Embedding(%d, %d)", l.Table.Dim(0), l.Table.Dim(1))
}

// LayerNormLayer normalises rows, and scales and shifts them.
type LayerNormLayer struct {
	Gamma, Beta *autograd.Var // (width)
	Eps         float64
}

// LayerNorm makes a layer that gives each row of the last dimension, of the
// given width, mean 0 and deviation 1, and then scales it by Gamma and adds
// Beta (Ba et al. 2016). Eps is 1e-5.
func LayerNorm(width int) *LayerNormLayer { return def().LayerNorm(width) }

// LayerNorm makes a normalising layer; see the function.
func (m Maker) LayerNorm(width int) *LayerNormLayer {
	positive("layernorm", width)
	t := tensor.Maker(m)
	return &LayerNormLayer{autograd.Param(t.Ones(width)).Named("Gamma"), autograd.Param(t.Zeros(width)).Named("Beta"), 1e-5}
}

// Forward computes the layer's result.
func (l *LayerNormLayer) Forward(x *autograd.Var) *autograd.Var {
	return autograd.LayerNorm(x, l.Gamma, l.Beta, l.Eps)
}

// Params returns Gamma and Beta.
func (l *LayerNormLayer) Params() []*autograd.Var { return []*autograd.Var{l.Gamma, l.Beta} }

func (l *LayerNormLayer) String() string { return fmt.Sprintf("LayerNorm(%d)", l.Gamma.Dim(0)) }

// DropoutLayer drops elements in training.
type DropoutLayer struct {
	P float64

	off bool
}

// Dropout makes a layer that in training sets each element to 0 with
// probability p and divides the others by 1-p; after Eval it does nothing.
func Dropout(p float64) *DropoutLayer {
	if !(p >= 0 && p <= 1) {
		tensor.Fail("dropout", fmt.Sprintf("the probability is %g", p), "use one from 0 to 1")
	}
	return &DropoutLayer{P: p}
}

// Forward computes the layer's result.
func (l *DropoutLayer) Forward(x *autograd.Var) *autograd.Var {
	if l.off || l.P == 0 {
		return x
	}
	return x.Dropout(l.P)
}

// Params returns none.
func (l *DropoutLayer) Params() []*autograd.Var { return nil }

// SetTraining switches dropping on or off, and returns what was before.
func (l *DropoutLayer) SetTraining(on bool) (was bool) {
	was = !l.off
	l.off = !on
	return was
}

func (l *DropoutLayer) String() string { return fmt.Sprintf("Dropout(%g)", l.P) }

func positive(op string, sizes ...int) {
	for _, s := range sizes {
		if s < 1 {
			tensor.Fail(op, fmt.Sprintf("a size is %d", s), "sizes are 1 or more")
		}
	}
}
