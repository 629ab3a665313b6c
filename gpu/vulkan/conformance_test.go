package vulkan

import (
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/gputest"
)

// device opens the first device, or skips where there is none.
func device(t testing.TB) *Backend {
	t.Helper()
	if _, err := Devices(); err != nil {
		t.Skip("no Vulkan device to test on: ", err)
	}
	b, err := openBackend(0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	gputest.Run(t, func() gpu.Backend { return device(t) })
}

// A software device takes products without shared memory; the tiles that GPUs
// take must be right as well.
func TestConformanceOfGPUPlans(t *testing.T) {
	gputest.RunKernels(t, func() gpu.Backend {
		b := device(t)
		b.limits.Processor = false
		return b
	}, gpu.Gemm, gpu.Linear, gpu.LinearParamBwd, gpu.Conv2D, gpu.Conv2DBwd, gpu.Conv2DParamBwd)
}

// A device whose memory the host does not see is reached through staging.
func TestConformanceThroughStaging(t *testing.T) {
	gputest.RunKernels(t, func() gpu.Backend { return hidden(device(t)) }, gpu.Copy, gpu.Unary, gpu.GatherRows, gpu.Reduce, gpu.Dropout)
}

// hidden makes a device that was not used yet one whose memory the host does not
// see.
func hidden(b *Backend) *Backend {
	local := *b.local
	local.mapped, local.cached, local.blocks, local.held = false, false, nil, 0
	b.local = &local
	return b
}
