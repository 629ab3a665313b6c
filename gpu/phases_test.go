package gpu_test

import (
	"errors"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/host"
)

// A phase that goes through the host computes the same, and every byte it moves
// is counted.
func TestThrough(t *testing.T) {
	d := newDevice(t)
	b := host.New()
	w, v, g := fill(t, d, 4, 1), fill(t, d, 4, 0), fill(t, d, 4, 0.5)
	x, y := fill(t, d, 4, -3), d.NewStorage(16, "y", gpu.Temporary)
	step := func() error {
		return d.Run(gpu.SGDStep, gpu.Float32, &gpu.SGDParams{LR: 1, N: 4}, g.All(), w.All(), v.All())
	}
	d.Through(b, gpu.Optimizer)
	before := d.Counters()
	must(t, step())
	must(t, square(d, x, y)) // an activation: on the device
	c := d.Counters().Sub(before)
	if c.Fallbacks != 1 || c.Downloads != 3 || c.BytesDown != 48 || c.Uploads != 2 || c.BytesUp != 32 || c.Launches[gpu.SGDStep] != 0 || c.Launches[gpu.Unary] != 1 {
		t.Errorf("an optimizer step through the host: %+v", c)
	}
	want(t, w, 0.5, 0.5, 0.5, 0.5)

	d.Through(b, gpu.Activations, gpu.Backward)
	before = d.Counters()
	must(t, step())
	must(t, square(d, x, y))
	if c := d.Counters().Sub(before); c.Fallbacks != 1 || c.Launches[gpu.SGDStep] != 1 || c.Launches[gpu.Unary] != 0 {
		t.Errorf("an activation through the host: %+v", c)
	}
	want(t, w, 0, 0, 0, 0)
	want(t, y, 9, 9, 9, 9)

	var refused *gpu.RecordError
	if _, err := d.Record(func() error { return square(d, x, y) }); !errors.As(err, &refused) {
		t.Error("recorded through the host:", err)
	}
	d.Through(b)
	before = d.Counters()
	must(t, square(d, x, y))
	if c := d.Counters().Sub(before); c.Fallbacks != 0 || c.BytesDown != 0 {
		t.Errorf("after the end of it: %+v", c)
	}
	if held := b.Stats().BytesHeld; held != 0 {
		t.Errorf("the host holds %d bytes", held)
	}
}

func TestPhases(t *testing.T) {
	for k := range gpu.NumKernels {
		l := gpu.Launch{Kernel: k, Params: k.Info().Params}
		name := k.String()
		if bwd := len(name) > 4 && name[len(name)-4:] == "_bwd"; bwd && gpu.PhaseOf(&l) != gpu.Backward {
			t.Errorf("%s is of phase %s", k, gpu.PhaseOf(&l))
		}
	}
	for _, c := range []struct {
		kernel gpu.Kernel
		params any
		want   gpu.Phase
	}{
		{gpu.Linear, &gpu.LinearParams{Act: gpu.Identity}, gpu.Other},
		{gpu.Linear, &gpu.LinearParams{Act: gpu.ReLU}, gpu.Activations},
		{gpu.Conv2D, &gpu.Conv2DParams{Act: gpu.Identity}, gpu.Other},
		{gpu.Conv2D, &gpu.Conv2DParams{Act: gpu.ReLU}, gpu.Activations},
		{gpu.Binary, &gpu.BinaryParams{Op: gpu.NotEqual}, gpu.Other},
		{gpu.Binary, &gpu.BinaryParams{Op: gpu.ReLUBwd}, gpu.Backward},
		{gpu.AdamStep, &gpu.AdamParams{}, gpu.Optimizer},
		{gpu.Gemm, &gpu.GemmParams{}, gpu.Other},
	} {
		if got := gpu.PhaseOf(&gpu.Launch{Kernel: c.kernel, Params: c.params}); got != c.want {
			t.Errorf("%s %+v is of phase %s, want %s", c.kernel, c.params, got, c.want)
		}
	}
}
