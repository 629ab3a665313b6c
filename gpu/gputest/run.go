package gputest

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gradbook/gpu"
)

// Run tries a backend on the whole suite. open returns a new backend each
// time; the suite closes it. The number of checks made is logged.
func Run(t *testing.T, open func() gpu.Backend) {
	s := &suite{open: open}
	t.Run("Kernels", func(t *testing.T) { s.kernels(t, kernelsOf(gpu.Primitive, gpu.Fused)) })
	t.Run("Compositions", s.compositions)
	t.Run("Census", s.census)
	t.Run("Programs", s.programs)
	t.Run("Faults", s.faulted)
	t.Run("Recordings", s.recorded)
	t.Run("Inputs", s.inputs)
	t.Logf("%s: %d checks of %d launches, %d faults survived, %d cases declined for a composition, %d skipped for want of float64",
		s.name, s.checks, s.launches, s.faults, s.declined, s.skipped)
}

// RunKernels tries a backend on the cases of some kernels only.
func RunKernels(t *testing.T, open func() gpu.Backend, kernels ...gpu.Kernel) {
	s := &suite{open: open}
	t.Run("Kernels", func(t *testing.T) { s.kernels(t, kernels) })
	t.Logf("%s: %d checks of %d launches, %d cases skipped for want of float64", s.name, s.checks, s.launches, s.skipped)
}

// reporter is the part of testing.T that judgements are told to, so that the
// suite itself can be tested.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Failed() bool
	Log(args ...any)
}

type suite struct {
	open     func() gpu.Backend
	name     string
	checks   int
	launches int
	declined int
	faults   int
	skipped  int
}

