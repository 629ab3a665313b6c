package hardware

import (
	"fmt"
	"testing"
	"time"

	"gradbook/gpu"
)

// repeat times do, called b.N times and waited for at the end.
func repeat(b *testing.B, sync func() error, do func() error) {
	b.Helper()
	for range 3 {
		if err := do(); err != nil {
			b.Fatal(err)
		}
	}
	if err := sync(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		if err := do(); err != nil {
			b.Fatal(err)
		}
	}
	if err := sync(); err != nil {
		b.Fatal(err)
	}
}

// burst times the host's share of do: the device is waited for between bursts,
// which are short enough not to fill its queue.
func burst(b *testing.B, length int, sync func() error, do func() error) {
	b.Helper()
	var host time.Duration
	calls := 0
	repeat(b, sync, func() error {
		start := time.Now()
		for range length {
			if err := do(); err != nil {
				return err
			}
		}
		host += time.Since(start)
		calls += length
		return sync()
	})
	b.ReportMetric(float64(host.Nanoseconds())/float64(calls), "ns/op")
}

// BenchmarkLaunch is the cost of one small launch among many: what the host
// spends, and what a launch takes on the device in a recording.
func BenchmarkLaunch(b *testing.B) {
	be := open(b)
	buf, err := be.Alloc(4096)
	if err != nil {
		b.Fatal(err)
	}
	l := gpu.Launch{Kernel: gpu.Fill, DType: gpu.Float32, Params: &gpu.FillParams{Value: 1, N: 1024}, Args: []gpu.Span{{Buffer: buf, Bytes: 4096}}}
	b.Run("launched", func(b *testing.B) {
		repeat(b, be.Sync, func() error { return be.Launch(l) })
	})
	b.Run("submitted", func(b *testing.B) { burst(b, 500, be.Sync, func() error { return be.Launch(l) }) })
	b.Run("recorded", func(b *testing.B) {
		inRow(b, be, l, 1000)
	})
}

// BenchmarkStep trains a perceptron: launch by launch, and recorded.
func BenchmarkStep(b *testing.B) {
	for _, shape := range []struct {
		rows  uint32
		sizes []uint32
	}{
		{128, []uint32{784, 256, 256, 10}},
		{256, []uint32{784, 128, 10}},
		{1024, []uint32{784, 2048, 2048, 10}},
		{4096, []uint32{4096, 4096, 4096, 4096}},
	} {
		name := fmt.Sprintf("%v b%d", shape.sizes, shape.rows)
		for _, setting := range []string{"chosen", "cublas", "kernels"} {
			b.Run(name+"/"+setting, func(b *testing.B) {
				b.Setenv("GRADBOOK_CUBLAS", blas[setting])
				be := open(b)
				n := network(b, be, gpu.Float32, shape.rows, shape.sizes...)
				b.Run("eager", func(b *testing.B) { repeat(b, be.Sync, n.Step) })
				r, err := be.Record(n.Launches, nil)
				if err != nil {
					b.Fatal(err)
				}
				defer r.Close()
				b.Run("recorded", func(b *testing.B) { repeat(b, be.Sync, func() error { return r.Replay(nil) }) })
			})
		}
	}
}

// BenchmarkGemm is square products and those of layers: x*w' (forward), dy*w
// (the gradient of x) and dy'*x (the gradient of w).
func BenchmarkGemm(b *testing.B) {
	type shape struct {
		trans   string
		m, n, k uint32
	}
	var shapes []shape
	for _, n := range []uint32{64, 128, 256, 512, 1024, 2048, 4096} {
		shapes = append(shapes, shape{"nn", n, n, n})
	}
	for _, l := range [][3]uint32{{128, 784, 256}, {128, 256, 256}, {128, 256, 10}, {256, 784, 128}, {1024, 784, 512}, {256, 1024, 1024}, {1024, 1024, 1024}, {1024, 784, 2048}, {1024, 2048, 2048}, {1024, 2048, 10}} {
		rows, in, out := l[0], l[1], l[2]
		shapes = append(shapes, shape{"nt", rows, out, in}, shape{"nn", rows, in, out}, shape{"tn", out, in, rows})
	}
	settings := []string{"cublas", "kernels"}
	var backends []gpu.Backend
	for _, setting := range settings {
		b.Setenv("GRADBOOK_CUBLAS", blas[setting])
		backends = append(backends, open(b))
	}
	for _, t := range []gpu.DType{gpu.Float32, gpu.Float64} {
		for _, s := range shapes {
			for i, be := range backends {
				b.Run(fmt.Sprintf("%s %s %dx%dx%d/%s", t, s.trans, s.m, s.n, s.k, settings[i]), func(b *testing.B) {
					p := &gpu.GemmParams{Alpha: 1, M: s.m, N: s.n, K: s.k, LDA: s.k, LDB: s.n, LDC: s.n, Batch: 1}
					if s.trans[0] == 't' {
						p.TransA, p.LDA = 1, s.m
					}
					if s.trans[1] == 't' {
						p.TransB, p.LDB = 1, s.k
					}
					l := gpu.Launch{Kernel: gpu.Gemm, DType: t, Params: p}
					for _, count := range []uint32{s.m * s.k, s.k * s.n, s.m * s.n} {
						a := random(b, be, t, count)
						defer be.Free(a.Buffer)
						l.Args = append(l.Args, a)
					}
					each := inRow(b, be, l, 20)
					b.ReportMetric(2*float64(s.m)*float64(s.n)*float64(s.k)/each/1e12, "TFLOP/s")
				})
			}
		}
	}
}

