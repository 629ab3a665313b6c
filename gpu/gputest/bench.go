package gputest

import (
	"fmt"
	"testing"

	"gradbook/gpu"
)

// Bench measures a backend's kernels through a device: gemm in GFLOP/s,
// kernels that are bound by memory in GB/s of what they must read and write.
func Bench(b *testing.B, open func() gpu.Backend) {
	d := gpu.New(open())
	defer d.Close()
	for _, n := range []uint32{128, 512, 1024} {
		p := &gpu.GemmParams{Alpha: 1, M: n, N: n, K: n, LDA: n, LDB: n, LDC: n, Batch: 1}
		measure(b, d, fmt.Sprintf("gemm_%d", n), gpu.Gemm, p, 2*float64(n)*float64(n)*float64(n), "GFLOP/s")
	}
	const n = 1 << 20
	line := gpu.Dims{n}
	one := gpu.Strides{1}
	const bytes = 4 * n
	measure(b, d, "copy", gpu.Copy, &gpu.CopyParams{N: n, Rank: 1, Dims: line, X: one}, 2*bytes, "GB/s")
	measure(b, d, "transpose", gpu.Copy, &gpu.CopyParams{N: n, Rank: 2, Dims: gpu.Dims{1 << 10, 1 << 10}, X: gpu.Strides{1, 1 << 10}}, 2*bytes, "GB/s")
	measure(b, d, "add", gpu.Binary, &gpu.BinaryParams{Scale: 1, Op: gpu.Add, N: n, Rank: 1, Dims: line, A: one, B: one}, 3*bytes, "GB/s")
	measure(b, d, "add_bias", gpu.Binary, &gpu.BinaryParams{Scale: 1, Op: gpu.Add, N: n, Rank: 2, Dims: gpu.Dims{1 << 12, 1 << 8},
		A: gpu.Strides{1 << 8, 1}, B: gpu.Strides{0, 1}}, 2*bytes, "GB/s")
	measure(b, d, "relu", gpu.Unary, &gpu.UnaryParams{Scale: 1, Op: gpu.ReLU, N: n}, 2*bytes, "GB/s")
	measure(b, d, "sigmoid", gpu.Unary, &gpu.UnaryParams{Scale: 1, Op: gpu.Sigmoid, N: n}, 2*bytes, "GB/s")
	measure(b, d, "tanh", gpu.Unary, &gpu.UnaryParams{Scale: 1, Op: gpu.Tanh, N: n}, 2*bytes, "GB/s")
	measure(b, d, "axpby", gpu.Axpby, &gpu.AxpbyParams{Alpha: 1e-9, Beta: 1, N: n}, 3*bytes, "GB/s")
	measure(b, d, "sum_rows", gpu.Reduce, &gpu.ReduceParams{Scale: 1, Op: gpu.ReduceSum, Outer: 1 << 10, Axis: 1 << 10, Inner: 1}, bytes, "GB/s")
	measure(b, d, "sum_cols", gpu.Reduce, &gpu.ReduceParams{Scale: 1, Op: gpu.ReduceSum, Outer: 1, Axis: 1 << 10, Inner: 1 << 10}, bytes, "GB/s")
	measure(b, d, "softmax", gpu.Softmax, &gpu.SoftmaxParams{Rows: 1 << 10, Cols: 1 << 10}, 2*bytes, "GB/s")
	measure(b, d, "uniform", gpu.Random, &gpu.RandomParams{B: 1, Dist: gpu.Uniform, N: n}, bytes, "GB/s")
	measure(b, d, "normal", gpu.Random, &gpu.RandomParams{B: 1, Dist: gpu.Normal, N: n}, bytes, "GB/s")
	measure(b, d, "im2col", gpu.Im2col, &gpu.WindowParams{N: 32, C: 8, H: 28, W: 28, KH: 3, KW: 3, OH: 28, OW: 28, SH: 1, SW: 1, DH: 1, DW: 1, PH: 1, PW: 1},
		10*32*8*28*28*4, "GB/s")
	measure(b, d, "linear", gpu.Linear, &gpu.LinearParams{Rows: 256, In: 784, Out: 128, Act: gpu.Sigmoid}, 2*256*784*128, "GFLOP/s")
	measure(b, d, "linear_param_bwd", gpu.LinearParamBwd, &gpu.LinearParamBwdParams{Rows: 256, In: 784, Out: 128}, 2*256*784*128, "GFLOP/s")
	measure(b, d, "sgd_step", gpu.SGDStep, &gpu.SGDParams{LR: 1e-9, N: n}, 5*bytes, "GB/s")
	measure(b, d, "adam_step", gpu.AdamStep, &gpu.AdamParams{LR: 1e-9, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, N: n}, 7*bytes, "GB/s")
}

// measure times launches in a batch, so that a backend may overlap them, and
// reports amount, which is FLOP or bytes a launch, by time.
func measure(b *testing.B, d *gpu.Device, name string, k gpu.Kernel, params any, amount float64, unit string) {
	b.Run(name, func(b *testing.B) {
		elements := gpu.Elements(k, params)
		var views []gpu.View
		for i, a := range k.Info().Args {
			bytes := elements[i] * 4
			var s *gpu.Storage
			if a.Type == gpu.State {
				s = d.NewCounter("bench")
				if err := d.Run(gpu.Count, gpu.Int32, &gpu.CountParams{Add: 1}, s.All()); err != nil {
					b.Fatal(err)
				}
			} else {
				s = d.FromHost(ramp(bytes), "bench", gpu.Data)
			}
			defer s.Free()
			views = append(views, s.All())
		}
		run := func() {
			if err := d.Run(k, gpu.Float32, params, views...); err != nil {
				b.Fatal(err)
			}
		}
		run()
		if err := d.Sync(); err != nil {
			b.Fatal(err)
		}
		b.ResetTimer()
		for range b.N {
			run()
		}
		if err := d.Sync(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(amount*float64(b.N)/float64(b.Elapsed().Nanoseconds()), unit)
	})
}

// ramp is float32 numbers from 0.1 to 1.1.
func ramp(bytes int64) []byte {
	x := make([]float64, bytes/4)
	for i := range x {
		x[i] = 0.1 + float64(i%1000)/1000
	}
	b := make([]byte, bytes)
	encode(b, gpu.Float32, x, gpu.Typed)
	return b
}