// start opens a backend that the test closes.
func (s *suite) start(t *testing.T) gpu.Backend {
	b := s.open()
	info := b.Info()
	s.name = info.Backend + " (" + info.Name + ")"
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// device is a device on a backend of its own, which the test closes.
func (s *suite) device(t *testing.T, form func(gpu.Backend) gpu.Backend) *gpu.Device {
	d := gpu.New(Strict(form(s.open())))
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

// lent is a backend that several devices use, one after the other: opening one
// can be slow, and drivers dislike being opened hundreds of times. What a
// device leaves behind is an error.
type lent struct{ gpu.Backend }

func (l lent) Close() error {
	if err := l.Sync(); err != nil {
		return err
	}
	if held := l.Stats(); held.BytesHeld != 0 || held.Buffers != 0 {
		return fmt.Errorf("closed with %d bytes held in %d buffers", held.BytesHeld, held.Buffers)
	}
	return nil
}

// each calls f for every case and dtype of some kernels that the backend must
// know. What needs float64 on a device without is counted as skipped.
func (s *suite) each(t *testing.T, info gpu.Info, kernels []gpu.Kernel, f func(t *testing.T, c *testCase, dtype gpu.DType)) {
	byKernel := map[gpu.Kernel][]testCase{}
	for _, c := range cases() {
		byKernel[c.kernel] = append(byKernel[c.kernel], c)
	}
	for _, k := range kernels {
		t.Run(k.String(), func(t *testing.T) {
			if len(byKernel[k]) == 0 {
				t.Error("no case tries this kernel")
			}
			for _, c := range byKernel[k] {
				dtypes := c.dtypes
				if dtypes == nil {
					dtypes = k.Info().DTypes
				}
				for _, dtype := range dtypes {
					if needsFloat64(&c, dtype) && !info.Float64 {
						s.skipped++
						continue
					}
					f(t, &c, dtype)
				}
				if t.Failed() {
					return // one wrong case says enough
				}
			}
		})
	}
}

// kernelsOf lists the kernels of some tiers.
func kernelsOf(tiers ...gpu.Tier) (ks []gpu.Kernel) {
	for k := range gpu.NumKernels {
		if slices.Contains(tiers, k.Info().Tier) {
			ks = append(ks, k)
		}
	}
	return ks
}

func needsFloat64(c *testCase, dtype gpu.DType) bool {
	cast, ok := c.params.(*gpu.CastParams)
	return dtype == gpu.Float64 || ok && gpu.DType(cast.From) == gpu.Float64
}

// kernels hands every case to the backend itself.
func (s *suite) kernels(t *testing.T, kernels []gpu.Kernel) {
	b := s.start(t)
	info := b.Info()
	s.each(t, info, kernels, func(t *testing.T, c *testCase, dtype gpu.DType) {
		d := prepare(c, dtype)
		for _, odd := range []bool{false, true} {
			got, err := d.execute(b, odd)
			if errors.Is(err, gpu.ErrDeclined) && c.kernel.Info().Tier == gpu.Fused {
				s.declined++
				return
			}
			if err != nil {
				t.Errorf("%s %s: %v", c, dtype, err)
				return
			}
			s.launches++
			s.checks += d.check(t, got)
			if odd {
				again, err := d.execute(b, odd)
				if err != nil {
					t.Errorf("%s %s: second time: %v", c, dtype, err)
					return
				}
				for i := range got {
					if !bytes.Equal(got[i], again[i]) {
						t.Errorf("%s %s: argument %s: the same launch gave other bits", c, dtype, c.kernel.Info().Args[i].Name)
					}
				}
				s.checks++
			}
		}
	})
	if held := b.Stats(); held.BytesHeld != 0 || held.Buffers != 0 {
		t.Errorf("every buffer was freed, but the backend holds %d bytes in %d buffers", held.BytesHeld, held.Buffers)
	}
}

// compositions runs every fused case as its composition, on a device.
func (s *suite) compositions(t *testing.T) {
	b := s.start(t)
	d := gpu.New(unfused{b})
	s.each(t, b.Info(), kernelsOf(gpu.Fused), func(t *testing.T, c *testCase, dtype gpu.DType) {
		p := prepare(c, dtype)
		got, err := p.runOn(d)
		if err != nil {
			t.Errorf("%s %s: %v", c, dtype, err)
			return
		}
		s.launches++
		s.checks += p.check(t, got)
	})
}

// unfused declines every fused kernel.
type unfused struct{ gpu.Backend }

func (u unfused) Launch(l gpu.Launch) error {
	if l.Kernel.Info().Tier == gpu.Fused {
		return gpu.ErrDeclined
	}
	return u.Backend.Launch(l)
}

// forms are a backend as it is, and without its fused kernels.
var forms = map[string]func(gpu.Backend) gpu.Backend{
	"fused":    func(b gpu.Backend) gpu.Backend { return b },
	"composed": func(b gpu.Backend) gpu.Backend { return unfused{b} },
}

// prepared is a case with its data.
type prepared struct {
	c      *testCase
	launch gpu.Launch // without spans
	before [][]float64
	after  [][]float64
	types  []gpu.DType
}

func prepare(c *testCase, dtype gpu.DType) *prepared {
	info := c.kernel.Info()
	p := &prepared{c: c, launch: gpu.Launch{Kernel: c.kernel, DType: dtype, Params: c.params}}
	h := fnv.New64()
	fmt.Fprint(h, c)
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(dtype)))
	sizes := gpu.Elements(c.kernel, c.params)
	for i, arg := range info.Args {
		t := dtype
		switch arg.Type {
		case gpu.Index, gpu.State:
			t = gpu.Int32
		case gpu.Foreign:
			t = gpu.DType(c.params.(*gpu.CastParams).From)
		}
		draw := c.inputs[arg.Name]
		if draw == nil {
			draw = uniform(-2, 2)
			if t == gpu.Int32 {
				draw = integer(-1000, 1000)
			}
		}
		x := make([]float64, sizes[i])
		for j := range x {
			if arg.Access == gpu.Out {
				x[j] = poison(t)
			} else if x[j] = draw(r); arg.Type != gpu.State {
				x[j] = round(t, x[j])
			}
		}
		p.types = append(p.types, t)
		p.before = append(p.before, x)
		p.after = append(p.after, append([]float64(nil), x...))
	}
	specs[c.kernel](&p.launch, p.after)
	return p
}

// poison is what an output holds before the launch.
func poison(t gpu.DType) float64 {
	if t == gpu.Int32 {
		return -77777
	}
	return math.NaN()
}

const (
	sentinel = 0xA5
	margin   = 64 // bytes of sentinels after a span
)

