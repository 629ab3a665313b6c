package nn_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"gradbook/autograd"
	"gradbook/autograd/data"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/gpu"
	"gradbook/gpu/host"
	"gradbook/tensor"
)

// cell is what a training cell does, run after run: new model, new optimizer,
// an epoch, a test.
func cell(dev *gpu.Device, rows *data.Dataset) {
	on := nn.On(dev)
	model := nn.Sequential(on.Conv2D(1, 2, 3, 1, 1), nn.GELU(), nn.MaxPool2D(2), nn.Flatten(),
		on.LayerNorm(8), on.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), on.Linear(16, 2))
	opt := optim.AdamW(model.Params(), 1e-2, optim.WithSchedule(optim.Warmup(2, nil)))
	for epoch := range 2 {
		for _, b := range rows.Shuffled(epoch).Batches(8) {
			logits := model.Forward(b.X)
			nn.CrossEntropy(logits, b.Y).Backward()
			optim.ClipGradNorm(model.Params(), 1)
			opt.Step()
		}
	}
	nn.Accuracy(model, rows)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Two hundred runs of a training cell leave nothing behind, on the device or
// in Go's heap.
func TestMemoryOf200Runs(t *testing.T) {
	dev := gpu.New(host.New())
	on := tensor.On(dev)
	rows := data.New(on.Randn(20, 1, 4, 4), on.FromInts([]int{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}))
	measure := func() (inUse, held, heapBytes int64) {
		h := heap()
		dev.Collect()
		dev.Trim()
		s := dev.Snapshot()
		return s.InUse, s.Held, h
	}
	cell(dev, rows)
	cell(dev, rows)
	inUse, held, before := measure()
	for range 198 {
		cell(dev, rows)
		dev.Collect() // as a session does when a cell ends
	}
	inUse2, held2, after := measure()
	runtime.KeepAlive(rows)
	if inUse2 != inUse || held2 != held {
		t.Errorf("%d bytes in use and %d held after 2 runs, %d and %d after 200", inUse, held, inUse2, held2)
	}
	if grown := after - before; grown > 64<<10 {
		t.Errorf("Go's heap grew by %d bytes", grown)
	}
}

// A step leaves its result and the loss to the collector, and nothing else;
// and a run without a tape only its result.
func TestWhatAStepLeaves(t *testing.T) {
	dev := gpu.New(host.New())
	x, y := synthetic(dev, 8, 1, 8, 8)
	on := nn.On(dev)
	model := nn.Sequential(on.Conv2D(1, 2, 3, 1, 1), nn.GELU(), nn.MaxPool2D(2), nn.Flatten(),
		on.LayerNorm(32), on.Linear(32, 16), nn.ReLU(), nn.Dropout(0.2), on.Linear(16, 10))
	opt := optim.Adam(model.Params(), 1e-2)
	train := func() {
		nn.CrossEntropy(model.Forward(x), y).Backward()
		opt.Step()
	}
	infer := func() { autograd.NoGrad(func() { model.Forward(x) }) }
	train()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for name, c := range map[string]struct {
		f    func()
		want int
	}{"training": {train, 2}, "inference": {infer, 1}} {
		dev.Collect()
		before := len(dev.Snapshot().Rows)
		for range 10 {
			c.f()
		}
		if left := len(dev.Snapshot().Rows) - before; left != 10*c.want {
			t.Errorf("%s: ten steps left %d storages", name, left)
			for _, r := range dev.Snapshot().Rows[before:] {
				t.Log(r.Owner, r.Bytes)
			}
		}
	}
}

// Goroutines train models of their own on one device, and each comes to the
// bits that it would have come to alone.
func TestGoroutines(t *testing.T) {
	dev := gpu.New(host.New())
	x, y := synthetic(dev, 8, 12)
	build := func() *nn.Model {
		if err := dev.Seed(3); err != nil {
			t.Fatal(err)
		}
		return mlp(nn.On(dev), []int{12, 16, 10}, nn.Tanh)
	}
	train := func(m *nn.Model) (bits []float64) {
		opt := optim.Adam(m.Params(), 1e-2)
		for range 20 {
			nn.CrossEntropy(m.Forward(x), y).Backward()
			opt.Step()
		}
		for _, p := range m.Params() {
			bits = append(bits, p.Float64s()...)
		}
		return bits
	}
	want := train(build())
	results := make(chan []float64)
	for range 4 {
		m := build()
		go func() { results <- train(m) }()
	}
	for range 4 {
		if got := <-results; !slices.Equal(got, want) {
			t.Error("goroutines disturb each other")
		}
	}
}
