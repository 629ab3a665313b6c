//go:build cuda && linux && amd64

package cuda

import (
	"strings"
	"testing"

	"gradbook/autograd"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/gpu"
	"gradbook/tensor"
)

// After the first step only batches go up and losses come down: parameters,
// gradients, moments and random numbers stay on the device. The driver's log is
// what says so.
func TestOnlyBatchesTravel(t *testing.T) {
	optimizers := map[string]func(p []*autograd.Var) *optim.Optimizer{
		"sgd":     func(p []*autograd.Var) *optim.Optimizer { return optim.SGD(p, 0.01, optim.Momentum(0.9)) },
		"adam":    func(p []*autograd.Var) *optim.Optimizer { return optim.Adam(p, 0.01) },
		"adamw":   func(p []*autograd.Var) *optim.Optimizer { return optim.AdamW(p, 0.01) },
		"rmsprop": func(p []*autograd.Var) *optim.Optimizer { return optim.RMSprop(p, 0.01) },
		"adagrad": func(p []*autograd.Var) *optim.Optimizer { return optim.Adagrad(p, 0.01) },
	}
	losses := map[string]func(out, y *autograd.Var) *autograd.Var{
		"cross-entropy": nn.CrossEntropy,
		"mse":           func(out, y *autograd.Var) *autograd.Var { return nn.MSE(out, out.Detach().MulScalar(0.5)) },
	}
	for name, build := range optimizers {
		for lossName, loss := range losses {
			t.Run(name+"/"+lossName, func(t *testing.T) {
				d := gpu.New(openFake(t))
				defer d.Close()
				on := nn.On(d)
				m := nn.Sequential(
					on.Conv2D(1, 4, 3, 1, 1), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(),
					on.Linear(64, 16), on.LayerNorm(16), nn.GELU(), nn.Dropout(0.2), on.Linear(16, 3))
				opt := build(m.Params())
				const rows = 6
				step := func() {
					x := autograd.Const(tensor.On(d).New(constant(rows*64, 0.5), rows, 1, 8, 8))
					y := autograd.Const(tensor.On(d).FromInts([]int{0, 1, 2, 0, 1, 2}))
					l := loss(m.Forward(x), y)
					l.Backward()
					opt.Step()
					l.Item()
				}
				step()
				fake.takeLog()
				step()
				var travels []string
				for _, line := range strings.Split(fake.takeLog(), "\n") {
					if f := strings.Fields(line); len(f) == 3 && (f[0] == "upload" || f[0] == "download") {
						travels = append(travels, f[0]+" "+f[2])
					}
				}
				want := "upload 1536, download 4"
				if lossName == "cross-entropy" {
					want = "upload 1536, upload 24, download 4"
				}
				if got := strings.Join(travels, ", "); got != want {
					t.Errorf("in a step: %s; want %s", got, want)
				}
				if n := d.Counters().Fallbacks; n != 0 {
					t.Errorf("%d launches ran on the host", n)
				}
			})
		}
	}
}

func constant(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}