// execute runs the launch on fresh buffers and returns every argument's bytes
// afterwards. With odd, spans start at odd elements. A changed sentinel is an
// error.
func (p *prepared) execute(b gpu.Backend, odd bool) ([][]byte, error) {
	l := p.launch
	var start []int64
	for i, x := range p.before {
		size := p.types[i].Size()
		offset := int64(0)
		if odd {
			offset = int64(2*i+3) * size
		}
		content := bytes.Repeat([]byte{sentinel}, int(offset)+len(x)*int(size)+margin)
		encode(content[offset:], p.types[i], x, p.c.kernel.Info().Args[i].Type)
		buf, err := b.Alloc(int64(len(content)))
		if err != nil {
			return nil, err
		}
		defer b.Free(buf)
		if err := b.Upload(gpu.Span{Buffer: buf, Bytes: int64(len(content))}, content); err != nil {
			return nil, err
		}
		l.Args = append(l.Args, gpu.Span{Buffer: buf, Offset: offset, Bytes: int64(len(x)) * size})
		start = append(start, offset)
	}
	if err := b.Launch(l); err != nil {
		return nil, err
	}
	var got [][]byte
	for i, a := range l.Args {
		whole := make([]byte, start[i]+a.Bytes+margin)
		if err := b.Download(whole, gpu.Span{Buffer: a.Buffer, Bytes: int64(len(whole))}); err != nil {
			return nil, err
		}
		for at, v := range whole {
			if inside := int64(at) >= start[i] && int64(at) < start[i]+a.Bytes; !inside && v != sentinel {
				return nil, fmt.Errorf("argument %s: byte %d, outside its span of bytes %d to %d, was written",
					p.c.kernel.Info().Args[i].Name, at, start[i], start[i]+a.Bytes)
			}
		}
		got = append(got, whole[start[i]:start[i]+a.Bytes])
	}
	return got, nil
}

// runOn runs the launch through a device.
func (p *prepared) runOn(d *gpu.Device) ([][]byte, error) {
	info := p.c.kernel.Info()
	var views []gpu.View
	for i, x := range p.before {
		content := make([]byte, len(x)*int(p.types[i].Size()))
		encode(content, p.types[i], x, info.Args[i].Type)
		s := d.FromHost(content, "gputest", gpu.Temporary)
		defer s.Free()
		views = append(views, s.All())
	}
	if err := d.Run(p.c.kernel, p.launch.DType, p.c.params, views...); err != nil {
		return nil, err
	}
	var got [][]byte
	for _, v := range views {
		content := make([]byte, v.Bytes)
		if err := v.Storage.Read(content, 0); err != nil {
			return nil, err
		}
		got = append(got, content)
	}
	return got, nil
}

// exact are the kernels that compute nothing, or integers.
var exact = map[gpu.Kernel]bool{gpu.Fill: true, gpu.Copy: true, gpu.Paste: true, gpu.Cast: true, gpu.Where: true, gpu.ArgMax: true,
	gpu.GatherRows: true, gpu.Im2col: true, gpu.Count: true, gpu.MaxPool: true}

// check compares arguments with what the specification says, and returns how
// many elements it compared.
func (p *prepared) check(t reporter, got [][]byte) int {
	t.Helper()
	checks := 0
	for i, arg := range p.c.kernel.Info().Args {
		want := p.after[i]
		before := make([]byte, len(got[i]))
		if encode(before, p.types[i], p.before[i], arg.Type); arg.Access == gpu.In && !bytes.Equal(before, got[i]) {
			t.Errorf("%s %s: argument %s was written, but is only read", p.c, p.launch.DType, arg.Name)
		}
		values := decode(got[i], p.types[i], arg.Type)
		bad, worst := 0, -1
		for j, v := range values {
			checks++
			if !p.close(i, v, want[j]) {
				if bad == 0 {
					worst = j
				}
				bad++
			}
		}
		if bad > 0 {
			t.Errorf("%s %s: argument %s: %d of %d elements are wrong, the first at %d: %v, want %v (within %.2g)",
				p.c, p.launch.DType, arg.Name, bad, len(values), worst, values[worst], want[worst], p.tolerance(i, want[worst]))
		}
	}
	return checks
}

func (p *prepared) close(i int, got, want float64) bool {
	if p.types[i].IsFloat() {
		want = round(p.types[i], want)
	}
	if math.IsNaN(want) {
		return math.IsNaN(got)
	}
	if got == want {
		return true
	}
	return math.Abs(got-want) <= p.tolerance(i, want)
}

// tolerance allows 16 roundings, and one for each term of a sum.
func (p *prepared) tolerance(i int, want float64) float64 {
	if exact[p.c.kernel] || !p.types[i].IsFloat() || math.IsInf(want, 0) {
		return 0
	}
	eps := 0x1p-52
	if p.types[i] == gpu.Float32 {
		eps = 0x1p-23
	}
	return eps * (16 + p.c.terms) * max(p.c.loose, 1) * max(1, math.Abs(want))
}

func deref(p any) any { return reflect.ValueOf(p).Elem().Interface() }
