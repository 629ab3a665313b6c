package autograd

import (
	"fmt"
	"maps"
	"slices"

	"gradbook/gpu"
)

// Tape visits the operations that v was computed by, and the leaves that they
// started from, each after what it was computed from: id numbers them from 0,
// op is the operation, "" for a leaf, inputs are the ids of the operands, and
// flows tells that Backward sends a gradient there. After Backward the tape is
// gone, and v is all there is.
//
// A picture of the tape is drawn from this.
func (v *Var) Tape(visit func(id int, op, name string, shape []int, flows bool, inputs []int)) {
	ids := map[*Var]int{}
	// Depth first with a stack of its own: a tape may be deeper than the Go
	// stack of an interpreter allows.
	type frame struct {
		v    *Var
		next int
	}
	stack := []frame{{v, 0}}
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		var ins []*Var
		op := ""
		if f.v.node != nil {
			ins, op = f.v.node.inputs, f.v.node.op
		}
		if f.next < len(ins) {
			in := ins[f.next]
			f.next++
			if _, seen := ids[in]; !seen {
				stack = append(stack, frame{in, 0})
			}
			continue
		}
		inputs := make([]int, len(ins))
		for i, in := range ins {
			inputs[i] = ids[in]
		}
		name := f.v.name
		if name == "" && !f.v.Value.Freed() {
			name = f.v.Value.Name()
		}
		ids[f.v] = len(ids)
		visit(ids[f.v], op, name, f.v.Shape(), f.v.wanted, inputs)
		stack = stack[:len(stack)-1]
	}
}

// Storages visits where the step keeps its inputs and its result, for those
// who look for the names of storages. A step that was taken with inputs of
// several shapes numbers them: "inputs[0] of 2" is that of the second.
func (s *Step) Storages(visit func(part string, st *gpu.Storage)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, shape := range slices.Sorted(maps.Keys(s.takes)) {
		of := ""
		if len(s.takes) > 1 {
			of = fmt.Sprintf(" of %d", n+1)
		}
		t := s.takes[shape]
		for i, in := range t.inputs {
			visit(fmt.Sprintf("inputs[%d]%s", i, of), in.Value.Storage())
		}
		if t.out != nil {
			visit("result"+of, t.out.Value.Storage())
		}
	}
}
