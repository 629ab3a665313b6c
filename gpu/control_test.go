package gpu_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/gputest"
	"gradbook/gpu/host"
	"gradbook/gpu/null"
	"gradbook/gpu/trial"
)

func TestInterrupt(t *testing.T) {
	d := newDevice(t)
	x, y := fill(t, d, 2, 1), fill(t, d, 2, 1)
	d.Interrupt()
	err := add(d, x, y, 1)
	var interrupted *gpu.InterruptedError
	if !errors.As(err, &interrupted) || interrupted.Kernel != gpu.Axpby || !d.Interrupted() {
		t.Fatalf("got %v", err)
	}
	must(t, d.Shield(func() { err = add(d, x, y, 1) }))
	must(t, err)
	want(t, y, 2, 2)
	d.Resume()
	must(t, add(d, x, y, 1))
	want(t, y, 3, 3)
}

func TestShieldDoesNotBeginWithoutItsStorages(t *testing.T) {
	d := newDevice(t, limited(1<<10))
	var kept []*gpu.Storage
	for range 3 {
		kept = append(kept, fill(t, d, 64, 1))
	}
	x := d.FromHost(make([]byte, 512), "batch", gpu.Data)
	begun := false
	err := d.Shield(func() { begun = true }, kept[0], x)
	if !errors.Is(err, gpu.ErrOutOfMemory) || begun {
		t.Errorf("begun: %t, error: %v", begun, err)
	}
	runtime.KeepAlive(kept)
}

// What a shielded step needs is not spilled by what it allocates.
func TestShieldHoldsItsStorages(t *testing.T) {
	d := newDevice(t, limited(1<<10))
	w := d.FromHost(make([]byte, 256), "w", gpu.Parameter)
	var kept []*gpu.Storage
	must(t, d.Shield(func() {
		for range 3 {
			kept = append(kept, fill(t, d, 64, 1))
		}
		s := d.NewStorage(256, "fill", gpu.Temporary)
		if err := d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{N: 64}, s.All()); !errors.Is(err, gpu.ErrOutOfMemory) {
			t.Errorf("a fifth storage of a quarter of the memory: %v", err)
		}
		if w.Residency() != gpu.Both {
			t.Errorf("w is %s inside", w.Residency())
		}
	}, w))
	fill(t, d, 64, 1)
	if w.Residency() != gpu.OnHost {
		t.Errorf("w is %s afterwards", w.Residency())
	}
	runtime.KeepAlive(kept)
}

// A composition that fails halfway leaves what it was to write as it was,
// whether the host has a copy or not.
func TestCompositionsUndo(t *testing.T) {
	for _, copies := range []func(w, v *gpu.Storage) *gpu.Storage{
		func(w, v *gpu.Storage) *gpu.Storage { return w },
		func(w, v *gpu.Storage) *gpu.Storage { return v },
	} {
		f := trial.Faulty(unfused{host.New()})
		d := newDevice(t, func(gpu.Backend) gpu.Backend { return f })
		g := fill(t, d, 4, 1)
		w, v := fill(t, d, 4, 10), fill(t, d, 4, 0)
		_, err := copies(w, v).Host()
		must(t, err)
		for n := 1; ; n++ {
			f.Fail(trial.Launch, n, false)
			err := d.Run(gpu.SGDStep, gpu.Float32, &gpu.SGDParams{LR: 1, Momentum: 0.5, N: 4}, g.All(), w.All(), v.All())
			if err == nil {
				if n < 6 {
					t.Errorf("only %d launches", n-1)
				}
				break
			}
			want(t, w, 10, 10, 10, 10)
			want(t, v, 0, 0, 0, 0)
			checkBooks(t, d)
		}
		f.Heal()
		want(t, w, 9, 9, 9, 9)
		want(t, v, 1, 1, 1, 1)
		if c := d.Counters(); c.Declines != 1 || c.Launches[gpu.SGDStep] != 0 {
			t.Errorf("%d compositions, %d launches of sgd_step", c.Declines, c.Launches[gpu.SGDStep])
		}
	}
}

type unfused struct{ gpu.Backend }

func (u unfused) Launch(l gpu.Launch) error {
	if l.Kernel.Info().Tier == gpu.Fused {
		return gpu.ErrDeclined
	}
	return u.Backend.Launch(l)
}

func TestFallback(t *testing.T) {
	d := gpu.New(gputest.Strict(null.New()))
	defer d.Close()
	x, y := d.FromHost(floats(1, 2), "x", gpu.Data), d.NewStorage(8, "y", gpu.Temporary)
	err := square(d, x, y)
	var unsupported *gpu.UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Kernel != gpu.Unary || unsupported.Backend != "null" {
		t.Fatalf("a strict device says %v", err)
	}
	softmax := func() error {
		return d.Run(gpu.Softmax, gpu.Float32, &gpu.SoftmaxParams{Rows: 2, Cols: 1}, x.All(), y.All())
	}
	if err := softmax(); !errors.As(err, &unsupported) || unsupported.Kernel != gpu.Reduce {
		t.Fatalf("a strict device says %v", err)
	}
	b := host.New()
	d.AllowFallback(b)
	must(t, square(d, x, y))
	want(t, y, 1, 4)
	if c := d.Counters(); c.Fallbacks != 1 || c.TotalLaunches() != 0 {
		t.Errorf("%d fallbacks, %d launches", c.Fallbacks, c.TotalLaunches())
	}
	must(t, softmax())
	want(t, y, 1, 1)
	if held := b.Stats().BytesHeld; held != 0 {
		t.Errorf("the fallback holds %d bytes", held)
	}
	d.AllowFallback(nil)
	if err := softmax(); err == nil {
		t.Error("a device made strict again falls back")
	}
	checkBooks(t, d)
}

// Cells may start goroutines: each has its own storages, all share the device.
func TestGoroutines(t *testing.T) {
	d := newDevice(t, limited(64<<10))
	d.SetCollectBudget(8 << 10)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			sum := d.FromHost(floats(0, 0), "sum", gpu.Data)
			for i := range 100 {
				s := d.FromHost(floats(float32(g), 1), "data", gpu.Data)
				if err := add(d, s, sum, 1); err != nil {
					t.Error(err)
					return
				}
				switch i % 10 {
				case 0:
					s.Free()
				case 1:
					d.Snapshot()
				case 2:
					s.SetName("x")
				case 3:
					if _, err := sum.Host(); err != nil {
						t.Error(err)
					}
				case 4:
					d.Collect()
				}
			}
			want(t, sum, float32(100*g), 100)
		})
	}
	wg.Wait()
}
