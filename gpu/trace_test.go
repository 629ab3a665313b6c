package gpu_test

import (
	"bytes"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/gputest"
	"gradbook/gpu/host"
)

// What a device does for two steps of a small model, as launches, copies and
// allocations: a change that adds one shows here.
func TestTrace(t *testing.T) {
	for name, wrap := range map[string]func(gpu.Backend) gpu.Backend{
		"fused.trace":    func(b gpu.Backend) gpu.Backend { return b },
		"composed.trace": func(b gpu.Backend) gpu.Backend { return unfused{b} },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDevice(t, wrap)
			var log bytes.Buffer
			stop := d.Observe(gpu.Trace(&log))
			w := d.FromHost(floats(1, 2, 3, 4, 5, 6), "weights", gpu.Parameter)
			b := d.FromHost(floats(0, 0), "bias", gpu.Parameter)
			v := fill(t, d, 6, 0)
			for range 2 {
				x := d.FromHost(floats(1, 0, -1, 0, 1, 0), "batch", gpu.Data)
				y := d.NewStorage(16, "linear", gpu.Activation)
				dw, db := d.NewStorage(24, "linear", gpu.Gradient), d.NewStorage(8, "linear", gpu.Gradient)
				must(t, d.Run(gpu.Linear, gpu.Float32, &gpu.LinearParams{Act: gpu.ReLU, Rows: 2, In: 3, Out: 2}, x.All(), w.All(), b.All(), y.All()))
				must(t, d.Run(gpu.LinearParamBwd, gpu.Float32, &gpu.LinearParamBwdParams{Rows: 2, In: 3, Out: 2}, y.All(), x.All(), dw.All(), db.All()))
				must(t, d.Run(gpu.SGDStep, gpu.Float32, &gpu.SGDParams{LR: 0.1, Momentum: 0.9, N: 6}, dw.All(), w.All(), v.All()))
				read(t, y)
				for _, s := range []*gpu.Storage{x, y, dw, db} {
					s.Free()
				}
			}
			d.Trim()
			stop()
			fill(t, d, 1, 0).Free() // not seen any more
			gputest.Golden(t, name, log.Bytes())
		})
	}
}

// idle launches nothing: what is left is the device's own cost.
type idle struct{ gpu.Backend }

func (idle) Launch(gpu.Launch) error { return nil }

func BenchmarkRun(b *testing.B) {
	d := gpu.New(idle{host.New()})
	x, y := fill(b, d, 4, 1), fill(b, d, 4, 1)
	p := &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 4}
	b.ReportAllocs()
	for b.Loop() {
		d.Run(gpu.Axpby, gpu.Float32, p, x.All(), y.All())
	}
}

// A storage made, written and freed, as an operation in a cell does.
func BenchmarkRunIntoNewStorage(b *testing.B) {
	d := gpu.New(idle{host.New()})
	x := fill(b, d, 4, 1)
	b.ReportAllocs()
	for b.Loop() {
		y := d.NewStorage(16, "square", gpu.Temporary)
		square(d, x, y)
		y.Free()
	}
}
