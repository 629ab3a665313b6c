package gputest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/trial"
)

// A program is a random sequence of operations on a device, mirrored in
// float64 by the specifications.
type program struct {
	t      reporter
	d      *gpu.Device
	faulty *trial.FaultyBackend // nil: nothing is made to fail
	r      *rand.Rand
	slots  []*slot
	state  *slot
	replay *replay
	failed int
	checks int
	log    []string
}

// slot is a storage and what it should hold.
type slot struct {
	s      *gpu.Storage
	values []float64
	dtype  gpu.DType
	as     gpu.ArgType
}

var programSizes = []int{1, 7, 64, 300}

// run makes steps operations, then compares everything, and returns the bits.
func (p *program) run(steps int) [][]byte {
	p.state = &slot{s: p.d.FromHost(make([]byte, 16), "program", gpu.Generator), values: make([]float64, 4), dtype: gpu.Int32, as: gpu.State}
	for range 6 {
		p.fresh()
	}
	for range steps {
		if p.faulty != nil && p.r.IntN(4) == 0 {
			p.faulty.Fail(trial.Call(p.r.IntN(int(trial.NumCalls))), 1+p.r.IntN(3)*p.r.IntN(3), p.r.IntN(3) == 0)
		}
		p.step()
		if p.faulty != nil {
			p.faulty.Heal()
		}
		if p.t.Failed() {
			for _, line := range p.log[max(0, len(p.log)-12):] {
				p.t.Log(line)
			}
			return nil
		}
	}
	var bits [][]byte
	for _, s := range append(p.slots, p.state) {
		bits = append(bits, p.compare(s))
	}
	p.books()
	if p.replay != nil {
		p.replay.recorded.Close()
	}
	p.books()
	return bits
}

func (p *program) pick() *slot { return p.slots[p.r.IntN(len(p.slots))] }

// other picks a slot of the same size, nil if there is none.
func (p *program) other(than ...*slot) *slot {
	var l []*slot
next:
	for _, s := range p.slots {
		for _, t := range than {
			if s == t || len(s.values) != len(than[0].values) {
				continue next
			}
		}
		l = append(l, s)
	}
	if len(l) == 0 {
		return nil
	}
	return l[p.r.IntN(len(l))]
}

func (p *program) step() {
	a := p.pick()
	n := uint32(len(a.values))
	switch p.r.IntN(23) {
	case 20, 21:
		p.again()
	case 22:
		p.record()
	case 0, 1:
		p.fresh()
	case 2, 3:
		op := []gpu.UnaryOp{gpu.Tanh, gpu.Sigmoid, gpu.Neg, gpu.ReLU}[p.r.IntN(4)]
		p.launch(gpu.Unary, &gpu.UnaryParams{Scale: 0.9, Offset: 0.05, Op: op, N: n}, a, p.result(a))
	case 4, 5, 6:
		if b := p.other(a); b != nil {
			op := []gpu.BinaryOp{gpu.Add, gpu.Sub, gpu.Mul, gpu.Max}[p.r.IntN(4)]
			p.launch(gpu.Binary, &gpu.BinaryParams{Scale: 0.5, Op: op, N: n, Rank: 1, Dims: gpu.Dims{n}, A: gpu.Strides{1}, B: gpu.Strides{1}}, a, b, p.result(a, b))
		}
	case 7:
		if b := p.other(a); b != nil {
			p.launch(gpu.Axpby, &gpu.AxpbyParams{Alpha: 0.3, Beta: 0.6 * float64(p.r.IntN(2)), N: n}, a, b)
		}
	case 8:
		p.launch(gpu.Reduce, &gpu.ReduceParams{Scale: 1 / float64(n), Op: gpu.ReduceSum, Outer: 1, Axis: n, Inner: 1}, a, p.empty(1))
	case 9:
		if b := p.other(a); b != nil {
			if c := p.other(a, b); c != nil {
				p.launch(gpu.SGDStep, &gpu.SGDParams{LR: 0.1, Momentum: 0.4, WeightDecay: 0.01, Nesterov: uint32(p.r.IntN(2)), N: n}, a, b, c)
			}
		}
	case 10:
		p.launch(gpu.Softmax, &gpu.SoftmaxParams{Rows: 1, Cols: n}, a, p.result(a))
	case 11:
		p.launch(gpu.Dropout, &gpu.DropoutParams{P: 0.25, N: n}, p.state, a, p.result(a), p.empty(len(a.values)))
	case 12:
		p.launch(gpu.Count, &gpu.CountParams{Add: p.r.Uint32N(100)}, p.state)
	case 13:
		p.part(a)
	case 14:
		p.forget(a)
	case 15:
		p.compare(a)
	case 16:
		p.note("host")
		if _, err := a.s.Host(); !p.excused(err) {
			p.t.Errorf("host copy: %v", err)
		}
	case 17:
		for i := range a.values {
			a.values[i] = round(a.dtype, p.r.Float64()-0.5)
		}
		p.note("write")
		if err := a.s.Write(p.content(a)); err != nil {
			p.t.Errorf("write: %v", err)
		}
	case 18:
		p.note("evict")
		if err := a.s.Evict(); !p.excused(err) && !p.replays(a) {
			p.t.Errorf("evict: %v", err)
		}
	case 19:
		p.note("books, trim")
		p.books()
		if p.r.IntN(4) == 0 {
			p.d.Trim()
		}
	}
}

