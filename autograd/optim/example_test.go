package optim_test

import (
	"fmt"

	"gradbook/autograd"
	"gradbook/autograd/optim"
	"gradbook/tensor"
)

func Example() {
	w := autograd.Param(tensor.New([]float64{5}))
	opt := optim.SGD([]*autograd.Var{w}, 0.1, optim.Momentum(0.5))
	for range 50 {
		w.Sub(autograd.New([]float64{2})).Square().Sum().Backward()
		opt.Step() // no ZeroGrad: Step takes the gradient as used
	}
	fmt.Printf("%.3f\n", w.Item())
	// Output: 2.000
}

func ExampleWithSchedule() {
	w := autograd.Param(tensor.New([]float64{0}))
	opt := optim.SGD([]*autograd.Var{w}, 1, optim.WithSchedule(optim.Warmup(2, optim.Cosine(4, 0))))
	for range 6 {
		fmt.Printf("%.2f ", opt.Rate())
		w.Sum().Backward()
		opt.Step()
	}
	// Output: 0.50 1.00 1.00 0.85 0.50 0.15
}

func ExampleClipGradNorm() {
	w := autograd.Param(tensor.New([]float64{1, 1}))
	w.Mul(autograd.New([]float64{30, 40})).Sum().Backward()
	norm := optim.ClipGradNorm([]*autograd.Var{w}, 1)
	fmt.Printf("%.0f %.1f\n", norm.Item(), w.Grad.Float64s())
	// Output: 50 [0.6 0.8]
}

// signed is an optimizer of one's own: it needs Grad, Value and UseGrad.
type signed struct {
	params []*autograd.Var
	rate   float64
}

func (o *signed) Step() {
	for _, p := range o.params {
		if p.UseGrad() {
			p.Value.AddInPlace(p.Grad.Sign(), -o.rate)
		}
	}
}

func Example_own() {
	w := autograd.Param(tensor.New([]float64{0.3, -0.4}))
	opt := &signed{[]*autograd.Var{w}, 0.1}
	for range 3 {
		w.Square().Sum().Backward()
		opt.Step()
	}
	fmt.Printf("%.1f\n", w.Float64s())
	// Output: [0.0 -0.1]
}
