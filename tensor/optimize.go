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
// gradient g and the number of the step, 1 or more, in a counter. The
// parameters' N is filled in.
func AdamStep(g, counter, w, m, v *Tensor, p gpu.AdamParams) {
	floats("adam_step", g, w, m, v)
	p.N = uint32(w.Len())
	d, free := g.dense("adam_step")
	defer free()
	run("adam_step", gpu.AdamStep, w.dtype, &p, d.view(), counter.view(), w.view(), m.view(), v.view())
	w.version.Add(1)
}

// NewCounter makes a counter that is advanced on the device: a state block of
// four Int32 words, the first two of which hold the count, 0.
func NewCounter(dev *gpu.Device, op string) *Tensor {
	return over(dev.NewCounter(op), Int32, []int{4})
}

// Count adds n to a counter.
func (t *Tensor) Count(n int) {
	advance("count", t.store, n)
	t.version.Add(1)
}
