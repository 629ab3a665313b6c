package optim

import (
	"fmt"

	"gradbook/gpu"
	"gradbook/tensor"
)

// State returns the optimizer's state by name: the step counter, and each
// parameter's moments. Saving these tensors and filling them again resumes
// training with the same bits.
func (o *Optimizer) State() map[string]*tensor.Tensor {
	m := map[string]*tensor.Tensor{o.name + ".steps": o.counter}
	for i, p := range o.params {
		name := p.Name()
		if name == "" {
			name = fmt.Sprintf("param%d", i)
		}
		for k, slot := range o.rule.slots() {
			key := o.name + "." + name + "." + slot
			if m[key] != nil {
				tensor.Fail(o.name, "two parameters are named "+name, "give them different names with Named")
			}
			m[key] = o.slots[i][k]
		}
	}
	return m
}

// Loaded tells the optimizer that its State was filled anew.
func (o *Optimizer) Loaded() {
	words := o.counter.Ints()
	o.steps = int(uint32(words[0])) | words[1]<<32
	o.pending = nil
}

// Storages visits what the optimizer holds, for those who look for the names
// of storages: "m[0]" is the first moment of the first parameter.
func (o *Optimizer) Storages(visit func(part string, s *gpu.Storage)) {
	if o == nil {
		return
	}
	for i, p := range o.params {
		p.Storages(func(part string, s *gpu.Storage) {
			name := fmt.Sprintf("params[%d]", i)
			if part != "" {
				name += "." + part
			}
			visit(name, s)
		})
	}
	for i, slots := range o.slots {
		for k, t := range slots {
			visit(fmt.Sprintf("%s[%d]", o.rule.slots()[k], i), t.Storage())
		}
	}
	visit("steps", o.counter.Storage())
}
