package autograd

import (
	"slices"

	"gradbook/gpu"
	"gradbook/tensor"
)

// grad is a gradient on its way. Several may be views of one storage, which
// they share.
type grad struct {
	t      *tensor.Tensor
	shared *share
}

type share struct {
	holders int
	// foreign storage was made by others, who may look at it again: it is
	// neither changed nor freed.
	foreign bool
}

func (g *grad) release() {
	if g == nil {
		return
	}
	g.shared.holders--
	if g.shared.holders == 0 && !g.shared.foreign {
		g.t.Free()
	}
}

// alone reports whether g may be changed in place.
func (g *grad) alone() bool {
	return g.shared.holders == 1 && !g.shared.foreign && g.t.Contiguous()
}

// own returns g as a whole storage that nobody else holds.
func (g *grad) own() *grad {
	if g.alone() && g.t.View().Bytes == g.t.Storage().Bytes() {
		return g
	}
	c := &grad{g.t.Clone(), &share{holders: 1}}
	g.release()
	return c
}

// plus adds h to g, of which one or both may be nil, and takes both.
func (g *grad) plus(h *grad) *grad {
	switch {
	case g == nil:
		return h
	case h == nil:
		return g
	case g.alone():
		g.t.AddInPlace(h.t, 1)
		h.release()
		return g
	case h.alone():
		h.t.AddInPlace(g.t, 1)
		g.release()
		return h
	}
	sum := &grad{g.t.Add(h.t), &share{holders: 1}}
	g.release()
	h.release()
	return sum
}

// pass is one Backward.
type pass struct {
	nodes  []*node        // last operation first
	leaves []*Var         // in the order in which they were met
	grads  map[*Var]*grad // of leaves and of kept results
}

// visit is the part of a pass that goes through one node.
type visit struct {
	p  *pass
	n  *node
	dy *tensor.Tensor // gradient of the node's result
	// foreign tells that what is sent was made by a custom function.
	foreign bool
}

// wants reports whether input i has use for a gradient.
func (s *visit) wants(i int) bool { return s.n.inputs[i].wanted }

// send hands a gradient to input i: a tensor made for it, or a view of dy.
func (s *visit) send(i int, t *tensor.Tensor) {
	g := &grad{t, &share{foreign: s.foreign}}
	if t.SameStorage(s.dy) {
		g.shared = s.n.grad.shared
	}
	g.shared.holders++
	in := s.n.inputs[i]
	if in.node != nil {
		in.node.grad = in.node.grad.plus(g)
	} else {
		s.p.grads[in] = s.p.grads[in].plus(g)
	}
}

// Backward finds the gradients of v, which has one element, for all parameters
// and leaves that led to it, adds them to those that no optimizer has used yet,
// and consumes the tape. On a panic no gradient has changed; the tape is gone
// all the same.
func (v *Var) Backward() {
	if v.Len() != 1 {
		tensor.Fail("backward", "the value is not a single number", "reduce it with Sum or Mean, or give a gradient to BackwardFrom", v.Value)
	}
	one := tensor.Maker{Device: v.Device(), DType: v.DType()}.One(v.Shape()...)
	v.backward(&grad{one, &share{foreign: true}})
}

// BackwardFrom is Backward of a value of any shape, given its gradient dy.
func (v *Var) BackwardFrom(dy *tensor.Tensor) {
	if !slices.Equal(dy.Shape(), v.Shape()) {
		tensor.Fail("backward", "the gradient's shape is not the value's", "", v.Value, dy)
	}
	v.backward(&grad{dy, &share{foreign: true}})
}

func (v *Var) backward(g *grad) {
	g.shared.holders++
	if v.node == nil {
		g.release()
		tensor.Fail("backward", "no operation on a tape gave this value", "use parameters, outside NoGrad", v.Value)
	}
	p := &pass{grads: map[*Var]*grad{}}
	v.node.grad = g
	p.collect(v.node)
	defer p.end()
	// The gradients that are replaced make room for the new ones.
	for _, leaf := range p.leaves {
		if leaf.Grad != nil && leaf.used {
			leaf.Grad.Free()
		}
	}
	for _, n := range p.nodes {
		p.through(n)
	}
	p.commit()
}

// collect lists the nodes that lead to root, and the leaves.
func (p *pass) collect(root *node) {
	seen := map[*node]bool{}
	leaf := map[*Var]bool{}
	open := []*node{root}
	for len(open) > 0 {
		n := open[len(open)-1]
		open = open[:len(open)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if n.gone {
			root.grad.release()
			root.grad = nil
			tensor.Fail("backward", "the tape through "+n.op+" was consumed by an earlier Backward", "add the losses and call Backward once, or run the forward pass again")
		}
		p.nodes = append(p.nodes, n)
		if n.out.keep && !leaf[n.out] {
			leaf[n.out] = true
			p.leaves = append(p.leaves, n.out)
		}
		for _, in := range n.inputs {
			switch {
			case !in.wanted:
			case in.node != nil:
				open = append(open, in.node)
			case !leaf[in]:
				leaf[in] = true
				p.leaves = append(p.leaves, in)
			}
		}
	}
	slices.SortFunc(p.nodes, func(a, b *node) int {
		if a.number > b.number {
			return -1
		}
		return 1
	})
}

// through sends the gradient of a node's result to its inputs.
func (p *pass) through(n *node) {
	if n.grad != nil {
		n.checkReads()
		n.back(&visit{p: p, n: n, dy: n.grad.t})
		if n.out.keep {
			n.grad.shared.holders++
			p.grads[n.out] = n.grad
		}
		n.grad.release()
		n.grad = nil
	}
	n.end()
}

// commit makes the gradients found those of the leaves. What can fail comes
// first.
func (p *pass) commit() {
	for _, leaf := range p.leaves {
		g := p.grads[leaf]
		if g == nil {
			continue
		}
		g = g.own()
		p.grads[leaf] = g
		if leaf.HasGrad() {
			g.t.AddInPlace(leaf.Grad, 1)
		}
	}
	for _, leaf := range p.leaves {
		g := p.grads[leaf]
		if g == nil {
			continue
		}
		delete(p.grads, leaf)
		g.t.SetRole(gpu.Gradient).SetName(gradName(leaf.name))
		if leaf.Grad == nil {
			leaf.Grad = g.t
		} else {
			leaf.Grad.Become(g.t)
		}
		leaf.used = false
	}
}

// end frees what a pass that panicked left.
func (p *pass) end() {
	for _, n := range p.nodes {
		n.grad.release()
		n.grad = nil
		n.end()
	}
	for _, g := range p.grads {
		g.release()
	}
}
