package optim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gradbook/autograd"
	"gradbook/gpu"
	"gradbook/gpu/host"
	"gradbook/gpu/trial"
	"gradbook/tensor"
)

// optimizers make each kind for parameters.
var optimizers = map[string]func([]*autograd.Var) *Optimizer{
	"sgd":       func(p []*autograd.Var) *Optimizer { return SGD(p, 0.1) },
	"sgd decay": func(p []*autograd.Var) *Optimizer { return SGD(p, 0.1, WeightDecay(0.01)) },
	"momentum":  func(p []*autograd.Var) *Optimizer { return SGD(p, 0.1, Momentum(0.9), WeightDecay(0.01)) },
	"nesterov":  func(p []*autograd.Var) *Optimizer { return SGD(p, 0.1, Momentum(0.9), Nesterov()) },
	"adam":      func(p []*autograd.Var) *Optimizer { return Adam(p, 0.1) },
	"adam decay": func(p []*autograd.Var) *Optimizer {
		return Adam(p, 0.1, Betas(0.8, 0.95), Eps(1e-6), WeightDecay(0.01))
	},
	"adamw":         func(p []*autograd.Var) *Optimizer { return AdamW(p, 0.1) },
	"rmsprop":       func(p []*autograd.Var) *Optimizer { return RMSprop(p, 0.1, Decay(0.9)) },
	"rmsprop decay": func(p []*autograd.Var) *Optimizer { return RMSprop(p, 0.1, WeightDecay(0.01)) },
	"adagrad":       func(p []*autograd.Var) *Optimizer { return Adagrad(p, 0.1) },
}

// reference does a step by the definition of each optimizer, on one number.
func reference(name string, w, g float64, s *[2]float64, t float64) float64 {
	const lr = 0.1
	adam := func(b1, b2, eps, g float64) float64 {
		s[0], s[1] = b1*s[0]+(1-b1)*g, b2*s[1]+(1-b2)*g*g
		return lr * s[0] / (1 - math.Pow(b1, t)) / (math.Sqrt(s[1]/(1-math.Pow(b2, t))) + eps)
	}
	switch name {
	case "sgd":
		return w - lr*g
	case "sgd decay":
		return w - lr*(g+0.01*w)
	case "momentum":
		s[0] = 0.9*s[0] + g + 0.01*w
		return w - lr*s[0]
	case "nesterov":
		s[0] = 0.9*s[0] + g
		return w - lr*(g+0.9*s[0])
	case "adam":
		return w - adam(0.9, 0.999, 1e-8, g)
	case "adam decay":
		return w - adam(0.8, 0.95, 1e-6, g+0.01*w)
	case "adamw":
		return w - lr*0.01*w - adam(0.9, 0.999, 1e-8, g)
	case "rmsprop":
		s[0] = 0.9*s[0] + 0.1*g*g
		return w - lr*g/(math.Sqrt(s[0])+1e-8)
	case "rmsprop decay":
		g += 0.01 * w
		s[0] = 0.99*s[0] + 0.01*g*g
		return w - lr*g/(math.Sqrt(s[0])+1e-8)
	case "adagrad":
		s[0] += g * g
		return w - lr*g/(math.Sqrt(s[0])+1e-10)
	}
	panic(name)
}

func TestRules(t *testing.T) {
	for name, make := range optimizers {
		t.Run(name, func(t *testing.T) {
			start := []float64{1, -2, 0.5}
			p := autograd.Param(tensor.As(tensor.Float64).New(start))
			o := make([]*autograd.Var{p})
			var state [3][2]float64
			for step := 1; step <= 5; step++ {
				p.Square().Mul(p).Sum().Backward() // gradient 3*w*w
				o.Step()
				got := p.Float64s()
				for i := range start {
					start[i] = reference(name, start[i], 3*start[i]*start[i], &state[i], float64(step))
					if math.Abs(got[i]-start[i]) > 1e-12*max(1, math.Abs(start[i])) {
						t.Fatalf("step %d, element %d: %.15g, want %.15g", step, i, got[i], start[i])
					}
				}
			}
		})
	}
}

// No ZeroGrad is needed between steps; a second Backward before a step adds.
func TestGradientsAreUsed(t *testing.T) {
	p, idle := autograd.Param(tensor.New([]float64{1})), autograd.Param(tensor.New([]float64{5}))
	o := SGD([]*autograd.Var{p, idle}, 1)
	for range 3 {
		p.MulScalar(0.5).Sum().Backward()
		o.Step()
	}
	if p.Item() != -0.5 || p.Grad.Item() != 0.5 {
		t.Error(p, p.Grad)
	}
	p.MulScalar(0.5).Sum().Backward()
	p.MulScalar(0.5).Sum().Backward()
	o.Step()
	if p.Item() != -1.5 || idle.Item() != 5 {
		t.Error(p, idle)
	}
	defer func() {
		if e, ok := recover().(*tensor.Error); !ok || !strings.Contains(e.Error(), "call Backward first") {
			t.Error(e)
		}
		if o.Steps() != 4 || p.Item() != -1.5 {
			t.Error("a step without gradients changed something")
		}
	}()
	o.Step()
}

