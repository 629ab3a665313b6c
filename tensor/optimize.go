package tensor

import "gradbook/gpu"

// SGDStep updates parameters w and velocity v in place, given the gradient g.
// The parameters' N is filled in.
func SGDStep(g, w, v *Tensor, p gpu.SGDParams) {
	floats("sgd_step", g, w, v)
	p.N = uint32(w.Len())
	d, free := g.dense("sgd_step")
	defer free()
	run("sgd_step", gpu.SGDStep, w.dtype, &p, d.view(), w.view(), v.view())
	w.version.Add(1)
}

// AdamStep updates parameters w and moments m and v in place, given the
// gradient g and the step counter. The parameters' N is filled in.
func AdamStep(g *Tensor, step *gpu.Storage, w, m, v *Tensor, p gpu.AdamParams) {
	floats("adam_step", g, w, m, v)
	p.N = uint32(w.Len())
	d, free := g.dense("adam_step")
	defer free()
	run("adam_step", gpu.AdamStep, w.dtype, &p, d.view(), step.All(), w.view(), m.view(), v.view())
	w.version.Add(1)
}

// CountStep adds one to a step counter.
func CountStep(step *gpu.Storage) { advance("count", step, 1) }
