package nn_test

import (
	"fmt"
	"os"
	"path/filepath"

	"gradbook/autograd"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/tensor"
)

func Example() {
	tensor.Seed(1)
	model := nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
	opt := optim.Adam(model.Params(), 0.05)
	x := autograd.New([]float64{0, 0, 0, 1, 1, 0, 1, 1}, 4, 2)
	labels := autograd.Const(tensor.FromInts([]int{0, 1, 1, 0}))
	for range 100 {
		nn.CrossEntropy(model.Forward(x), labels).Backward()
		opt.Step()
	}
	fmt.Println(model)
	fmt.Println(model.Forward(x).ArgMax(1).Value.Ints())
	// Output:
	// Sequential(Linear(2, 16), ReLU(), Linear(16, 2))
	// [0 1 1 0]
}

// residual is a layer of one's own.
type residual struct{ inner nn.Module }

func (r *residual) Forward(x *autograd.Var) *autograd.Var { return x.Add(r.inner.Forward(x)) }
func (r *residual) Params() []*autograd.Var               { return r.inner.Params() }

func ExampleModule() {
	model := nn.Sequential(&residual{nn.Linear(4, 4)}, nn.ReLU(), nn.Linear(4, 2))
	for _, p := range model.Params() {
		fmt.Println(p.Name(), p.Shape())
	}
	// Output:
	// layers[0].W [4 4]
	// layers[0].B [4]
	// layers[2].W [2 4]
	// layers[2].B [2]
}

func ExampleSummary() {
	model := nn.Sequential(nn.Conv2D(1, 8, 3, 1, 1), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(8*14*14, 10))
	fmt.Println(nn.Summary(model, 32, 1, 28, 28))
	// Output:
	// layer                result         parameters  bytes
	// 0 Conv2D(1, 8, 3x3)  32, 8, 28, 28  80          320 B
	// 1 ReLU()             32, 8, 28, 28  0           0 B
	// 2 MaxPool2D(2)       32, 8, 14, 14  0           0 B
	// 3 Flatten()          32, 1568       0           0 B
	// 4 Linear(1568, 10)   32, 10         15690       61.3 KiB
	// total                               15770       61.6 KiB
}

func ExampleSave() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	model := nn.Sequential(nn.Linear(2, 2))
	opt := optim.Adam(model.Params(), 1e-3)
	nn.Save(path, model, opt)

	again := nn.Sequential(nn.Linear(2, 2))
	nn.Load(path, again, optim.Adam(again.Params(), 1e-3))
	fmt.Println(again.Params()[0].Value.Equal(model.Params()[0].Value).Sum().Item())
	// Output: 4
}
