package optim

import (
	"gradbook/autograd"
	"gradbook/gpu"
	"gradbook/tensor"
)

// ClipGradNorm scales the gradients that no step has used so that their norm,
// taken over all of them as one vector, is at most most. It returns the norm
// before. All happens on the device, without a wait. If the device fails the
// gradients are used up, so that a loop that is run again starts from nothing.
func ClipGradNorm(params []*autograd.Var, most float64) *autograd.Var {
	done := false
	defer func() {
		for _, p := range params {
			if !done {
				p.UseGrad()
			}
		}
	}()
	var total *tensor.Tensor
	for _, p := range params {
		if !p.HasGrad() {
			continue
		}
		flat := p.Grad.Reshape(-1)
		square := flat.MatMul(flat)
		flat.Release()
		if total == nil {
			total = square
			continue
		}
		total.AddInPlace(square, 1)
		square.Free()
	}
	if total == nil {
		tensor.Fail("clip_grad_norm", "no parameter has a new gradient", "call Backward first")
	}
	defer total.Free()
	norm := total.Sqrt()
	// scale = min(1, most/norm); a norm of 0 gives 1.
	ratio := tensor.Unary("clip_grad_norm", gpu.Recip, norm, most, 0)
	defer ratio.Free()
	one := tensor.Maker{Device: norm.Device(), DType: norm.DType()}.Ones()
	defer one.Free()
	scale := ratio.Minimum(one)
	defer scale.Free()
	scaled := make([]*tensor.Tensor, len(params))
	for i, p := range params {
		if p.HasGrad() {
			scaled[i] = p.Grad.Mul(scale)
		}
	}
	for i, p := range params {
		if g := scaled[i]; g != nil {
			name := p.Grad.Name()
			p.Grad.Become(g.SetRole(gpu.Gradient).SetName(name))
		}
	}
	done = true
	return autograd.Const(norm)
}
