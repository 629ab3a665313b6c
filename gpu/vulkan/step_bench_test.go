package vulkan_test

import (
	"testing"
	"time"

	"gradbook/autograd"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/gpu"
	"gradbook/gpu/vulkan"
	"gradbook/tensor"
)

// A training step as a user writes it: forward, cross-entropy, backward, Adam.
// The device is waited for once, at the end.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name  string
		rows  int
		sizes []int
	}{
		{"784-128-10,batch=256", 256, []int{784, 128, 10}},
		{"784-256-256-10,batch=128", 128, []int{784, 256, 256, 10}},
	} {
		for _, recorded := range []bool{false, true} {
			name := c.name + "/eager"
			if recorded {
				name = c.name + "/recorded"
			}
			b.Run(name, func(b *testing.B) {
				backend, err := vulkan.Open(0)
				if err != nil {
					b.Skip(err)
				}
				d := gpu.New(backend)
				defer d.Close()
				on := nn.On(d)
				var layers []nn.Module
				for i := range len(c.sizes) - 1 {
					if i > 0 {
						layers = append(layers, nn.ReLU())
					}
					layers = append(layers, on.Linear(c.sizes[i], c.sizes[i+1]))
				}
				model := nn.Sequential(layers...)
				opt := optim.Adam(model.Params(), 1e-3)
				labels := make([]int, c.rows)
				for i := range labels {
					labels[i] = i % 10
				}
				x, y := autograd.Const(tensor.On(d).Randn(c.rows, c.sizes[0])), autograd.Const(tensor.On(d).FromInts(labels))
				train := func(x, y *autograd.Var) *autograd.Var {
					loss := nn.CrossEntropy(model.Forward(x), y)
					loss.Backward()
					opt.Step()
					return loss
				}
				step := train
				if recorded {
					r := autograd.Record(train)
					step = func(x, y *autograd.Var) *autograd.Var { return r.Run(x, y) }
				}
				// So that the device has reached its clocks.
				for start := time.Now(); time.Since(start) < 250*time.Millisecond; {
					step(x, y)
				}
				if err := d.Sync(); err != nil {
					b.Fatal(err)
				}
				before := d.Counters()
				b.ResetTimer()
				for range b.N {
					step(x, y)
				}
				if err := d.Sync(); err != nil {
					b.Fatal(err)
				}
				b.StopTimer() // closing a device takes 30 ms
				n := d.Counters().Sub(before)
				b.ReportMetric(float64(n.TotalLaunches())/float64(b.N), "launches/op")
			})
		}
	}
}
