package nn

import (
	"fmt"
	"slices"
	"strings"

	"gradbook/gpu"
	"gradbook/tensor"
)

// Stateful is what Save and Load take besides a model: an optimizer.
type Stateful interface {
	// State returns tensors by name.
	State() map[string]*tensor.Tensor
	// Loaded is called when these tensors were filled anew.
	Loaded()
}

// Save writes the parameters of a model, and the state of optimizers, to a
// file in the safetensors format, which other tools read too. Parameters are
// named after their places, model.layers[0].W; the state of an optimizer after
// its kind, adam.steps and adam.layers[0].W.m. It panics with a
// *tensor.FileError.
func Save(path string, model Module, others ...Stateful) {
	tensor.WriteFile(path, state(model, others), map[string]string{"format": "gradbook"})
}

// Load fills the parameters of a model, and the state of optimizers, from a
// file that Save wrote for the same model and optimizers. Nothing is filled if
// anything does not fit. It panics with a *tensor.FileError.
func Load(path string, model Module, others ...Stateful) {
	want := state(model, others)
	var dev *gpu.Device
	for _, t := range want {
		dev = t.Device()
	}
	if dev == nil {
		dev = gpu.Default()
	}
	got, _ := tensor.On(dev).ReadFile(path)
	var problems []string
	for name, t := range want {
		f := got[name]
		switch {
		case f == nil:
			problems = append(problems, name+" is missing")
		case !slices.Equal(f.Shape(), t.Shape()) || f.DType() != t.DType():
			problems = append(problems, fmt.Sprintf("%s is %s %v, not %s %v", name, f.DType(), f.Shape(), t.DType(), t.Shape()))
		}
	}
	for name := range got {
		if want[name] == nil && strings.HasPrefix(name, "model.") {
			problems = append(problems, name+" is in no layer")
		}
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		panic(&tensor.FileError{Path: path, Problem: "does not fit: " + strings.Join(problems, "; ")})
	}
	for name, t := range want {
		t.CopyFrom(got[name])
		got[name].Free()
	}
	for _, o := range others {
		o.Loaded()
	}
}

func state(model Module, others []Stateful) map[string]*tensor.Tensor {
	all := map[string]*tensor.Tensor{}
	put := func(name string, t *tensor.Tensor) {
		if all[name] != nil {
			tensor.Fail("save", "two tensors are named "+name, "give parameters different names with Named", t)
		}
		all[name] = t
	}
	for i, p := range model.Params() {
		name := p.Name()
		if name == "" {
			name = fmt.Sprintf("param%d", i)
		}
		put("model."+name, p.Value)
	}
	for _, o := range others {
		for name, t := range o.State() {
			put(name, t)
		}
	}
	return all
}
