package nn

import (
	"fmt"
	"strings"

	"gradbook/autograd"
	"gradbook/tensor"
)

// Module is a function with parameters.
type Module interface {
	// Forward computes the module's result.
	Forward(x *autograd.Var) *autograd.Var
	// Params returns the trainable parameters, always in the same order.
	Params() []*autograd.Var
}

// Container is a module of modules. Implement it so that Eval, Train and
// Summary reach what is within.
type Container interface {
	Modules() []Module
}

// Switch is a module that does otherwise in training than in use.
type Switch interface {
	// SetTraining switches and returns what was before.
	SetTraining(on bool) (was bool)
}

// Train switches m, and what it contains, to training: dropout drops.
func Train(m Module) { setTraining(m, true) }

// Eval switches m, and what it contains, to use: dropout does nothing.
func Eval(m Module) { setTraining(m, false) }

// setTraining switches all of m and returns a function that switches back.
func setTraining(m Module, on bool) (back func()) {
	var undo []func()
	if s, ok := m.(Switch); ok {
		was := s.SetTraining(on)
		undo = append(undo, func() { s.SetTraining(was) })
	}
	if c, ok := m.(Container); ok {
		for _, inner := range c.Modules() {
			undo = append(undo, setTraining(inner, on))
		}
	}
	return func() {
		for _, u := range undo {
			u()
		}
	}
}

// builtin marks modules that may tell that nobody keeps their results: they can
// be discarded.
type builtin interface{ builtin() bool }

func (*LinearLayer) builtin() bool       { return true }
func (*EmbeddingLayer) builtin() bool    { return true }
func (*LayerNormLayer) builtin() bool    { return true }
func (*DropoutLayer) builtin() bool      { return true }
func (*Conv2DLayer) builtin() bool       { return true }
func (*MaxPool2DLayer) builtin() bool    { return true }
func (a *ActivationLayer) builtin() bool { return !a.foreign }

// A model may hand on what a layer of one's own keeps.
func (m *Model) builtin() bool {
	for _, l := range m.Layers {
		if !ours(l) {
			return false
		}
	}
	return true
}

func ours(m Module) bool {
	b, ok := m.(builtin)
	return ok && b.builtin()
}

// Model runs modules one after the other.
type Model struct {
	Layers []Module
}

// Sequential makes a model of modules that run one after the other. Their
// parameters are named after their places: layers[0].W.
func Sequential(layers ...Module) *Model {
	for i, l := range layers {
		if l == nil {
			tensor.Fail("sequential", fmt.Sprintf("layer %d is nil", i), "")
		}
		seen := map[string]bool{}
		for k, p := range l.Params() {
			name := p.Name()
			if name == "" {
				name = fmt.Sprint(k)
			}
			// A layer made of layers has two W, and saved files need one name each.
			if seen[name] {
				name = fmt.Sprintf("%d.%s", k, name)
			}
			seen[name] = true
			p.Named(fmt.Sprintf("layers[%d].%s", i, name))
		}
	}
	return &Model{layers}
}

// Forward runs the layers. A Linear or Conv2D and the ReLU, Sigmoid or Tanh after
// it run as one launch; so do a ReLU and the MaxPool2D after it.
func (m *Model) Forward(x *autograd.Var) *autograd.Var {
	inner := false // x came from a layer of this package and nobody else saw it
	for i := 0; i < len(m.Layers); i++ {
		hidden := ours(m.Layers[i])
		var y *autograd.Var
		if f := m.pair(i); f != nil {
			y = f(x)
			i++
		} else {
			y = m.Layers[i].Forward(x)
		}
		if y == nil {
			tensor.Fail(fmt.Sprintf("layers[%d]", i), "Forward returned nil", "return the result", x.Value)
		}
		if y == x {
			continue
		}
		if inner {
			x.Discard()
		}
		x, inner = y, hidden
	}
	return x
}

// activated is a layer that can take in the activation after it.
type activated interface {
	forward(x *autograd.Var, act autograd.Activation) *autograd.Var
}

// pair returns a function that runs layer i and the next one as one launch, or
// nil. A ReLU goes with the MaxPool2D after it rather than with the layer before
// it: then only what is pooled, a quarter for windows of 2 by 2, has to be kept,
// and read again in the backward direction.
func (m *Model) pair(i int) func(x *autograd.Var) *autograd.Var {
	if i+1 == len(m.Layers) {
		return nil
	}
	switch l := m.Layers[i].(type) {
	case activated:
		a, ok := m.Layers[i+1].(*ActivationLayer)
		if ok && a.fused != autograd.NoActivation && m.pooledReLU(i+1) == nil {
			return func(x *autograd.Var) *autograd.Var { return l.forward(x, a.fused) }
		}
	case *ActivationLayer:
		if pool := m.pooledReLU(i); pool != nil {
			return func(x *autograd.Var) *autograd.Var { return autograd.ReLUMaxPool2D(x, pool.Window) }
		}
	}
	return nil
}

// pooledReLU returns the MaxPool2D after a ReLU at i, or nil.
func (m *Model) pooledReLU(i int) *MaxPool2DLayer {
	if a, ok := m.Layers[i].(*ActivationLayer); !ok || a.fused != autograd.ReLUActivation || i+1 == len(m.Layers) {
		return nil
	}
	pool, _ := m.Layers[i+1].(*MaxPool2DLayer)
	return pool
}

// Params returns the parameters of all layers.
func (m *Model) Params() []*autograd.Var {
	var ps []*autograd.Var
	for _, l := range m.Layers {
		ps = append(ps, l.Params()...)
	}
	return ps
}

// Modules returns the layers.
func (m *Model) Modules() []Module { return m.Layers }

// Train switches the model to training: dropout drops.
func (m *Model) Train() { Train(m) }

// Eval switches the model to use: dropout does nothing.
func (m *Model) Eval() { Eval(m) }

func (m *Model) String() string {
	var b strings.Builder
	b.WriteString("Sequential(")
	for i, l := range m.Layers {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(describe(l))
	}
	b.WriteString(")")
	return b.String()
}

func describe(m Module) string {
	if s, ok := m.(fmt.Stringer); ok {
		return s.String()
	}
	name := strings.TrimPrefix(fmt.Sprintf("%T", m), "*")
	name = name[strings.LastIndex(name, ".")+1:]
	if strings.Contains(name, "_") {
		return "own layer" // a generated name: the type has none that its author would know
	}
	return name
}