// random is a buffer of numbers drawn on the device: nothing is measured on
// zeros, which cost less.
func random(b testing.TB, be gpu.Backend, t gpu.DType, count uint32) gpu.Span {
	b.Helper()
	state, err := be.Alloc(16)
	if err != nil {
		b.Fatal(err)
	}
	defer be.Free(state)
	seed := gpu.Span{Buffer: state, Bytes: 16}
	if err := be.Upload(seed, []byte("0123456789abcdef")); err != nil {
		b.Fatal(err)
	}
	bytes := int64(count) * t.Size()
	buf, err := be.Alloc(bytes)
	if err != nil {
		b.Fatal(err)
	}
	s := gpu.Span{Buffer: buf, Bytes: bytes}
	l := gpu.Launch{Kernel: gpu.Random, DType: t, Params: &gpu.RandomParams{A: -1, B: 1, Dist: gpu.Uniform, N: count}, Args: []gpu.Span{seed, s}}
	if err := be.Launch(l); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkAdam updates 134 million parameters; it reads g, w, m, v and writes
// w, m, v. The copy beside it is the device's memory's measure.
func BenchmarkAdam(b *testing.B) {
	const n = 1 << 27
	be := open(b)
	var args []gpu.Span
	for range 4 {
		args = append(args, random(b, be, gpu.Float32, n))
	}
	state, err := be.Alloc(16)
	if err != nil {
		b.Fatal(err)
	}
	s := gpu.Span{Buffer: state, Bytes: 16}
	if err := be.Upload(s, []byte{1, 15: 0}); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		launch gpu.Launch
		bytes  float64
	}{
		{"copy", gpu.Launch{Kernel: gpu.Copy, DType: gpu.Float32, Params: &gpu.CopyParams{N: n, Rank: 1, Dims: gpu.Dims{n}, X: gpu.Strides{1}}, Args: args[:2]}, 2 * 4 * n},
		{"adam", gpu.Launch{Kernel: gpu.AdamStep, DType: gpu.Float32, Params: &gpu.AdamParams{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, N: n},
			Args: []gpu.Span{args[0], s, args[1], args[2], args[3]}}, 7 * 4 * n},
	} {
		b.Run(c.name, func(b *testing.B) {
			repeat(b, be.Sync, func() error { return be.Launch(c.launch) })
			b.ReportMetric(c.bytes/b.Elapsed().Seconds()*float64(b.N)/1e12, "TB/s")
		})
	}
}

// BenchmarkKernelTime is where a step's time goes, by the device's clock.
func BenchmarkKernelTime(b *testing.B) {
	b.Setenv("GRADBOOK_KERNEL_TIME", "1")
	for _, c := range models {
		b.Run(c.name, func(b *testing.B) {
			d := device(b)
			t := c.make(d)
			steps := 0
			t.step(t.x, t.y)
			before := d.Snapshot().Backend.KernelTime
			repeat(b, d.Sync, func() error { steps++; t.step(t.x, t.y); return nil })
			for k, t := range d.Snapshot().Backend.KernelTime {
				if t -= before[k]; t > 0 {
					b.ReportMetric(float64(t.Microseconds())/float64(steps), "us-"+gpu.Kernel(k).String())
				}
			}
		})
	}
}

// BenchmarkConvolution is the directions of a small network's convolutions of 3 by
// 3, recorded ten in a row.
func BenchmarkConvolution(b *testing.B) {
	be := open(b)
	for _, c := range []struct{ images, in, out, size uint32 }{{1024, 1, 32, 28}, {1024, 32, 64, 14}, {128, 1, 32, 28}, {128, 32, 64, 14}} {
		p := &gpu.Conv2DParams{Act: gpu.ReLU, N: c.images, C: c.in, H: c.size, W: c.size, O: c.out, KH: 3, KW: 3, OH: c.size, OW: c.size,
			SH: 1, SW: 1, PH: 1, PW: 1, DH: 1, DW: 1}
		for _, kernel := range []gpu.Kernel{gpu.Conv2D, gpu.Conv2DBwd, gpu.Conv2DParamBwd} {
			b.Run(fmt.Sprintf("%d images, %d to %d/%s", c.images, c.in, c.out, kernel), func(b *testing.B) {
				l := gpu.Launch{Kernel: kernel, DType: gpu.Float32, Params: p}
				elements := gpu.Elements(kernel, p)
				for i := range kernel.Info().Args {
					a := random(b, be, gpu.Float32, uint32(elements[i]))
					defer be.Free(a.Buffer)
					l.Args = append(l.Args, a)
				}
				each := inRow(b, be, l, 10)
				b.ReportMetric(2*9*float64(c.images)*float64(c.in*c.out)*float64(c.size*c.size)/each/1e12, "TFLOP/s")
			})
		}
	}
}
