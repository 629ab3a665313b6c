package host_test

import (
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/gputest"
	"gradbook/gpu/host"
)

func TestConformance(t *testing.T) { gputest.Run(t, host.New) }

// The second choice of library must do as well as the first.
func TestConformanceOfEachBLAS(t *testing.T) {
	for _, d := range gpu.Drivers() {
		infos, err := d.Devices()
		if err != nil || d.Name != "host" {
			continue
		}
		for i := range infos[1:] {
			gputest.RunKernels(t, func() gpu.Backend {
				b, err := d.Open(i + 1)
				if err != nil {
					t.Fatal(err)
				}
				return b
			}, gpu.Gemm, gpu.Linear, gpu.LinearParamBwd)
		}
	}
}

func BenchmarkHost(b *testing.B) { gputest.Bench(b, host.New) }
