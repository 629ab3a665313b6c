//go:build cuda && linux && amd64

package cuda

import (
	"slices"
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

// A recorded step that gets another batch on the device each time is one
// submission: the batches are copied inside. It learns what eager steps do, in
// whatever order the device runs what may overlap.
func TestBatchesInsideTheGraph(t *testing.T) {
	const rows = 6
	train := func(recorded bool) (bits []float64) {
		d := gpu.New(openFake(t))
		defer d.Close()
		if err := d.Seed(3); err != nil {
			t.Fatal(err)
		}
		on := nn.On(d)
		m := nn.Sequential(on.Linear(64, 16), nn.ReLU(), on.Linear(16, 3))
		opt := optim.Adam(m.Params(), 0.01)
		step := func(x, y *autograd.Var) *autograd.Var {
			loss := nn.CrossEntropy(m.Forward(x), y)
			loss.Backward()
			opt.Step()
			return loss
		}
		if recorded {
			r := autograd.Record(step)
			step = func(x, y *autograd.Var) *autograd.Var { return r.Run(x, y) }
		}
		for i := range 5 {
			x := autograd.Const(tensor.On(d).Full(float64(i)/7, rows, 64))
			y := autograd.Const(tensor.On(d).FromInts([]int{0, i % 3, 2, (i + 1) % 3, 1, 2}).Clone())
			fake.takeLog()
			loss := step(x, y)
			if log := fake.takeLog(); recorded && i > 0 && (strings.Contains(log, "launch ") || !strings.Contains(log, "replay ")) {
				t.Error("a replay launches something beside the graph:", log)
			}
			bits = append(bits, loss.Item())
		}
		for _, p := range m.Params() {
			bits = append(bits, p.Float64s()...)
		}
		return bits
	}
	want := train(false)
	defer fake.set("order", 0)
	for order := range int64(8) {
		fake.set("order", order)
		if got := train(true); !slices.Equal(got, want) {
			t.Error("recorded steps learned something else, order", order)
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
