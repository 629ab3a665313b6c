package optim

import (
	"slices"
	"testing"

	"gradbook/autograd"
	"gradbook/gpu"
	_ "gradbook/gpu/host"
	"gradbook/tensor"
)

func TestStoragesAreNamed(t *testing.T) {
	w := autograd.Param(tensor.Ones(2))
	opt := Adam([]*autograd.Var{w}, 0.1)
	parts := func() (names []string) {
		opt.Storages(func(part string, s *gpu.Storage) { names = append(names, part) })
		return names
	}
	if got := parts(); !slices.Equal(got, []string{"params[0]", "m[0]", "v[0]", "steps"}) {
		t.Errorf("before the first step: %q", got)
	}
	w.Sum().Backward()
	opt.Step()
	if got := parts(); !slices.Equal(got, []string{"params[0]", "params[0].Grad", "m[0]", "v[0]", "steps"}) {
		t.Errorf("after it: %q", got)
	}
}
