package hardware

import (
	"fmt"
	"testing"

	"gradbook/gpu"
)

// products are the ways to compute a layer's products: cuBLASLt with bias and
// activation in the product, cuBLAS with a launch after it, the kernels' own.
var products = []struct{ name, cublas, lt string }{
	{"cublaslt", "1", ""},
	{"cublas", "1", "0"},
	{"kernels", "0", ""},
}

// BenchmarkLayer is what a layer does in training, by shape: linear with ReLU,
// linear_param_bwd, and the gradient of x. It is what the line between cuBLAS and
// the kernels' own products is drawn by.
func BenchmarkLayer(b *testing.B) {
	var backends []gpu.Backend
	for _, p := range products {
		b.Setenv("GRADBOOK_CUBLAS", p.cublas)
		b.Setenv("GRADBOOK_CUBLASLT", p.lt)
		backends = append(backends, open(b))
	}
	for _, l := range [][3]uint32{
		{128, 784, 256}, {128, 256, 256}, {128, 256, 10}, {256, 784, 128}, {256, 128, 10}, {256, 256, 256}, {256, 784, 256},
		{512, 256, 256}, {128, 1024, 512}, {512, 784, 256}, {512, 512, 512}, {1024, 256, 256}, {1024, 784, 512}, {1024, 1024, 1024},
		{4096, 64, 64}, {4096, 256, 256}, {1024, 784, 2048}, {1024, 2048, 2048}, {1024, 2048, 10}, {4096, 4096, 4096},
	} {
		rows, in, out := l[0], l[1], l[2]
		for _, c := range []struct {
			name  string
			k     gpu.Kernel
			p     any
			sizes []uint32
		}{
			{"linear", gpu.Linear, &gpu.LinearParams{Act: gpu.ReLU, Rows: rows, In: in, Out: out}, []uint32{rows * in, in * out, out, rows * out}},
			{"param_bwd", gpu.LinearParamBwd, &gpu.LinearParamBwdParams{Rows: rows, In: in, Out: out}, []uint32{rows * out, rows * in, in * out, out}},
			{"gemm", gpu.Gemm, &gpu.GemmParams{Alpha: 1, M: rows, N: in, K: out, LDA: out, LDB: in, LDC: in, Batch: 1}, []uint32{rows * out, in * out, rows * in}},
		} {
			for _, t := range []gpu.DType{gpu.Float32, gpu.Float64} {
				for i, be := range backends {
					b.Run(fmt.Sprintf("%s %s %dx%dx%d/%s", t, c.name, rows, in, out, products[i].name), func(b *testing.B) {
						l := gpu.Launch{Kernel: c.k, DType: t, Params: c.p}
						for _, n := range c.sizes {
							a := random(b, be, t, n)
							defer be.Free(a.Buffer)
							l.Args = append(l.Args, a)
						}
						inRow(b, be, l, 20)
					})
				}
			}
		}
	}
}

// inRow times a launch recorded a number of times in a row, so that the host's cost is not
// measured: seconds each.
func inRow(b *testing.B, be gpu.Backend, l gpu.Launch, times int) float64 {
	b.Helper()
	list := make([]gpu.Launch, times)
	for i := range list {
		list[i] = l
	}
	r, err := be.Record(list, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	repeat(b, be.Sync, func() error { return r.Replay(nil) })
	each := b.Elapsed().Seconds() / float64(b.N*times)
	b.ReportMetric(each*1e9, "ns/op")
	return each
}
