package autograd

import (
	"fmt"
	"slices"

	"gradbook/tensor"
)

// Func makes an operation with a gradient of one's own.
//
// forward computes the result from the operands. backward gets the operands,
// the result and the gradient of the result, and returns the gradients of the
// operands in their order, nil for those that have none, each of its operand's
// shape. Both are called with tensors that stay valid only during the call.
//
//	double := autograd.Func("double",
//		func(in []*tensor.Tensor) *tensor.Tensor { return in[0].MulScalar(2) },
//		func(in []*tensor.Tensor, out, dout *tensor.Tensor) []*tensor.Tensor {
//			return []*tensor.Tensor{dout.MulScalar(2)}
//		})
//	y := double(x)
func Func(name string, forward func(in []*tensor.Tensor) *tensor.Tensor, backward func(in []*tensor.Tensor, out, dout *tensor.Tensor) []*tensor.Tensor) func(in ...*Var) *Var {
	return func(in ...*Var) *Var {
		ts := make([]*tensor.Tensor, len(in))
		for i, v := range in {
			ts[i] = v.Value
		}
		y := forward(slices.Clone(ts))
		if y == nil {
			tensor.Fail(name, "forward returned nil", "return the result", ts...)
		}
		y.Retain() // forward may have kept it
		return op{name: name, in: slices.Clone(in), reads: append(slices.Clone(ts), y), back: func(s *visit) {
			s.foreign = true
			grads := backward(slices.Clone(ts), y, s.dy)
			if len(grads) != len(ts) {
				tensor.Fail("backward of "+name, fmt.Sprintf("returned %d gradients for %d operands", len(grads), len(ts)), "return nil for operands without one", ts...)
			}
			for i, g := range grads {
				if g == nil || !s.wants(i) {
					continue
				}
				if !slices.Equal(g.Shape(), ts[i].Shape()) {
					tensor.Fail("backward of "+name, fmt.Sprintf("the gradient of operand %d has another shape", i), "sum it up with SumTo", ts[i], g)
				}
				s.send(i, g)
			}
		}}.gives(y)
	}
}
