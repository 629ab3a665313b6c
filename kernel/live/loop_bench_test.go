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

// BenchmarkLoop is a training loop, 784-128-10, batch 256, sigmoid and SGD, compiled and written in a cell. What differs is
// what the interpreter costs.
func BenchmarkLoop(b *testing.B) {
	labels := make([]int, 256)
	for i := range labels {
		labels[i] = i % 10
	}
	b.Run("compiled", func(b *testing.B) {
		defer session.Current().Close()
		model := nn.Sequential(nn.Linear(784, 128), nn.Sigmoid(), nn.Linear(128, 10))
		opt := optim.SGD(model.Params(), 0.1)
		x, y := autograd.Const(tensor.Randn(256, 784)), autograd.Const(tensor.FromInts(labels))
		for b.Loop() {
			loss := nn.CrossEntropy(model.Forward(x), y)
			loss.Backward()
			opt.Step()
		}
	})
	b.Run("cell", func(b *testing.B) {
		defer session.Current().Close()
		drop := func(int, []byte) {}
		e, err := newEvaluator(kernel.Streams{Stdout: drop, Stderr: drop, Stdin: io.Reader(strings.NewReader(""))})
		if err != nil {
			b.Fatal(err)
		}
		run := func(n int, src string) {
			if out := e.Run(context.Background(), n, src); out.Err != nil {
				b.Fatal(out.Err.Message)
			}
		}
		run(1, `model := nn.Sequential(nn.Linear(784, 128), nn.Sigmoid(), nn.Linear(128, 10))
opt := optim.SGD(model.Params(), 0.1)
labels := make([]int, 256)
for i := range labels { labels[i] = i % 10 }
x, y := autograd.Const(tensor.Randn(256, 784)), autograd.Const(tensor.FromInts(labels))`)
		b.ResetTimer()
		run(2, fmt.Sprintf(`for range %d {
	loss := nn.CrossEntropy(model.Forward(x), y)
	loss.Backward()
	opt.Step()
}`, b.N))
	})
}
