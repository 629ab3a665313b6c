package hardware

import (
	"fmt"
	"testing"
	"time"

	"gradbook/autograd"
	"gradbook/autograd/data"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/gpu"
	"gradbook/tensor"
)

// device opens a CUDA device as a session does.
func device(t testing.TB) *gpu.Device {
	t.Helper()
	d := gpu.New(open(t))
	t.Cleanup(func() { d.Close() })
	return d
}

// trainer is a model in training, as a user writes it.
type trainer struct {
	model *nn.Model
	opt   *optim.Optimizer
	x, y  *autograd.Var
}

func (t *trainer) step(x, y *autograd.Var) *autograd.Var {
	loss := nn.CrossEntropy(t.model.Forward(x), y)
	loss.Backward()
	t.opt.Step()
	return loss
}

// cyclic are labels 0, 1, 2, ... of some classes.
func cyclic(d *gpu.Device, rows, classes int) *autograd.Var {
	labels := make([]int, rows)
	for i := range labels {
		labels[i] = i % classes
	}
	return autograd.Const(tensor.On(d).FromInts(labels))
}

func perceptronOf(d *gpu.Device, rows int, sizes ...int) *trainer {
	on := nn.On(d)
	var layers []nn.Module
	for i := range len(sizes) - 1 {
		if i > 0 {
			layers = append(layers, nn.ReLU())
		}
		layers = append(layers, on.Linear(sizes[i], sizes[i+1]))
	}
	m := nn.Sequential(layers...)
	return &trainer{m, optim.Adam(m.Params(), 1e-3), autograd.Const(tensor.On(d).Randn(rows, sizes[0])), cyclic(d, rows, sizes[len(sizes)-1])}
}

func convolutionOf(d *gpu.Device, rows int) *trainer {
	on := nn.On(d)
	m := nn.Sequential(
		on.Conv2D(1, 32, 3, 1, 1), nn.ReLU(), nn.MaxPool2D(2),
		on.Conv2D(32, 64, 3, 1, 1), nn.ReLU(), nn.MaxPool2D(2),
		nn.Flatten(), on.Linear(64*7*7, 10))
	return &trainer{m, optim.Adam(m.Params(), 1e-3), autograd.Const(tensor.On(d).Randn(rows, 1, 28, 28)), cyclic(d, rows, 10)}
}

var models = []struct {
	name string
	make func(d *gpu.Device) *trainer
}{
	{"mlp 784-256-256-10 b128", func(d *gpu.Device) *trainer { return perceptronOf(d, 128, 784, 256, 256, 10) }},
	{"mlp 784-128-10 b256", func(d *gpu.Device) *trainer { return perceptronOf(d, 256, 784, 128, 10) }},
	{"mlp 784-2048-2048-10 b1024", func(d *gpu.Device) *trainer { return perceptronOf(d, 1024, 784, 2048, 2048, 10) }},
	{"mlp 4096-4096-4096-4096 b4096", func(d *gpu.Device) *trainer { return perceptronOf(d, 4096, 4096, 4096, 4096, 4096) }},
	{"cnn 32-64 b128", func(d *gpu.Device) *trainer { return convolutionOf(d, 128) }},
	{"cnn 32-64 b1024", func(d *gpu.Device) *trainer { return convolutionOf(d, 1024) }},
}

// BenchmarkTrain is a step as a user writes it: module, loss, Backward, Step.
func BenchmarkTrain(b *testing.B) {
	for _, c := range models {
		b.Run(c.name, func(b *testing.B) {
			d := device(b)
			t := c.make(d)
			b.Run("eager", func(b *testing.B) {
				before := d.Counters()
				repeat(b, d.Sync, func() error { t.step(t.x, t.y); return nil })
				after := d.Counters().Sub(before)
				b.ReportMetric(float64(after.TotalLaunches())/float64(b.N+3), "launches")
			})
			step := autograd.Record(t.step)
			b.Run("recorded", func(b *testing.B) {
				repeat(b, d.Sync, func() error { step.Run(t.x, t.y); return nil })
			})
			x := autograd.Const(tensor.On(d).Randn(t.x.Shape()...))
			y := autograd.Const(t.y.Value.Clone())
			i := 0
			b.Run("recorded, new batches", func(b *testing.B) {
				repeat(b, d.Sync, func() error {
					i++
					if i%2 == 0 {
						step.Run(t.x, t.y)
					} else {
						step.Run(x, y)
					}
					return nil
				})
			})
			b.Run("recorded, host's share", func(b *testing.B) {
				burst(b, 20, d.Sync, func() error { step.Run(t.x, t.y); return nil })
			})
		})
	}
}

// BenchmarkQuickstart trains the first notebook's model to 97%: seconds from
// the first step, and with the device's start.
func BenchmarkQuickstart(b *testing.B) {
	train, test := data.MNIST()
	for _, recorded := range []bool{false, true} {
		b.Run(map[bool]string{false: "eager", true: "recorded"}[recorded], func(b *testing.B) {
			for range b.N {
				start := time.Now()
				d := device(b)
				if err := d.Seed(1); err != nil {
					b.Fatal(err)
				}
				on := nn.On(d)
				m := nn.Sequential(on.Linear(784, 128), nn.ReLU(), on.Linear(128, 10))
				t := &trainer{model: m, opt: optim.Adam(m.Params(), 1e-3)}
				here, there := train.To(d), test.To(d)
				step := t.step
				if recorded {
					r := autograd.Record(t.step)
					step = func(x, y *autograd.Var) *autograd.Var { return r.Run(x, y) }
				}
				ready := time.Now()
				accuracy, epochs := 0.0, 0
				for ; accuracy < 0.97 && epochs < 10; epochs++ {
					for _, batch := range here.Shuffled(epochs).Batches(128) {
						step(batch.X, batch.Y)
					}
					accuracy = nn.Accuracy(m, there)
				}
				if accuracy < 0.97 {
					b.Fatal(fmt.Sprintf("%.2f%% after %d epochs", 100*accuracy, epochs))
				}
				b.ReportMetric(float64(time.Since(ready).Nanoseconds()), "ns/op")
				b.ReportMetric(time.Since(start).Seconds(), "s-with-start")
				b.ReportMetric(float64(epochs), "epochs")
				b.ReportMetric(100*accuracy, "%")
			}
		})
	}
}