func (p *program) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

func (p *program) content(s *slot) []byte {
	b := make([]byte, len(s.values)*int(s.dtype.Size()))
	encode(b, s.dtype, s.values, s.as)
	return b
}

// fresh adds a slot made on the host.
func (p *program) fresh() {
	s := &slot{values: make([]float64, programSizes[p.r.IntN(len(programSizes))]), dtype: gpu.Float32}
	for i := range s.values {
		s.values[i] = round(s.dtype, p.r.Float64()*2-1)
	}
	s.s = p.d.FromHost(p.content(s), "program", gpu.Temporary)
	p.keep(s)
}

// empty is a slot that nothing was written to; it joins the others when a
// launch has written it.
func (p *program) empty(n int) *slot {
	s := &slot{values: make([]float64, n), dtype: gpu.Float32}
	s.s = p.d.NewStorage(int64(n)*4, "program", gpu.Temporary)
	return s
}

// result is where a launch writes: a new storage, or one that is there.
func (p *program) result(args ...*slot) *slot {
	if s := p.other(args...); s != nil && p.r.IntN(2) == 0 {
		return s
	}
	return p.empty(len(args[0].values))
}

func (p *program) keep(s *slot) {
	for _, t := range p.slots {
		if s == t || s == p.state {
			return
		}
	}
	p.slots = append(p.slots, s)
	for len(p.slots) > 12 {
		p.forget(p.slots[0])
	}
}

// forget frees a slot's storage, or leaves it to the collector.
func (p *program) forget(s *slot) {
	if len(p.slots) <= 3 {
		return
	}
	for i, t := range p.slots {
		if s == t {
			p.slots = append(p.slots[:i:i], p.slots[i+1:]...)
		}
	}
	p.note("forget")
	if p.r.IntN(4) > 0 {
		s.s.Free()
	}
}

// launch runs a kernel on whole slots; if it goes well, so does the mirror.
func (p *program) launch(k gpu.Kernel, params any, args ...*slot) {
	var views []gpu.View
	for _, a := range args {
		views = append(views, a.s.All())
	}
	p.note("%s%+v", k, deref(params))
	err := p.d.Run(k, dtypeOf(k), params, views...)
	if p.excused(err) && err != nil {
		return
	}
	if err != nil {
		p.t.Errorf("%s: %v", k, err)
		return
	}
	var values [][]float64
	for _, a := range args {
		values = append(values, a.values)
	}
	specs[k](&gpu.Launch{Kernel: k, DType: dtypeOf(k), Params: params}, values)
	for _, a := range args {
		if a != p.state {
			p.keep(a)
		}
	}
}

func dtypeOf(k gpu.Kernel) gpu.DType {
	if k == gpu.Count {
		return gpu.Int32
	}
	return gpu.Float32
}

