package optim

import (
	"gradbook/autograd"
	"gradbook/gpu"
	"gradbook/tensor"
)

// SGD is stochastic gradient descent: w -= LR*g; with Momentum m,
// v = m*v + g and w -= LR*v. It takes Momentum, Nesterov and WeightDecay.
func SGD(params []*autograd.Var, lr float64, opts ...Option) *Optimizer {
	return build("sgd", params, lr, settings{}, opts, []string{"Momentum", "Nesterov", "WeightDecay"}, func(s settings) rule {
		if s.nesterov && s.momentum == 0 {
			tensor.Fail("sgd", "Nesterov needs a momentum", "add Momentum(0.9)")
		}
		return sgd(s)
	})
}

type sgd settings

func (r sgd) slots() []string {
	if r.momentum == 0 {
		return nil
	}
	return []string{"velocity"}
}

func (r sgd) prepare(o *Optimizer, lr float64, w, g *tensor.Tensor, state []*tensor.Tensor) []launch {
	if r.momentum == 0 {
		return []launch{func() { w.Blend(g, -lr, 1-lr*r.weightDecay) }}
	}
	p := gpu.SGDParams{LR: lr, Momentum: r.momentum, WeightDecay: r.weightDecay}
	if r.nesterov {
		p.Nesterov = 1
	}
	return []launch{func() { tensor.SGDStep(g, w, state[0], p) }}
}

// Adam follows Kingma & Ba 2015. It takes Betas, Eps and WeightDecay, which is
// added to the gradients.
func Adam(params []*autograd.Var, lr float64, opts ...Option) *Optimizer {
	return buildAdam("adam", params, lr, settings{}, opts, 0)
}

// AdamW is Adam with decoupled weight decay (Loshchilov & Hutter 2019), 0.01
// unless WeightDecay says otherwise. It takes Betas, Eps and WeightDecay.
func AdamW(params []*autograd.Var, lr float64, opts ...Option) *Optimizer {
	return buildAdam("adamw", params, lr, settings{weightDecay: 0.01}, opts, 1)
}

func buildAdam(name string, params []*autograd.Var, lr float64, d settings, opts []Option, decoupled uint32) *Optimizer {
	d.beta1, d.beta2, d.eps = 0.9, 0.999, 1e-8
	return build(name, params, lr, d, opts, []string{"Betas", "Eps", "WeightDecay"}, func(s settings) rule {
		return adam{gpu.AdamParams{Beta1: s.beta1, Beta2: s.beta2, Eps: s.eps, WeightDecay: s.weightDecay, Decoupled: decoupled}}
	})
}

type adam struct{ p gpu.AdamParams }

func (adam) slots() []string { return []string{"m", "v"} }

func (r adam) prepare(o *Optimizer, lr float64, w, g *tensor.Tensor, state []*tensor.Tensor) []launch {
	p := r.p
	p.LR = lr
	counter := o.counter
	return []launch{func() { tensor.AdamStep(g, counter, w, state[0], state[1], p) }}
}

// RMSprop divides gradients by the root of a running mean of their squares
// (Hinton 2012): v = a*v + (1-a)*g*g, w -= LR*g/(sqrt(v)+eps). It takes Decay,
// Eps and WeightDecay.
func RMSprop(params []*autograd.Var, lr float64, opts ...Option) *Optimizer {
	return build("rmsprop", params, lr, settings{decay: 0.99, eps: 1e-8}, opts, []string{"Decay", "Eps", "WeightDecay"}, func(s settings) rule {
		return squares{name: "square_mean", keep: s.decay, add: 1 - s.decay, eps: s.eps, weightDecay: s.weightDecay}
	})
}

// Adagrad divides gradients by the root of the sum of their squares so far
// (Duchi et al. 2011): v += g*g, w -= LR*g/(sqrt(v)+eps). It takes Eps and
// WeightDecay.
func Adagrad(params []*autograd.Var, lr float64, opts ...Option) *Optimizer {
	return build("adagrad", params, lr, settings{eps: 1e-10}, opts, []string{"Eps", "WeightDecay"}, func(s settings) rule {
		return squares{name: "square_sum", keep: 1, add: 1, eps: s.eps, weightDecay: s.weightDecay}
	})
}

// squares divides gradients by the root of an accumulation of their squares:
// v = keep*v + add*g*g.
type squares struct {
	name                        string
	keep, add, eps, weightDecay float64
}

func (r squares) slots() []string { return []string{r.name} }

// prepare works out the new v and the step apart from the old ones; the
// launches put both in their places.
func (r squares) prepare(o *Optimizer, lr float64, w, g *tensor.Tensor, state []*tensor.Tensor) []launch {
	if r.weightDecay != 0 {
		decayed := g.Clone()
		defer decayed.Free()
		decayed.Blend(w, r.weightDecay, 1)
		g = decayed
	}
	v := g.Square()
	v.Blend(state[0], r.keep, r.add)
	root := tensor.Unary(o.name, gpu.Sqrt, v, 1, r.eps)
	defer root.Free()
	step := g.Div(root)
	return []launch{
		func() { w.Blend(step, -lr, 1); step.Free() },
		func() { state[0].CopyFrom(v); v.Free() },
	}
}
