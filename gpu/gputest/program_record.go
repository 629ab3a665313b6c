package gputest

import (
	"errors"

	"gradbook/gpu"
)

// replay is a recording, and the launches that mirror it.
type replay struct {
	recorded *gpu.Recorded
	launches []mirrored
}

type mirrored struct {
	kernel gpu.Kernel
	params any
	slots  []*slot
}

func (m mirrored) apply() {
	var values [][]float64
	for _, s := range m.slots {
		values = append(values, s.values)
	}
	specs[m.kernel](&gpu.Launch{Kernel: m.kernel, DType: dtypeOf(m.kernel), Params: m.params}, values)
}

// record replaces the program's recording by one of a few launches on storages
// that are there, with temporaries between them.
func (p *program) record() {
	if p.replay != nil {
		p.replay.recorded.Close()
		p.replay = nil
	}
	a := p.pick()
	b := p.other(a)
	if b == nil {
		return
	}
	n := uint32(len(a.values))
	line, one := gpu.Dims{n}, gpu.Strides{1}
	temp := func() *slot { return &slot{values: make([]float64, n), dtype: gpu.Float32} }
	t1, mask, t2 := temp(), temp(), temp()
	launches := []mirrored{
		{gpu.Dropout, &gpu.DropoutParams{P: 0.5, N: n}, []*slot{p.state, a, t1, mask}},
		{gpu.Count, &gpu.CountParams{Add: (n + 3) / 4}, []*slot{p.state}},
		{gpu.Binary, &gpu.BinaryParams{Scale: 0.5, Op: gpu.Sub, N: n, Rank: 1, Dims: line, A: one, B: one}, []*slot{t1, b, t2}},
		{gpu.Softmax, &gpu.SoftmaxParams{Rows: 1, Cols: n}, []*slot{t2, t1}},
		{gpu.Axpby, &gpu.AxpbyParams{Alpha: 0.25, Beta: 0.5, N: n}, []*slot{t1, b}},
	}
	done := 0
	p.note("record")
	recorded, err := p.d.Record(func() error {
		for _, t := range []*slot{t1, mask, t2} {
			t.s = p.d.NewStorage(int64(n)*4, "program", gpu.Temporary)
			defer t.s.Free()
		}
		for _, l := range launches {
			var views []gpu.View
			for _, s := range l.slots {
				views = append(views, s.s.All())
			}
			if err := p.d.Run(l.kernel, dtypeOf(l.kernel), l.params, views...); err != nil {
				return err
			}
			done++
		}
		return nil
	})
	if !p.excused(err) {
		p.t.Errorf("record: %v", err)
	}
	for _, l := range launches[:done] {
		l.apply()
	}
	if err == nil {
		p.replay = &replay{recorded, launches}
	}
}

// again replays.
func (p *program) again() {
	if p.replay == nil {
		return
	}
	p.note("replay")
	err := p.replay.recorded.Replay()
	var stopped *gpu.StoppedError
	switch {
	case err == nil || errors.Is(err, gpu.ErrTriedTwice):
		for _, l := range p.replay.launches {
			l.apply()
		}
	case errors.Is(err, gpu.ErrFreed): // one of its storages was forgotten
	case errors.As(err, &stopped) && p.excused(err):
		p.settle()
	case !p.excused(err):
		p.t.Errorf("replay: %v", err)
	}
}

// settle takes over what a replay that stopped somewhere has left: a
// composition's launches have no mirror of their own.
func (p *program) settle() {
	p.faulty.Heal()
	for _, l := range p.replay.launches {
		for _, s := range l.slots {
			if s.s.Freed() {
				continue
			}
			content := make([]byte, len(s.values)*int(s.dtype.Size()))
			if err := s.s.Read(content, 0); err != nil {
				p.t.Errorf("read after a replay that stopped: %v", err)
			}
			copy(s.values, decode(content, s.dtype, s.as))
		}
	}
}

// replays reports that a slot must stay on the device for the recording.
func (p *program) replays(s *slot) bool {
	if p.replay != nil {
		for _, l := range p.replay.launches {
			for _, t := range l.slots {
				if s == t {
					return true
				}
			}
		}
	}
	return false
}
