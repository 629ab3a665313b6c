package nn

import "gradbook/autograd"

// stateless is a module without parameters.
type stateless struct{}

// Params returns none.
func (stateless) Params() []*autograd.Var { return nil }

// ActivationLayer applies a function.
type ActivationLayer struct {
	stateless
	name  string
	f     func(*autograd.Var) *autograd.Var
	fused autograd.Activation
	// foreign functions may keep what they return.
	foreign bool
}

// Forward applies the function.
func (a *ActivationLayer) Forward(x *autograd.Var) *autograd.Var { return a.f(x) }

func (a *ActivationLayer) String() string { return a.name + "()" }

// Activation makes a layer of a function without parameters.
func Activation(name string, f func(x *autograd.Var) *autograd.Var) *ActivationLayer {
	return &ActivationLayer{name: name, f: f, foreign: true}
}

func activation(name string, f func(x *autograd.Var) *autograd.Var) *ActivationLayer {
	return &ActivationLayer{name: name, f: f}
}

// ReLU makes a layer of max(x, 0).
func ReLU() *ActivationLayer {
	return &ActivationLayer{name: "ReLU", f: (*autograd.Var).ReLU, fused: autograd.ReLUActivation}
}

// Sigmoid makes a layer of 1 / (1 + exp(-x)).
func Sigmoid() *ActivationLayer {
	return &ActivationLayer{name: "Sigmoid", f: (*autograd.Var).Sigmoid, fused: autograd.SigmoidActivation}
}

// Tanh makes a layer of hyperbolic tangents.
func Tanh() *ActivationLayer {
	return &ActivationLayer{name: "Tanh", f: (*autograd.Var).Tanh, fused: autograd.TanhActivation}
}

// GELU makes a layer of Gaussian error linear units, in the tanh form.
func GELU() *ActivationLayer { return activation("GELU", (*autograd.Var).GELU) }

// SiLU makes a layer of x * sigmoid(x).
func SiLU() *ActivationLayer { return activation("SiLU", (*autograd.Var).SiLU) }

// Softmax makes a layer of exp(x) over the last dimension, divided by its sum.
// CrossEntropy takes logits: it needs no Softmax before it.
func Softmax() *ActivationLayer { return activation("Softmax", (*autograd.Var).Softmax) }

// Flatten makes a layer that turns (n, c, h, w) into (n, c*h*w).
func Flatten() *ActivationLayer { return activation("Flatten", (*autograd.Var).Flatten) }
