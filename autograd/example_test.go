package autograd_test

import (
	"fmt"

	"gradbook/autograd"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/tensor"
)

func Example() {
	w := autograd.Param(tensor.New([]float64{1, 2}))
	x := autograd.New([]float64{3, 4})
	loss := w.Mul(x).Sum().Square()
	loss.Backward()
	fmt.Println(loss.Item(), w.Grad.Float64s())
	// Output: 121 [66 88]
}

// Two losses add to the gradients; an optimizer's step, or ZeroGrad, starts
// them anew.
func ExampleVar_Backward() {
	w := autograd.Param(tensor.New([]float64{2}))
	w.Square().Sum().Backward()
	w.MulScalar(10).Sum().Backward()
	fmt.Println(w.Grad.Item())
	w.ZeroGrad()
	w.MulScalar(10).Sum().Backward()
	fmt.Println(w.Grad.Item())
	// Output:
	// 14
	// 10
}

func ExampleFunc() {
	// A step that passes the gradient on as it is.
	round := autograd.Func("round",
		func(in []*tensor.Tensor) *tensor.Tensor { return in[0].AddScalar(0.5).Floor() },
		func(in []*tensor.Tensor, out, dout *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{dout}
		})
	w := autograd.Param(tensor.New([]float64{0.2, 1.7}))
	y := round(w)
	y.Sum().Backward()
	fmt.Println(y.Float64s(), w.Grad.Float64s())
	// Output: [0 2] [1 1]
}

func ExampleGradCheck() {
	swish := func(v []*autograd.Var) *autograd.Var { return v[0].Mul(v[0].Sigmoid()) }
	fmt.Println(autograd.GradCheck(swish, tensor.New([]float64{-1, 0.5, 2})))
	// Output: <nil>
}

func ExampleNoGrad() {
	w := autograd.Param(tensor.Ones(2))
	autograd.NoGrad(func() {
		fmt.Println(w.Square().NeedsGrad())
	})
	fmt.Println(w.Square().NeedsGrad())
	// Output:
	// false
	// true
}

func ExampleRecord() {
	tensor.Seed(1)
	model := nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
	opt := optim.Adam(model.Params(), 0.05)
	step := autograd.Record(func(x, y *autograd.Var) *autograd.Var {
		loss := nn.BCEWithLogits(model.Forward(x), y)
		loss.Backward()
		opt.Step()
		return loss
	})
	x := autograd.New([]float64{0, 0, 0, 1, 1, 0, 1, 1}, 4, 2)
	y := autograd.New([]float64{0, 1, 1, 0}, 4, 1)
	var loss *autograd.Var
	for range 200 {
		loss = step.Run(x, y)
	}
	fmt.Println(loss.Item() < 0.1, opt.Steps())
	// Output: true 200
}
