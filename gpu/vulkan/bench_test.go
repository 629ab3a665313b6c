package vulkan

import (
	"fmt"
	"testing"
	"time"

	"gradbook/gpu"
)

// span makes a buffer of n elements of float32, filled with a small constant.
func span(b testing.TB, d *Backend, n int64) gpu.Span {
	b.Helper()
	buf, err := d.Alloc(4 * n)
	if err != nil {
		b.Fatal(err)
	}
	s := gpu.Span{Buffer: buf, Bytes: 4 * n}
	run(b, d, gpu.Fill, &gpu.FillParams{Value: 0.01, N: uint32(n)}, s)
	return s
}

func run(b testing.TB, d *Backend, k gpu.Kernel, params any, args ...gpu.Span) {
	if err := d.Launch(gpu.Launch{Kernel: k, DType: gpu.Float32, Params: params, Args: args}); err != nil {
		b.Fatal(err)
	}
}

func wait(b testing.TB, d *Backend) {
	b.Helper()
	if err := d.Sync(); err != nil {
		b.Fatal(err)
	}
}

// perLaunch times f, which launches something, and reports the time of one.
func perLaunch(b *testing.B, d *Backend, f func()) time.Duration {
	b.Helper()
	f()
	wait(b, d)
	b.ResetTimer()
	for range b.N {
		f()
	}
	wait(b, d)
	b.StopTimer() // closing a device takes 30 ms
	return b.Elapsed() / time.Duration(b.N)
}

func BenchmarkGemm(b *testing.B) {
	for _, n := range []uint32{512, 1024, 2048, 4096} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := device(b)
			defer d.Close()
			if d.limits.Processor && n > 512 {
				b.Skip("too large for a software device")
			}
			x, y, z := span(b, d, int64(n)*int64(n)), span(b, d, int64(n)*int64(n)), span(b, d, int64(n)*int64(n))
			p := &gpu.GemmParams{Alpha: 1, M: n, N: n, K: n, LDA: n, LDB: n, LDC: n, Batch: 1}
			t := perLaunch(b, d, func() { run(b, d, gpu.Gemm, p, x, y, z) })
			b.ReportMetric(2*float64(n)*float64(n)*float64(n)/t.Seconds()/1e12, "TFLOP/s")
		})
	}
}

// Products as the layers of small networks have them: forward, the gradient of
// weights and biases, the same by a product and a sum of rows.
func BenchmarkLayer(b *testing.B) {
	for _, s := range [][3]uint32{{128, 784, 256}, {128, 256, 256}, {128, 256, 10}, {256, 784, 128}, {1024, 784, 2048}, {1024, 2048, 2048}, {4096, 1024, 1024}, {4096, 64, 64}} {
		rows, in, out := s[0], s[1], s[2]
		d := device(b)
		if d.limits.Processor && rows > 256 {
			d.Close()
			continue
		}
		x, w, bias := span(b, d, int64(rows)*int64(in)), span(b, d, int64(in)*int64(out)), span(b, d, int64(out))
		y, dw, db := span(b, d, int64(rows)*int64(out)), span(b, d, int64(in)*int64(out)), span(b, d, int64(out))
		name := fmt.Sprintf("%dx%dx%d/", rows, in, out)
		b.Run(name+"linear", func(b *testing.B) {
			perLaunch(b, d, func() {
				run(b, d, gpu.Linear, &gpu.LinearParams{Act: gpu.ReLU, Rows: rows, In: in, Out: out}, x, w, bias, y)
			})
		})
		b.Run(name+"linear_param_bwd", func(b *testing.B) {
			perLaunch(b, d, func() {
				run(b, d, gpu.LinearParamBwd, &gpu.LinearParamBwdParams{Rows: rows, In: in, Out: out}, y, x, dw, db)
			})
		})
		b.Run(name+"gemm+reduce", func(b *testing.B) {
			perLaunch(b, d, func() {
				run(b, d, gpu.Gemm, &gpu.GemmParams{Alpha: 1, TransA: 1, M: out, N: in, K: rows, LDA: out, LDB: in, LDC: in, Batch: 1}, y, x, dw)
				run(b, d, gpu.Reduce, &gpu.ReduceParams{Scale: 1, Outer: 1, Axis: rows, Inner: out}, y, db)
			})
		})
		d.Close()
	}
}

