package live

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"gradbook/autograd"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/kernel"
	"gradbook/session"
	"gradbook/tensor"
)

// BenchmarkLoop is a training loop, compiled and written in a cell, on the device that GRADBOOK_DEVICE names: what
// differs is what the interpreter costs.
func BenchmarkLoop(b *testing.B) {
	for _, c := range []struct {
		name            string
		model           func() *nn.Model
		opt             func(params []*autograd.Var) *optim.Optimizer
		modelSrc, optim string
		rows, in        int
	}{
		{"784-128-10 b256", func() *nn.Model { return nn.Sequential(nn.Linear(784, 128), nn.Sigmoid(), nn.Linear(128, 10)) },
			func(ps []*autograd.Var) *optim.Optimizer { return optim.SGD(ps, 0.1) },
			"nn.Sequential(nn.Linear(784, 128), nn.Sigmoid(), nn.Linear(128, 10))", "optim.SGD(model.Params(), 0.1)", 256, 784},
		{"784-256-256-10 b128", func() *nn.Model {
			return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
		},
			func(ps []*autograd.Var) *optim.Optimizer { return optim.Adam(ps, 1e-3) },
			"nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))", "optim.Adam(model.Params(), 1e-3)", 128, 784},
	} {
		labels := make([]int, c.rows)
		for i := range labels {
			labels[i] = i % 10
		}
		b.Run(c.name+"/compiled", func(b *testing.B) {
			defer session.Current().Close()
			model := c.model()
			opt := c.opt(model.Params())
			x, y := autograd.Const(tensor.Randn(c.rows, c.in)), autograd.Const(tensor.FromInts(labels))
			step := func(x, y *autograd.Var) *autograd.Var {
				loss := nn.CrossEntropy(model.Forward(x), y)
				loss.Backward()
				opt.Step()
				return loss
			}
			b.Run("eager", func(b *testing.B) {
				step(x, y).Item()
				b.ResetTimer()
				for range b.N - 1 {
					step(x, y)
				}
				step(x, y).Item()
			})
			b.Run("recorded", func(b *testing.B) {
				recorded := autograd.Record(step)
				defer recorded.Close()
				recorded.Run(x, y).Item()
				b.ResetTimer()
				for range b.N {
					recorded.Run(x, y)
				}
				recorded.Run(x, y).Item()
			})
		})
		b.Run(c.name+"/cell", func(b *testing.B) {
			defer session.Current().Close()
			drop := func(int, []byte) {}
			e, err := newEvaluator(kernel.Streams{Stdout: drop, Stderr: drop, Stdin: io.Reader(strings.NewReader(""))})
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			run := func(src string) {
				n++
				if out := e.Run(context.Background(), n, src); out.Err != nil {
					b.Fatal(out.Err.Message)
				}
			}
			run(fmt.Sprintf(`model := %s
opt := %s
labels := make([]int, %d)
for i := range labels { labels[i] = i %% 10 }
x, y := autograd.Const(tensor.Randn(len(labels), %d)), autograd.Const(tensor.FromInts(labels))
step := autograd.Record(func(x, y *autograd.Var) *autograd.Var {
	loss := nn.CrossEntropy(model.Forward(x), y)
	loss.Backward()
	opt.Step()
	return loss
})`, c.modelSrc, c.optim, c.rows, c.in))
			eager := func(n int) {
				run(fmt.Sprintf(`var loss *autograd.Var
for range %d {
	loss = nn.CrossEntropy(model.Forward(x), y)
	loss.Backward()
	opt.Step()
}
loss.Item()`, n))
			}
			recorded := func(n int) {
				run(fmt.Sprintf("for range %d {\n\tstep.Run(x, y)\n}\nstep.Run(x, y).Item()", n))
			}
			b.Run("eager", func(b *testing.B) {
				eager(1)
				b.ResetTimer()
				eager(b.N)
			})
			b.Run("recorded", func(b *testing.B) {
				recorded(1)
				b.ResetTimer()
				recorded(b.N)
			})
		})
	}
}
