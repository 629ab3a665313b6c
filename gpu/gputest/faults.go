package gputest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/trial"
)

// census runs one case of each kernel and dtype through a device and holds the
// counters against it; other dtypes must be refused.
func (s *suite) census(t *testing.T) {
	b := s.start(t)
	d := gpu.New(b)
	seen := map[string]bool{}
	s.each(t, b.Info(), kernelsOf(gpu.Primitive, gpu.Fused), func(t *testing.T, c *testCase, dtype gpu.DType) {
		key := c.kernel.String() + dtype.String()
		if seen[key] {
			return
		}
		seen[key] = true
		before := d.Counters()
		p := prepare(c, dtype)
		got, err := p.runOn(d)
		if err != nil {
			t.Errorf("%s %s: %v", c, dtype, err)
			return
		}
		s.launches++
		s.checks += p.check(t, got)
		moved := d.Counters().Sub(before)
		switch composed := moved.Declines == 1; {
		case composed && (c.kernel.Info().Tier != gpu.Fused || moved.Launches[c.kernel] != 0):
			t.Errorf("%s %s: counted %d times and %d times as a composition", c, dtype, moved.Launches[c.kernel], moved.Declines)
		case !composed && (moved.Launches[c.kernel] != 1 || moved.TotalLaunches() != 1):
			t.Errorf("%s %s: counted %d times, %d launches in all", c, dtype, moved.Launches[c.kernel], moved.TotalLaunches())
		}
		if moved.Fallbacks != 0 {
			t.Errorf("%s %s: a strict device fell back", c, dtype)
		}
		for wrong := gpu.Float32; wrong <= gpu.Int32; wrong++ {
			known := false
			for _, u := range c.kernel.Info().DTypes {
				known = known || u == wrong
			}
			if known {
				continue
			}
			s.checks++
			q := *p
			q.launch.DType = wrong
			counted := d.Counters()
			if _, err := q.runOn(d); err == nil {
				t.Errorf("%s was not refused for %s", c.kernel, wrong)
			}
			if moved := d.Counters().Sub(counted); moved.TotalLaunches() != 0 {
				t.Errorf("%s %s: refused, but %d launches were made", c.kernel, wrong, moved.TotalLaunches())
			}
		}
	})
}

// training is a small model and the storages of its step.
type training struct {
	d                               *gpu.Device
	x, labels                       *gpu.Storage
	w, b, mw, vw, mb, vb, count     *gpu.Storage
	y, loss, lse, dloss, dy, gw, gb *gpu.Storage
	rows, in, out                   uint32
	undone                          int
}

func newTraining(d *gpu.Device) *training {
	r := rand.New(rand.NewPCG(7, 7))
	t := &training{d: d, rows: 9, in: 12, out: 5}
	host := func(n uint32, f func(i int) float64, dtype gpu.DType) *gpu.Storage {
		x := make([]float64, n)
		for i := range x {
			x[i] = f(i)
		}
		content := make([]byte, 4*n)
		encode(content, dtype, x, gpu.Typed)
		return d.FromHost(content, "training", gpu.Parameter)
	}
	noise := func(int) float64 { return r.Float64() - 0.5 }
	zero := func(int) float64 { return 0 }
	t.x = host(t.rows*t.in, noise, gpu.Float32)
	t.labels = host(t.rows, func(i int) float64 { return float64(i % 5) }, gpu.Int32)
	t.w, t.b = host(t.out*t.in, noise, gpu.Float32), host(t.out, zero, gpu.Float32)
	t.mw, t.vw = host(t.out*t.in, zero, gpu.Float32), host(t.out*t.in, zero, gpu.Float32)
	t.mb, t.vb = host(t.out, zero, gpu.Float32), host(t.out, zero, gpu.Float32)
	t.count = host(4, zero, gpu.Int32)
	t.dloss = host(1, func(int) float64 { return 1 }, gpu.Float32)
	space := func(n uint32) *gpu.Storage { return d.NewStorage(int64(4*n), "training", gpu.Temporary) }
	t.y, t.dy = space(t.rows*t.out), space(t.rows*t.out)
	t.loss, t.lse = space(t.rows), space(t.rows)
	t.gw, t.gb = space(t.out*t.in), space(t.out)
	return t
}

