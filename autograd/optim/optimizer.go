package optim

import (
	"fmt"

	"gradbook/autograd"
	"gradbook/gpu"
	"gradbook/tensor"
)

// Optimizer updates parameters from their gradients.
type Optimizer struct {
	// LR is the learning rate. It may be changed between steps.
	LR float64

	name     string
	params   []*autograd.Var
	dev      *gpu.Device
	rule     rule
	schedule Schedule
	steps    int            // taken since the optimizer was made or loaded
	counter  *tensor.Tensor // the same number, on the device
	slots    [][]*tensor.Tensor
	pending  []launch // of the last step, which the device refused
}

// launch is one launch in place. It may be tried again when it fails.
type launch func()

// rule is the arithmetic of an optimizer for one parameter.
type rule interface {
	// slots names the state tensors of a parameter, each of its shape.
	slots() []string
	// prepare does what may fail and shows nowhere, and returns the launches
	// that are left, which do not depend on each other's order.
	prepare(o *Optimizer, lr float64, w, g *tensor.Tensor, state []*tensor.Tensor) []launch
}

// Option adjusts an optimizer.
type Option func(*settings)

type settings struct {
	momentum, weightDecay float64
	beta1, beta2, eps     float64
	decay                 float64
	nesterov              bool
	schedule              Schedule
	allowed               string // options of the optimizer, for the error
	used                  []string
}

func option(name string, f func(*settings)) Option {
	return func(s *settings) { s.used = append(s.used, name); f(s) }
}

// Momentum keeps a running sum of gradients, decayed by m each step (SGD,
// RMSprop).
func Momentum(m float64) Option { return option("Momentum", func(s *settings) { s.momentum = m }) }

// Nesterov looks ahead along the momentum (SGD).
func Nesterov() Option { return option("Nesterov", func(s *settings) { s.nesterov = true }) }

// WeightDecay adds d times the weights to the gradients; AdamW subtracts LR*d
// times the weights from the weights instead.
func WeightDecay(d float64) Option {
	return option("WeightDecay", func(s *settings) { s.weightDecay = d })
}

// Betas sets the decay of Adam's two running means, 0.9 and 0.999 without it.
func Betas(b1, b2 float64) Option {
	return option("Betas", func(s *settings) { s.beta1, s.beta2 = b1, b2 })
}

// Eps is added to denominators, 1e-8 without it; 1e-10 for Adagrad.
func Eps(e float64) Option { return option("Eps", func(s *settings) { s.eps = e }) }

// Decay sets the decay of RMSprop's running mean of squares, 0.99 without it.
func Decay(a float64) Option { return option("Decay", func(s *settings) { s.decay = a }) }

// WithSchedule multiplies LR by s(t) at step t, counted from 0.
func WithSchedule(s Schedule) Option {
	return option("WithSchedule", func(x *settings) { x.schedule = s })
}

func build(name string, params []*autograd.Var, lr float64, defaults settings, opts []Option, allowed []string, make func(settings) rule) *Optimizer {
	s := defaults
	for _, o := range opts {
		o(&s)
	}
	for _, u := range s.used {
		ok := u == "WithSchedule"
		for _, a := range allowed {
			ok = ok || a == u
		}
		if !ok {
			tensor.Fail(name, "has no option "+u, fmt.Sprintf("it has %v", append(allowed, "WithSchedule")))
		}
	}
	if len(params) == 0 {
		tensor.Fail(name, "there are no parameters", "give model.Params()")
	}
	seen := map[*autograd.Var]bool{}
	for i, p := range params {
		switch {
		case p == nil:
			tensor.Fail(name, fmt.Sprintf("parameter %d is nil", i), "")
		case seen[p]:
			tensor.Fail(name, "a parameter comes twice", "", p.Value)
		case p.Device() != params[0].Device():
			tensor.Fail(name, "the parameters are on different devices", "make one optimizer a device", params[0].Value, p.Value)
		}
		seen[p] = true
	}
	o := &Optimizer{LR: lr, name: name, params: params, dev: params[0].Device(), rule: make(s), schedule: s.schedule}
	o.counter = tensor.NewCounter(o.dev, name).SetName("steps of " + name)
	for _, p := range params {
		o.slots = append(o.slots, o.newSlots(p))
	}
	return o
}

// Params returns the parameters.
func (o *Optimizer) Params() []*autograd.Var { return o.params }

// Steps returns how many steps were taken.
func (o *Optimizer) Steps() int { return o.steps }

// Rate returns the learning rate of the next step: LR, times the schedule.
func (o *Optimizer) Rate() float64 {
	if o.schedule == nil {
		return o.LR
	}
	return o.LR * o.schedule(o.steps)
}

// ZeroGrad drops the gradients of all parameters. It is only needed to forget
// gradients that no step is to use.
func (o *Optimizer) ZeroGrad() {
	for _, p := range o.params {
		p.ZeroGrad()
	}
}

func (o *Optimizer) newSlots(p *autograd.Var) []*tensor.Tensor {
	names := o.rule.slots()
	slots := make([]*tensor.Tensor, len(names))
	for k, n := range names {
		slots[k] = tensor.Maker{Device: o.dev, DType: p.DType()}.Zeros(p.Shape()...).SetRole(gpu.OptimizerState)
		if p.Name() != "" {
			slots[k].SetName(p.Name() + "." + n)
		}
	}
	return slots
}
