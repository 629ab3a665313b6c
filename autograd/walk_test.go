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