// gradients is the part of a step that may be given up anywhere.
func (t *training) gradients() error {
	for _, l := range []struct {
		k      gpu.Kernel
		params any
		args   []*gpu.Storage
	}{
		{gpu.Linear, &gpu.LinearParams{Rows: t.rows, In: t.in, Out: t.out, Act: gpu.Tanh}, []*gpu.Storage{t.x, t.w, t.b, t.y}},
		{gpu.Xent, &gpu.XentParams{Rows: t.rows, Cols: t.out}, []*gpu.Storage{t.y, t.labels, t.loss, t.lse}},
		{gpu.XentBwd, &gpu.XentBwdParams{Scale: 1 / float64(t.rows), Rows: t.rows, Cols: t.out}, []*gpu.Storage{t.y, t.labels, t.lse, t.dloss, t.dy}},
		{gpu.LinearParamBwd, &gpu.LinearParamBwdParams{Rows: t.rows, In: t.in, Out: t.out}, []*gpu.Storage{t.dy, t.x, t.gw, t.gb}},
	} {
		if err := t.run(l.k, l.params, l.args...); err != nil {
			return err
		}
	}
	return nil
}

func (t *training) run(k gpu.Kernel, params any, args ...*gpu.Storage) error {
	var views []gpu.View
	for _, a := range args {
		views = append(views, a.All())
	}
	return t.d.Run(k, dtypeOf(k), params, views...)
}

// update is the optimizer step. What a single launch refused it takes when
// asked again: a launch that fails has done nothing.
func (t *training) update() (failed error) {
	err := t.d.Shield(func() {
		again := func(k gpu.Kernel, params any, args ...*gpu.Storage) {
			for range 2 {
				err := t.run(k, params, args...)
				if err == nil {
					return
				}
				failed = err
			}
			t.undone++
		}
		adam := func(g, w, m, v *gpu.Storage, n uint32) {
			again(gpu.AdamStep, &gpu.AdamParams{LR: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, N: n}, g, t.count, w, m, v)
		}
		again(gpu.Count, &gpu.CountParams{Add: 1}, t.count)
		adam(t.gw, t.w, t.mw, t.vw, t.out*t.in)
		adam(t.gb, t.b, t.mb, t.vb, t.out)
	}, t.count, t.gw, t.w, t.mw, t.vw, t.gb, t.b, t.mb, t.vb)
	return errors.Join(err, failed)
}

func (t *training) steps() (int64, error) {
	content := make([]byte, 16)
	if err := t.count.Read(content, 0); err != nil {
		return 0, err
	}
	return int64(decode(content, gpu.Int32, gpu.State)[0]), nil
}

func (t *training) bits() ([]byte, error) {
	var all []byte
	for _, s := range []*gpu.Storage{t.w, t.b, t.mw, t.vw, t.mb, t.vb, t.count} {
		content := make([]byte, s.Bytes())
		if err := s.Read(content, 0); err != nil {
			return nil, err
		}
		all = append(all, content...)
	}
	return all, nil
}

// faulted trains for three steps while the n-th call of a kind fails once, and
// the next cell goes on from where the fault left things: the result must have
// the bits of a run without faults.
func (s *suite) faulted(t *testing.T) {
	const steps = 3
	backend := lent{s.start(t)}
	train := func(t *testing.T, wrap func(gpu.Backend) gpu.Backend, call trial.Call, n int) (bits []byte, hit bool) {
		f := trial.Faulty(wrap(backend))
		d := gpu.New(Strict(f))
		defer func() {
			if err := d.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		m := newTraining(d)
		if n > 0 {
			f.Fail(call, n, false)
		}
		for cell := 0; ; cell++ {
			if cell > 2*steps+2 {
				t.Fatalf("%s %d: one fault, but %d cells failed", call, n, cell)
			}
			done, err := m.steps()
			if err == nil && done == steps {
				break
			}
			if err == nil {
				err = m.gradients()
			}
			if err == nil {
				err = m.update()
			}
			if err != nil && !errors.Is(err, trial.ErrInjected) {
				t.Fatalf("%s %d: %v", call, n, err)
			}
			hit = hit || err != nil
			snapshot := d.Snapshot()
			s.checks++
			if snapshot.Held != snapshot.Backend.BytesHeld {
				t.Errorf("%s %d: books hold %d bytes, the backend %d", call, n, snapshot.Held, snapshot.Backend.BytesHeld)
			}
		}
		if m.undone > 0 {
			t.Errorf("%s %d: a launch failed twice", call, n)
		}
		bits, err := m.bits()
		if err != nil && errors.Is(err, trial.ErrInjected) {
			hit = true
			bits, err = m.bits()
		}
		if err != nil {
			t.Fatal(err)
		}
		return bits, hit
	}
	for name, wrap := range forms {
		t.Run(name, func(t *testing.T) {
			want, _ := train(t, wrap, 0, 0)
			for call := range trial.NumCalls {
				for n := 1; ; n++ {
					got, hit := train(t, wrap, call, n)
					if !hit {
						if n == 1 {
							t.Errorf("no %s was made to fail", call)
						}
						break
					}
					s.checks++
					s.faults++
					if !bytes.Equal(got, want) {
						t.Errorf("%s %d failed once: the model has other bits than without", call, n)
					}
				}
			}
		})
	}
}