// The directions of a small network's convolutions of 3 by 3.
func BenchmarkConvolution(b *testing.B) {
	d := device(b)
	defer d.Close()
	if d.limits.Processor {
		b.Skip("composed on a software device")
	}
	const images = 1024
	for _, c := range []struct{ in, out, size uint32 }{{1, 32, 28}, {32, 64, 14}} {
		p := &gpu.Conv2DParams{Act: gpu.ReLU, N: images, C: c.in, H: c.size, W: c.size, O: c.out, KH: 3, KW: 3, OH: c.size, OW: c.size,
			SH: 1, SW: 1, PH: 1, PW: 1, DH: 1, DW: 1}
		for _, kernel := range []gpu.Kernel{gpu.Conv2D, gpu.Conv2DBwd, gpu.Conv2DParamBwd} {
			b.Run(fmt.Sprintf("%d images, %d to %d/%s", images, c.in, c.out, kernel), func(b *testing.B) {
				var args []gpu.Span
				elements := gpu.Elements(kernel, p)
				for i := range kernel.Info().Args {
					args = append(args, span(b, d, elements[i]))
				}
				t := perLaunch(b, d, func() { run(b, d, kernel, p, args...) })
				b.ReportMetric(2*9*float64(images)*float64(c.in*c.out)*float64(c.size*c.size)/t.Seconds()/1e12, "TFLOP/s")
				for _, a := range args {
					d.Free(a.Buffer)
				}
			})
		}
	}
}

func BenchmarkAdam(b *testing.B) {
	const n = 10_000_000
	d := device(b)
	defer d.Close()
	g, w, m, v := span(b, d, n), span(b, d, n), span(b, d, n), span(b, d, n)
	state := span(b, d, 4)
	if err := d.Upload(state, []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		b.Fatal(err)
	}
	b.Run("adam_step", func(b *testing.B) {
		t := perLaunch(b, d, func() {
			run(b, d, gpu.AdamStep, &gpu.AdamParams{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, N: n}, g, state, w, m, v)
		})
		b.ReportMetric(7*4*n/t.Seconds()/1e9, "GB/s")
	})
	b.Run("copy", func(b *testing.B) {
		t := perLaunch(b, d, func() {
			run(b, d, gpu.Copy, &gpu.CopyParams{N: n, Rank: 1, Dims: gpu.Dims{n}, X: gpu.Strides{1}}, g, w)
		})
		b.ReportMetric(2*4*n/t.Seconds()/1e9, "GB/s")
	})
}

// A batch of 1,000 small launches, each needing the one before: what recording
// one costs the processor, what running one takes, and the same replayed.
func BenchmarkLaunch(b *testing.B) {
	d := device(b)
	defer d.Close()
	x, y := span(b, d, 1024), span(b, d, 1024)
	p := &gpu.AxpbyParams{Alpha: 0.5, Beta: 0.5, N: 1024}
	l := gpu.Launch{Kernel: gpu.Axpby, DType: gpu.Float32, Params: p, Args: []gpu.Span{x, y}}
	const n = 1000
	b.Run("eager", func(b *testing.B) {
		b.ReportAllocs()
		var recording time.Duration
		t := perLaunch(b, d, func() {
			start := time.Now()
			for range n {
				if err := d.Launch(l); err != nil {
					b.Fatal(err)
				}
			}
			recording += time.Since(start)
			wait(b, d)
		})
		b.ReportMetric(float64(recording.Nanoseconds())/1e3/float64(n*(b.N+1)), "us/recording")
		b.ReportMetric(float64(t.Nanoseconds())/1e3/n, "us/launch")
	})
	b.Run("replayed", func(b *testing.B) {
		ls := make([]gpu.Launch, n)
		for i := range ls {
			ls[i] = l
		}
		r, err := d.Record(ls, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		t := perLaunch(b, d, func() {
			if err := r.Replay(nil); err != nil {
				b.Fatal(err)
			}
		})
		b.ReportMetric(float64(t.Nanoseconds())/1e3/n, "us/launch")
	})
	b.Run("alone", func(b *testing.B) {
		t := perLaunch(b, d, func() {
			run(b, d, gpu.Axpby, p, x, y)
			wait(b, d)
		})
		b.ReportMetric(float64(t.Nanoseconds())/1e3, "us/roundtrip")
	})
}
