package autograd

import (
	"math"
	"testing"

	"gradbook/gpu"
	_ "gradbook/gpu/cuda"
	"gradbook/gpu/host"
	"gradbook/gpu/null"
	_ "gradbook/gpu/vulkan"
	"gradbook/tensor"
)

// onDevice makes dev the default while a test runs.
func onDevice(t *testing.T, dev *gpu.Device) {
	old := gpu.SetDefault(dev)
	t.Cleanup(func() {
		gpu.SetDefault(old)
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
}

// opened are the devices besides the host that gradients are checked on: one
// that has no fused kernel, and those of the other backends.
func opened(t *testing.T, name string) *gpu.Device {
	if name == "compositions" {
		dev := gpu.New(null.New())
		dev.AllowFallback(host.New())
		return dev
	}
	dev, err := gpu.Open(name)
	if err != nil {
		t.Skipf("no %s: %v", name, err)
	}
	if !dev.Info().Float64 {
		dev.Close()
		t.Skipf("%s has no float64", dev.Info().Name)
	}
	return dev
}

func TestGradientsOnOtherDevices(t *testing.T) {
	for _, name := range []string{"compositions", "vulkan", "cuda"} {
		t.Run(name, func(t *testing.T) {
			onDevice(t, opened(t, name))
			tensor.Seed(3)
			for _, c := range checks() {
				if err := GradCheck(c.f, c.in...); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			}
		})
	}
}

// Float32 gradients on other devices are those of the host, up to rounding.
func TestFloat32GradientsOnOtherDevices(t *testing.T) {
	grads := func() (all [][]float64) {
		tensor.Seed(3)
		for _, c := range checks() {
			vars := make([]*Var, len(c.in))
			for i, x := range c.in {
				// Numbers drawn on the device differ from device to device.
				v := make([]float64, x.Len())
				for k := range v {
					v[k] = 0.3 + math.Mod(float64(k*k+3*k+i)*0.37, 1.4)
				}
				vars[i] = Leaf(tensor.New(v).Reshape(x.Shape()...))
			}
			y := c.f(vars)
			all = append(all, y.Float64s())
			y.Sum().Backward()
			for _, v := range vars {
				if v.Grad != nil {
					all = append(all, v.Grad.Float64s())
				}
			}
		}
		return all
	}
	want := grads()
	for _, name := range []string{"compositions", "vulkan", "cuda"} {
		t.Run(name, func(t *testing.T) {
			onDevice(t, opened(t, name))
			got := grads()
			if len(got) != len(want) {
				t.Fatalf("%d results and gradients, want %d", len(got), len(want))
			}
			for i := range want {
				for k := range want[i] {
					if d := math.Abs(got[i][k] - want[i][k]); !(d <= 2e-4*(1+math.Abs(want[i][k]))) {
						t.Fatalf("result %d, element %d: %g, on the host %g", i, k, got[i][k], want[i][k])
					}
				}
			}
		})
	}
}
