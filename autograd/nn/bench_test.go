package nn_test

import (
	"testing"

	"gradbook/autograd"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/gpu"
	"gradbook/gpu/host"
	"gradbook/tensor"
)

// synthetic is a batch of n rows of width numbers, with ten classes.
func synthetic(dev *gpu.Device, n int, shape ...int) (x, y *autograd.Var) {
	on := tensor.On(dev)
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i * 7 % 10
	}
	return autograd.Const(on.Randn(append([]int{n}, shape...)...)), autograd.Const(on.FromInts(labels))
}

// bench times steps, counts their launches, and waits for the device at the
// end.
func bench(b *testing.B, dev *gpu.Device, step func() *autograd.Var) {
	for range 3 {
		step()
	}
	before := dev.Counters()
	b.ReportAllocs()
	b.ResetTimer()
	var loss *autograd.Var
	for range b.N {
		loss = step()
	}
	loss.Item()
	b.StopTimer()
	n := dev.Counters().Sub(before)
	b.ReportMetric(float64(n.TotalLaunches())/float64(b.N), "launches/op")
}

func mlp(on nn.Maker, sizes []int, act func() *nn.ActivationLayer) *nn.Model {
	var layers []nn.Module
	for i := range len(sizes) - 1 {
		if i > 0 {
			layers = append(layers, act())
		}
		layers = append(layers, on.Linear(sizes[i], sizes[i+1]))
	}
	return nn.Sequential(layers...)
}

func cnn(on nn.Maker) *nn.Model {
	return nn.Sequential(
		on.Conv2D(1, 32, 3, 1, 1), nn.ReLU(), nn.MaxPool2D(2),
		on.Conv2D(32, 64, 3, 1, 1), nn.ReLU(), nn.MaxPool2D(2),
		nn.Flatten(), on.Linear(64*7*7, 10))
}

// BenchmarkStep is one training step: forward, backward, optimizer.
func BenchmarkStep(b *testing.B) {
	sgd := func(p []*autograd.Var) *optim.Optimizer { return optim.SGD(p, 0.1) }
	adam := func(p []*autograd.Var) *optim.Optimizer { return optim.Adam(p, 1e-3) }
	for _, c := range []struct {
		name  string
		batch int
		shape []int
		model func(nn.Maker) *nn.Model
		opt   func([]*autograd.Var) *optim.Optimizer
	}{
		{"784-128-10,batch=256,sigmoid,sgd", 256, []int{784}, func(on nn.Maker) *nn.Model { return mlp(on, []int{784, 128, 10}, nn.Sigmoid) }, sgd},
		{"784-256-256-10,batch=128,relu,adam", 128, []int{784}, func(on nn.Maker) *nn.Model { return mlp(on, []int{784, 256, 256, 10}, nn.ReLU) }, adam},
		{"tiny,batch=8,relu,adam", 8, []int{16}, func(on nn.Maker) *nn.Model { return mlp(on, []int{16, 16, 10}, nn.ReLU) }, adam},
		{"cnn-32-64,batch=32,adam", 32, []int{1, 28, 28}, cnn, adam},
	} {
		for _, recorded := range []bool{false, true} {
			name := c.name + "/eager"
			if recorded {
				name = c.name + "/recorded"
			}
			b.Run(name, func(b *testing.B) {
				dev := gpu.New(host.New())
				defer dev.Close()
				x, y := synthetic(dev, c.batch, c.shape...)
				model := c.model(nn.On(dev))
				opt := c.opt(model.Params())
				train := func(x, y *autograd.Var) *autograd.Var {
					loss := nn.CrossEntropy(model.Forward(x), y)
					loss.Backward()
					opt.Step()
					return loss
				}
				if recorded {
					step := autograd.Record(train)
					bench(b, dev, func() *autograd.Var { return step.Run(x, y) })
				} else {
					bench(b, dev, func() *autograd.Var { return train(x, y) })
				}
			})
		}
	}
}
