package autograd

import (
	"fmt"
	"slices"
	"testing"

	"gradbook/gpu"
	"gradbook/tensor"
)

func TestTape(t *testing.T) {
	x := Const(tensor.Ones(3)).Named("x")
	w := Param(tensor.Ones(3)).Named("w")
	h := x.Mul(w)
	y := h.Add(h).Sum()
	got := func() (lines []string) {
		y.Tape(func(id int, op, name string, shape []int, flows bool, inputs []int) {
			lines = append(lines, fmt.Sprintf("%d %s %s %v %v %v", id, op, name, shape, flows, inputs))
		})
		return lines
	}
	want := []string{"0  x [3] false []", "1  w [3] true []", "2 mul  [3] true [0 1]", "3 add  [3] true [2 2]", "4 sum  [] true [3]"}
	if lines := got(); !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	y.Backward()
	if lines := got(); len(lines) != 1 {
		t.Errorf("after Backward: %q", lines)
	}
	deep := w
	for range 100_000 {
		deep = deep.AddScalar(1)
	}
	n := 0
	deep.Tape(func(int, string, string, []int, bool, []int) { n++ })
	if n != 100_001 {
		t.Errorf("%d of a deep tape", n)
	}
}

func TestTapeNamesTheActivationInAnOperation(t *testing.T) {
	x, w, b := Const(tensor.Ones(2, 3)), Param(tensor.Ones(4, 3)), Param(tensor.Ones(4))
	image, kernels := Leaf(tensor.Ones(1, 1, 4, 4)), Param(tensor.Ones(4, 1, 2, 2))
	window := tensor.Square(2, 1, 0)
	for want, v := range map[string]*Var{
		"linear":         Linear(x, w, b, NoActivation),
		"linear+sigmoid": Linear(x, w, b, SigmoidActivation),
		"conv2d+tanh":    Conv2D(image, kernels, b, window, TanhActivation),
		"max_pool":       image.MaxPool2D(window),
		"relu+max_pool":  ReLUMaxPool2D(image, window),
	} {
		last := ""
		v.Tape(func(_ int, op, _ string, _ []int, _ bool, _ []int) { last = op })
		if last != want {
			t.Errorf("%q, want %q", last, want)
		}
	}
}

func TestStepNamesWhatItHolds(t *testing.T) {
	w := Param(tensor.Ones(3))
	step := Record(func(x, y *Var) *Var { return x.Mul(w).Sub(y).Square().Sum() })
	for _, n := range []int{3, 1} {
		x, y := Const(tensor.Ones(n)), Const(tensor.Ones(n))
		step.Run(x, y)
	}
	var parts []string
	step.Storages(func(part string, s *gpu.Storage) { parts = append(parts, part) })
	want := []string{"inputs[0] of 1", "inputs[1] of 1", "result of 1", "inputs[0] of 2", "inputs[1] of 2", "result of 2"}
	if !slices.Equal(parts, want) {
		t.Errorf("%q, want %q", parts, want)
	}
}
