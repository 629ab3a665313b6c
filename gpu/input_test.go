package gpu_test

import (
	"errors"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/host"
	"gradbook/gpu/trial"
)

// pair is a step with two inputs, and its result: sum += a + 10*b.
type pair struct {
	d         *gpu.Device
	a, b, sum *gpu.Storage
	rec       *gpu.Recorded
}

func newPair(t *testing.T, d *gpu.Device) *pair {
	t.Helper()
	p := &pair{d: d, a: d.NewStorage(8, "a", gpu.Data), b: d.NewStorage(8, "b", gpu.Data), sum: fill(t, d, 2, 0)}
	var err error
	p.rec, err = d.Record(func() error {
		return errors.Join(add(d, p.a, p.sum, 1), add(d, p.b, p.sum, 10))
	}, gpu.Input{To: p.a, From: fill(t, d, 2, 1).All()}, gpu.Input{To: p.b, From: fill(t, d, 2, 2).All()})
	must(t, err)
	want(t, p.sum, 21, 21)
	return p
}

func TestInputs(t *testing.T) {
	d := newDevice(t)
	p := newPair(t, d)
	set := fill(t, d, 4, 3)
	must(t, p.rec.Replay(gpu.View{Storage: set, Offset: 8, Bytes: 8}, gpu.View{}))
	want(t, p.sum, 44, 44)
	want(t, p.a, 3, 3)
	must(t, p.rec.Replay())
	want(t, p.sum, 67, 67)
	// Each becomes what the other was.
	must(t, p.rec.Replay(p.b.All(), p.a.All()))
	want(t, p.a, 2, 2)
	want(t, p.b, 3, 3)
	want(t, p.sum, 99, 99)
	// The result of the step before.
	must(t, p.rec.Replay(p.sum.All(), gpu.View{}))
	want(t, p.a, 99, 99)
	want(t, p.sum, 228, 228)
	checkBooks(t, d)
	p.rec.Close()
}

// A copy is left out only where nobody has written to either side since.
func TestInputsThatLieThere(t *testing.T) {
	d := newDevice(t)
	p := newPair(t, d)
	x := fill(t, d, 2, 5)
	step := func(copies int64) {
		t.Helper()
		before := d.Counters()
		must(t, p.rec.Replay(x.All(), gpu.View{}))
		if n := d.Counters().Sub(before).Launches[gpu.Copy]; n != copies {
			t.Errorf("%d copies, want %d", n, copies)
		}
		want(t, p.a, read(t, x)...)
	}
	step(1)
	step(0)
	must(t, d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{Value: 6, N: 2}, x.All()))
	step(1)
	must(t, d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{Value: 0, N: 2}, p.a.All()))
	step(1)
	must(t, p.a.Write(floats(0, 0)))
	step(1)
	must(t, x.Write(floats(7, 8)))
	step(0) // goes up
	_, err := p.a.Host()
	must(t, err)
	step(0)

	// A recording that changes its input in place.
	y, sum := d.NewStorage(8, "y", gpu.Data), fill(t, d, 2, 0)
	rec, err := d.Record(func() error {
		return errors.Join(add(d, y, sum, 1), d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{Value: 0, N: 2}, y.All()))
	}, gpu.Input{To: y, From: p.sum.All()})
	must(t, err)
	one := fill(t, d, 2, 1)
	for range 3 {
		must(t, sum.Write(floats(0, 0)))
		must(t, rec.Replay(one.All()))
		want(t, sum, 1, 1)
	}
}

func TestInputsRefused(t *testing.T) {
	d, other := newDevice(t), newDevice(t)
	p := newPair(t, d)
	gone := fill(t, d, 2, 1)
	gone.Free()
	for says, content := range map[string][]gpu.View{
		"content for 1 inputs, the recording has 2": {p.sum.All()},
		"input 0: bytes 0 to 4 of a storage of 8":   {gpu.View{Storage: p.sum, Bytes: 4}, {}},
		"input 1: bytes 4 to 12 of a storage of 8":  {gpu.View{}, {Storage: p.sum, Offset: 4, Bytes: 8}},
		"storage was freed":                         {gone.All(), {}},
		"storage is on":                             {fill(t, other, 2, 1).All(), {}},
		"nothing was written to it yet":             {d.NewStorage(8, "new", gpu.Data).All(), {}},
	} {
		if err := p.rec.Replay(content...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want an error with %q", err, says)
		}
	}
	d.Interrupt()
	var interrupted *gpu.InterruptedError
	if err := p.rec.Replay(fill(t, other, 2, 1).All(), gpu.View{}); !errors.As(err, &interrupted) {
		t.Error(err)
	}
	d.Resume()
	want(t, p.a, 1, 1)
	want(t, p.sum, 21, 21)
	none := func() error { return nil }
	x := fill(t, d, 2, 1)
	for says, inputs := range map[string][]gpu.Input{
		"one storage is two inputs": {{To: p.a, From: x.All()}, {To: p.a, From: x.All()}},
		"nothing to fill it from":   {{To: p.a}},
		"storage was freed":         {{To: gone, From: x.All()}},
	} {
		if _, err := d.Record(none, inputs...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want an error with %q", err, says)
		}
	}
	p.a.Free()
	if err := p.rec.Replay(x.All(), gpu.View{}); !errors.Is(err, gpu.ErrFreed) {
		t.Error(err)
	}
}

// A copy that fails ends a replay before its first launch; the next one copies.
func TestInputsFail(t *testing.T) {
	f := trial.Faulty(host.New())
	d := newDevice(t, func(gpu.Backend) gpu.Backend { return f })
	p := newPair(t, d)
	x, y := fill(t, d, 2, 3), fill(t, d, 2, 4)
	for n, a := range map[int]float32{1: 1, 2: 3} {
		must(t, p.sum.Write(floats(0, 0)))
		must(t, p.rec.Replay(fill(t, d, 2, 1).All(), fill(t, d, 2, 2).All()))
		f.Fail(trial.Launch, n, false)
		if err := p.rec.Replay(x.All(), y.All()); !errors.Is(err, trial.ErrInjected) {
			t.Errorf("copy %d: %v", n, err)
		}
		want(t, p.a, a, a)
		want(t, p.sum, 21, 21)
		must(t, p.rec.Replay(x.All(), y.All()))
		want(t, p.sum, 64, 64)
		checkBooks(t, d)
	}
	f.Fail(trial.Launch, 1, true)
	if err := p.rec.Replay(p.sum.All(), gpu.View{}); !errors.Is(err, trial.ErrInjected) {
		t.Error("copied aside:", err)
	}
	f.Heal()
	checkBooks(t, d)
}
