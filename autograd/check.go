package autograd

import (
	"fmt"
	"math"

	"gradbook/tensor"
)

// GradCheck compares the gradients of f with central differences. f gets
// Float64 variables with the values of inputs, must always do the same with
// them, and may return any shape. The error names the input and the element
// that differ most; it is nil if all agree to 1 part in 100,000.
//
// The cost is two calls of f for each element of the inputs.
func GradCheck(f func(vars []*Var) *Var, inputs ...*tensor.Tensor) error {
	const (
		h         = 1e-5 // of order cbrt(2^-52): rounding and curvature weigh the same
		tolerance = 1e-5
	)
	values := make([][]float64, len(inputs))
	leaves := make([]*Var, len(inputs))
	for i, t := range inputs {
		values[i] = t.Float64s()
		leaves[i] = Leaf(t.Cast(tensor.Float64).Clone())
	}
	out := f(leaves)
	if out.DType() != tensor.Float64 {
		return fmt.Errorf("f returned %s, not float64", out.DType())
	}
	weights := make([]float64, out.Len())
	for i := range weights {
		weights[i] = math.Cos(float64(i) + 0.5) // a different one for each element
	}
	seed := tensor.Maker{Device: out.Device(), DType: tensor.Float64}.New(weights).Reshape(out.Shape()...)
	out.BackwardFrom(seed)

	at := func(i, j int, x float64) float64 {
		vars := make([]*Var, len(inputs))
		for k, t := range inputs {
			v := append([]float64(nil), values[k]...)
			if k == i {
				v[j] = x
			}
			vars[k] = Const(tensor.Maker{Device: t.Device(), DType: tensor.Float64}.New(v).Reshape(t.Shape()...))
		}
		sum := 0.0
		for k, y := range f(vars).Float64s() {
			sum += weights[k] * y
		}
		return sum
	}
	var worst error
	most := tolerance
	for i := range inputs {
		grad := make([]float64, len(values[i]))
		if g := leaves[i].Grad; g != nil {
			grad = g.Float64s()
		}
		for j, x := range values[i] {
			d := h * max(1, math.Abs(x))
			want := (at(i, j, x+d) - at(i, j, x-d)) / (2 * d)
			if off := math.Abs(grad[j]-want) / max(1, math.Abs(want)); !(off <= most) {
				most = off
				worst = fmt.Errorf("gradient of input %d, element %d: %.8g, but central differences give %.8g", i, j, grad[j], want)
				if math.IsNaN(off) {
					return worst
				}
			}
		}
	}
	return worst
}
