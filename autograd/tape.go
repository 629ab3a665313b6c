package autograd

import (
	"sync/atomic"

	"gradbook/gpu"
	"gradbook/tensor"
)

// node is an operation on the tape.
type node struct {
	op     string
	number uint64 // later operations have larger ones
	inputs []*Var
	out    *Var
	reads  []read           // values that back reads
	saved  []*tensor.Tensor // made for back only
	back   func(*visit)
	// gone tells that a Backward consumed the node.
	gone bool

	grad *grad // while a Backward runs
}

// read is a value that Backward needs as it was.
type read struct {
	t       *tensor.Tensor
	version int
}

// op describes an operation to the tape.
type op struct {
	name  string
	in    []*Var
	reads []*tensor.Tensor // values that back reads; in-place changes are noticed
	saved []*tensor.Tensor // made for back only; freed with the node
	back  func(*visit)
}

var (
	operations atomic.Uint64
	untaped    atomic.Int32 // NoGrads that run
)

// NoGrad runs f without a tape: operations save nothing, and their results
// have no gradient. It holds for all goroutines while f runs.
func NoGrad(f func()) {
	untaped.Add(1)
	defer untaped.Add(-1)
	f()
}

// Recording reports whether operations leave notes on a tape: not within
// NoGrad.
func Recording() bool { return untaped.Load() == 0 }

// gives returns the variable for the result of an operation, on the tape if a
// gradient may come back to it.
func (o op) gives(out *tensor.Tensor) *Var {
	wanted := false
	for _, v := range o.in {
		wanted = wanted || v.wanted
	}
	if !wanted || !Recording() {
		for _, t := range o.saved {
			t.Free()
		}
		return &Var{Value: out, made: true}
	}
	n := &node{op: o.name, number: operations.Add(1), inputs: o.in, saved: o.saved, back: o.back}
	for _, t := range o.reads {
		n.reads = append(n.reads, read{t, t.Version()})
	}
	for _, t := range o.saved {
		t.SetRole(gpu.Activation)
	}
	out.SetRole(gpu.Activation)
	n.out = &Var{Value: out, node: n, wanted: true}
	return n.out
}

// end frees what the tape holds of the node: saved tensors, and the value if
// nobody else has seen it.
func (n *node) end() {
	if n.gone {
		return
	}
	n.gone = true
	for _, t := range n.saved {
		t.Free()
	}
	if n.out.inner {
		n.out.Value.Release()
	}
	n.inputs, n.out, n.reads, n.saved, n.back = nil, nil, nil, nil, nil
}

// checkReads panics if a value that Backward needs has changed or is gone.
func (n *node) checkReads() {
	for _, r := range n.reads {
		if r.t.Version() != r.version {
			tensor.Fail("backward of "+n.op, "a value it needs was changed in place after it was used", "call Backward before changing it", r.t)
		}
	}
}
