package nn_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"gradbook/autograd"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/gpu"
	"gradbook/gpu/host"
	"gradbook/gpu/trial"
)

// trainee is a model on a device whose calls can be made to fail.
type trainee struct {
	faults *trial.FaultyBackend
	model  *nn.Model
	opt    *optim.Optimizer
	x, y   *autograd.Var
}

func newTrainee() *trainee {
	t := &trainee{faults: trial.Faulty(host.New())}
	dev := gpu.New(t.faults)
	dev.SetReuse(false) // so that every step allocates
	on := nn.On(dev)
	t.model = nn.Sequential(on.Conv2D(1, 2, 3, 1, 1), nn.GELU(), nn.MaxPool2D(2), nn.Flatten(), on.LayerNorm(8), on.Linear(8, 6), nn.Tanh(), on.Linear(6, 10))
	t.opt = optim.Adam(t.model.Params(), 1e-2)
	t.x, t.y = synthetic(dev, 4, 1, 4, 4)
	return t
}

func (t *trainee) step() {
	nn.CrossEntropy(t.model.Forward(t.x), t.y).Backward()
	optim.ClipGradNorm(t.model.Params(), 1)
	t.opt.Step()
}

func (t *trainee) bits() (bits []float64) {
	for _, p := range t.model.Params() {
		bits = append(bits, p.Float64s()...)
	}
	state := t.opt.State()
	var names []string
	for n := range state {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		bits = append(bits, state[n].Float64s()...)
	}
	return bits
}

// try returns the error that f panics with.
func try(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	f()
	return nil
}

// Whatever call of a step fails, the error tells, and doing the step again, if
// it was not taken, gives the bits of an undisturbed run.
func TestAnyFaultInAStep(t *testing.T) {
	healthy := newTrainee()
	for range 3 {
		healthy.step()
	}
	want := healthy.bits()
	for _, call := range []trial.Call{trial.Launch, trial.Alloc, trial.Upload} {
		t.Run(fmt.Sprint(call), func(t *testing.T) {
			failures := 0
			for n := 1; ; n++ {
				x := newTrainee()
				if call != trial.Upload {
					x.step() // parameters and inputs go up in the first step
				}
				before := x.faults.Calls(call)
				x.faults.Fail(call, n, false)
				err := try(x.step)
				calls := x.faults.Calls(call) - before
				x.faults.Heal()
				if err == nil && n > calls {
					break
				}
				if err == nil || !errors.Is(err, trial.ErrInjected) {
					t.Fatalf("call %d of %d failed: %v", n, calls, err)
				}
				failures++
				for x.opt.Steps() < 3 {
					x.step()
				}
				if !slices.Equal(x.bits(), want) {
					t.Fatalf("call %d failed (%v), and training came to other weights", n, err)
				}
			}
			if failures < 8 {
				t.Errorf("only %d calls failed", failures)
			}
		})
	}
}