func TestMisuse(t *testing.T) {
	p := autograd.Param(tensor.Ones(1))
	for want, f := range map[string]func(){
		"has no option Nesterov": func() { Adam([]*autograd.Var{p}, 1, Nesterov()) },
		"needs a momentum":       func() { SGD([]*autograd.Var{p}, 1, Nesterov()) },
		"no parameters":          func() { SGD(nil, 1) },
		"comes twice":            func() { SGD([]*autograd.Var{p, p}, 1) },
		"parameter 0 is nil":     func() { SGD([]*autograd.Var{nil}, 1) },
		"got 0 steps":            func() { StepLR(0, 1) },
	} {
		err := attempt(f)
		var e *tensor.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

func TestSchedules(t *testing.T) {
	for name, c := range map[string]struct {
		s    Schedule
		want []float64
	}{
		"step":        {StepLR(2, 0.1), []float64{1, 1, 0.1, 0.1, 0.01}},
		"cosine":      {Cosine(4, 0.5), []float64{1, 0.5 + 0.25*(1+math.Sqrt2/2), 0.75, 0.5 + 0.25*(1-math.Sqrt2/2), 0.5, 0.5}},
		"warmup":      {Warmup(2, StepLR(1, 0.5)), []float64{0.5, 1, 1, 0.5, 0.25}},
		"warmup only": {Warmup(2, nil), []float64{0.5, 1, 1, 1}},
	} {
		for i, want := range c.want {
			if got := c.s(i); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s at %d: %g, want %g", name, i, got, want)
			}
		}
	}
	p := autograd.Param(tensor.New([]float64{0}))
	o := SGD([]*autograd.Var{p}, 1, WithSchedule(StepLR(1, 0.5)))
	for range 3 {
		p.Sum().Backward()
		o.Step()
	}
	if p.Item() != -1.75 || o.Rate() != 0.125 {
		t.Error(p, o.Rate())
	}
}

func TestClip(t *testing.T) {
	a, b, c := autograd.Param(tensor.New([]float64{1})), autograd.Param(tensor.New([]float64{1, 1})), autograd.Param(tensor.Ones(1))
	for _, most := range []float64{10, 2} {
		a.ZeroGrad()
		b.ZeroGrad()
		a.Mul(autograd.New([]float64{3})).Sum().Add(b.Mul(autograd.New([]float64{4, 12})).Sum()).Backward()
		before := a.Device().Counters()
		norm := ClipGradNorm([]*autograd.Var{a, b, c}, most)
		if n := a.Device().Counters().Sub(before); n.Reads != 0 {
			t.Error("clipping waited for the device")
		}
		scale := min(1, most/13)
		got := append(a.Grad.Float64s(), b.Grad.Float64s()...)
		for i, g := range []float64{3, 4, 12} {
			if norm.Item() != 13 || math.Abs(got[i]-g*scale) > 1e-6 {
				t.Errorf("at most %g: norm %g, gradients %v", most, norm.Item(), got)
			}
		}
		if c.Grad != nil || a.Grad.Storage().Owner().Role != gpu.Gradient {
			t.Error("labels")
		}
	}
}

// training is two parameters on a device that can fail.
type training struct {
	faults *trial.FaultyBackend
	dev    *gpu.Device
	params []*autograd.Var
	opt    *Optimizer
}

func newTraining(make func([]*autograd.Var) *Optimizer) *training {
	t := &training{faults: trial.Faulty(host.New())}
	t.dev = gpu.New(t.faults)
	for i := range 2 {
		t.params = append(t.params, autograd.Param(tensor.On(t.dev).New([]float64{1, 2, float64(i)})).Named(fmt.Sprint("p", i)))
	}
	t.opt = make(t.params)
	return t
}

func (t *training) backward() {
	t.params[0].Mul(t.params[1]).Square().Sum().Backward()
}

// state is the bits of everything that a step changes.
func (t *training) state() (s []float64) {
	for _, p := range t.params {
		s = append(s, p.Float64s()...)
	}
	state := t.opt.State()
	var names []string
	for n := range state {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		s = append(s, state[n].Float64s()...)
	}
	return append(s, float64(t.opt.Steps()))
}

// A fault in any launch of a step leaves the state before it or after it, the
// error says which, and training goes on from there.
func TestFaultsAtEachLaunch(t *testing.T) {
	for name, make := range optimizers {
		t.Run(name, func(t *testing.T) {
			healthy := newTraining(make)
			states := [][]float64{healthy.state()}
			for range 3 {
				healthy.backward()
				healthy.opt.Step()
				states = append(states, healthy.state())
			}
			for _, forGood := range []bool{false, true} {
				for n := 1; ; n++ {
					x := newTraining(make)
					x.backward()
					x.opt.Step()
					x.backward()
					calls := x.faults.Calls(trial.Launch)
					x.faults.Fail(trial.Launch, n, forGood)
					err := attempt(x.opt.Step)
					calls = x.faults.Calls(trial.Launch) - calls
					x.faults.Heal()
					if err == nil {
						if n <= calls {
							t.Fatalf("launch %d failed and Step did not tell", n)
						}
						break
					}
					if !errors.Is(err, trial.ErrInjected) {
						t.Fatal(err)
					}
					want := 1 // a failure before the counter moved
					var e *StepError
					if errors.As(err, &e) {
						switch e.Outcome {
						case after, incomplete:
							want = 2
						}
						if !forGood && e.Outcome == incomplete {
							t.Errorf("launch %d: one fault made the step incomplete", n)
						}
						if e.Outcome == incomplete {
							if err := x.opt.flush(); err != nil {
								t.Fatal(err)
							}
						}
					}
					if got := x.state(); !slices.Equal(got, states[want]) {
						t.Fatalf("launch %d, for good %v, %v: state\n%v, want\n%v", n, forGood, err, got, states[want])
					}
					for range 3 - want {
						x.backward()
						x.opt.Step()
					}
					if got := x.state(); !slices.Equal(got, states[3]) {
						t.Fatalf("launch %d, for good %v: training went on to\n%v, want\n%v", n, forGood, got, states[3])
					}
				}
			}
		})
	}
}

// A step that the device refuses to finish is finished before the next one,
// though a Backward came between.
func TestIncompleteStep(t *testing.T) {
	healthy := newTraining(optimizers["adam"])
	x := newTraining(optimizers["adam"])
	for range 2 {
		healthy.backward()
		healthy.opt.Step()
	}
	x.backward()
	x.faults.Fail(trial.Launch, 3, true) // counter and first parameter get through
	err := attempt(x.opt.Step)
	var e *StepError
	if !errors.As(err, &e) || e.Outcome != incomplete {
		t.Fatal(err)
	}
	if err := attempt(x.opt.Step); !errors.As(err, &e) || e.Outcome != still {
		t.Fatal(err)
	}
	x.faults.Heal()
	if err := x.opt.flush(); err != nil {
		t.Fatal(err)
	}
	x.backward()
	x.opt.Step()
	if !slices.Equal(x.state(), healthy.state()) {
		t.Errorf("%v\nwant %v", x.state(), healthy.state())
	}
}

func TestInterrupt(t *testing.T) {
	x := newTraining(optimizers["adam"])
	x.backward()
	before := x.state()
	x.dev.Interrupt()
	err := attempt(x.opt.Step)
	x.dev.Resume()
	var i interface{ Interrupted() bool }
	if !errors.As(err, &i) || !i.Interrupted() || !slices.Equal(before, x.state()) {
		t.Error(err)
	}
	x.backward() // and no gradient of before is added
	x.opt.Step()
	y := newTraining(optimizers["adam"])
	y.backward()
	y.opt.Step()
	if !slices.Equal(x.state(), y.state()) {
		t.Error("the step after the interrupt is another")
	}
}

// After the first steps a step is nothing but launches: no bytes move, no
// memory is asked for.
func TestStateStaysOnTheDevice(t *testing.T) {
	for name, make := range optimizers {
		x := newTraining(make)
		for range 2 {
			x.backward()
			x.opt.Step()
		}
		x.backward()
		x.dev.Collect() // results that the test dropped go to the pool
		before := x.dev.Counters()
		x.opt.Step()
		if n := x.dev.Counters().Sub(before); n.Uploads+n.Downloads+n.Reads+n.Allocs != 0 {
			t.Errorf("%s: %d uploads, %d downloads, %d reads, %d allocations", name, n.Uploads, n.Downloads, n.Reads, n.Allocs)
		}
	}
}

func TestLabels(t *testing.T) {
	x := newTraining(optimizers["adam"])
	x.backward()
	x.opt.Step()
	var names []string
	for _, r := range x.dev.Snapshot().Rows {
		if r.Owner.Role == gpu.OptimizerState {
			names = append(names, r.Owner.Name)
		}
	}
	if want := []string{"p0.m", "p0.v", "p1.m", "p1.v"}; !slices.Equal(names, want) {
		t.Error(names)
	}
}
