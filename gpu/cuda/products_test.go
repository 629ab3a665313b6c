//go:build cuda && linux && amd64

package cuda

import (
	"testing"

	"gradbook/gpu"
)

// Which products are the kernels' own, in float32: what was measured in
// docs/cuda.md.
func TestSmallProducts(t *testing.T) {
	for _, c := range []struct {
		k            gpu.Kernel
		m, n, sum, b uint32
		small        bool
	}{
		{gpu.Linear, 128, 256, 784, 1, true},
		{gpu.Linear, 128, 512, 1024, 1, true},
		{gpu.Linear, 512, 256, 256, 1, true},
		{gpu.Linear, 1024, 256, 256, 1, false},
		{gpu.Linear, 4096, 64, 64, 1, false},
		{gpu.Linear, 512, 512, 512, 1, false},
		{gpu.Linear, 128, 10, 256, 1, true},
		{gpu.Linear, 1024, 10, 2048, 1, false},
		{gpu.LinearParamBwd, 256, 784, 128, 1, true},
		{gpu.LinearParamBwd, 512, 1024, 128, 1, true},
		{gpu.LinearParamBwd, 64, 64, 4096, 1, true},
		{gpu.LinearParamBwd, 512, 512, 512, 1, false},
		{gpu.LinearParamBwd, 10, 2048, 1024, 1, false},
		{gpu.Gemm, 128, 784, 256, 1, true},
		{gpu.Gemm, 256, 784, 128, 1, false},
		{gpu.Gemm, 1024, 2048, 10, 1, false},
		{gpu.Gemm, 64, 784, 9, 100, true}, // a convolution's
	} {
		g := gemm{GemmParams: gpu.GemmParams{M: c.m, N: c.n, K: c.sum, Batch: c.b}}
		if got := g.small(c.k); got != c.small {
			t.Errorf("%s %dx%dx%d: small is %v", c.k, c.m, c.n, c.sum, got)
		}
	}
}