// part copies a piece of one storage over a piece of another.
func (p *program) part(a *slot) {
	b := p.pick()
	if a == b {
		return
	}
	n := 1 + p.r.IntN(min(len(a.values), len(b.values)))
	from, to := p.r.IntN(len(a.values)-n+1), p.r.IntN(len(b.values)-n+1)
	params := &gpu.CopyParams{N: uint32(n), Rank: 1, Dims: gpu.Dims{uint32(n)}, X: gpu.Strides{1}}
	p.note("copy of %d from %d to %d", n, from, to)
	err := p.d.Run(gpu.Copy, gpu.Float32, params,
		gpu.View{Storage: a.s, Offset: int64(from) * 4, Bytes: int64(n) * 4},
		gpu.View{Storage: b.s, Offset: int64(to) * 4, Bytes: int64(n) * 4})
	if err == nil {
		copy(b.values[to:to+n], a.values[from:from+n])
	} else if !p.excused(err) {
		p.t.Errorf("copy of a part: %v", err)
	}
}

// excused reports that an error is one that was asked for, or that there is
// none.
func (p *program) excused(err error) bool {
	if errors.Is(err, trial.ErrInjected) || errors.Is(err, gpu.ErrOutOfMemory) {
		p.failed++
		p.note("  failed: %v", err)
		return true
	}
	return err == nil
}

// compare reads a slot and holds it against the mirror.
func (p *program) compare(s *slot) []byte {
	p.note("read")
	content := make([]byte, len(s.values)*int(s.dtype.Size()))
	if err := s.s.Read(content, 0); err != nil {
		if !p.excused(err) {
			p.t.Errorf("read: %v", err)
		}
		return nil
	}
	for i, v := range decode(content, s.dtype, s.as) {
		p.checks++
		if tolerance := 2e-4; !(math.Abs(v-s.values[i]) <= tolerance) {
			p.t.Errorf("element %d of %d (%s) is %v, want %v", i, len(s.values), s.s.Residency(), v, s.values[i])
			break
		}
	}
	return content
}

// books holds the map against the backend.
func (p *program) books() {
	s := p.d.Snapshot()
	sum := int64(0)
	for _, r := range s.Rows {
		sum += r.DeviceBytes
	}
	p.checks += 3
	if sum != s.InUse || s.InUse+s.PoolBytes != s.Backend.BytesHeld || s.Held != s.Backend.BytesHeld {
		p.t.Errorf("rows hold %d, in use %d, pool %d, held %d, backend %d", sum, s.InUse, s.PoolBytes, s.Held, s.Backend.BytesHeld)
	}
}

// programs runs random programs on the backend under each condition that must
// not change results.
func (s *suite) programs(t *testing.T) {
	const steps = 300
	backend := lent{s.start(t)}
	run := func(t *testing.T, seed uint64, wrap func(gpu.Backend) gpu.Backend, faults, reuse bool) [][]byte {
		f := trial.Faulty(wrap(backend))
		d := gpu.New(Strict(f))
		defer func() {
			if err := d.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		d.SetReuse(reuse)
		p := &program{t: t, d: d, r: rand.New(rand.NewPCG(seed, 1))}
		if faults {
			p.faulty = f
		}
		bits := p.run(steps)
		s.checks += p.checks
		s.faults += p.failed
		return bits
	}
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			plain := run(t, seed, forms["fused"], false, true)
			for name, again := range map[string][][]byte{
				"run again":        run(t, seed, forms["fused"], false, true),
				"without the pool": run(t, seed, forms["fused"], false, false),
			} {
				for i := range plain {
					s.checks++
					if i >= len(again) || !bytes.Equal(plain[i], again[i]) {
						t.Errorf("%s: storage %d has other bits", name, i)
						break
					}
				}
			}
			run(t, seed, forms["fused"], true, true)
			run(t, seed, forms["composed"], true, true)
			run(t, seed, func(b gpu.Backend) gpu.Backend { return trial.Small(b, 8<<10) }, false, true)
		})
	}
}
