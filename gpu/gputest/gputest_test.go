package gputest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/host"
)

// notes keeps what it is told.
type notes struct{ errors []string }

func (n *notes) Helper()      {}
func (n *notes) Log(...any)   {}
func (n *notes) Failed() bool { return len(n.errors) > 0 }
func (n *notes) Errorf(format string, args ...any) {
	n.errors = append(n.errors, fmt.Sprintf(format, args...))
}

// wrong is a backend that does something after each launch.
type wrong struct {
	gpu.Backend
	after func(b gpu.Backend, l gpu.Launch)
}

func (w wrong) Launch(l gpu.Launch) error {
	if err := w.Backend.Launch(l); err != nil {
		return err
	}
	w.after(w.Backend, l)
	return nil
}

// change rewrites the bytes of a span.
func change(b gpu.Backend, s gpu.Span, f func(content []byte)) {
	content := make([]byte, s.Bytes)
	if err := b.Download(content, s); err != nil {
		panic(err)
	}
	f(content)
	if err := b.Upload(s, content); err != nil {
		panic(err)
	}
}

// written is the index of the first argument that a kernel writes.
func written(k gpu.Kernel) int {
	for i, a := range k.Info().Args {
		if a.Access != gpu.In {
			return i
		}
	}
	panic("a kernel that writes nothing")
}

// Whatever a backend gets wrong in whatever kernel, the suite must say so.
func TestSuiteNoticesWrongKernels(t *testing.T) {
	last := func(b gpu.Backend, l gpu.Launch) { // the last element of the result is 2% off
		s := l.Args[written(l.Kernel)]
		change(b, s, func(content []byte) {
			if l.DType == gpu.Float64 && l.Kernel.Info().Args[written(l.Kernel)].Type == gpu.Typed {
				x := content[len(content)-8:]
				v := math.Float64frombits(binary.LittleEndian.Uint64(x))
				binary.LittleEndian.PutUint64(x, math.Float64bits(v+0.02*max(1, math.Abs(v))))
				return
			}
			x := content[len(content)-4:]
			bits := binary.LittleEndian.Uint32(x)
			if v := math.Float32frombits(bits); l.DType == gpu.Float32 && l.Kernel.Info().Args[written(l.Kernel)].Type == gpu.Typed {
				bits = math.Float32bits(v + 0.02*max(1, max(v, -v)))
			} else {
				bits++
			}
			binary.LittleEndian.PutUint32(x, bits)
		})
	}
	noticed := map[gpu.Kernel]int{}
	tried := map[gpu.Kernel]int{}
	b := wrong{host.New(), last}
	for _, c := range cases() {
		for _, dtype := range c.kernel.Info().DTypes {
			if c.dtypes != nil && dtype == gpu.Int32 || tried[c.kernel] > 40 {
				continue
			}
			p := prepare(&c, dtype)
			want := p.after[written(c.kernel)]
			if v := want[len(want)-1]; math.IsNaN(v) || math.IsInf(v, 0) {
				continue // still the same
			}
			got, err := p.execute(b, true)
			if err != nil {
				t.Fatal(err)
			}
			var n notes
			p.check(&n, got)
			tried[c.kernel]++
			if n.Failed() {
				noticed[c.kernel]++
			} else if c.loose < 64 {
				t.Errorf("%s %s: a result 2%% off was not noticed", &c, dtype)
			}
		}
	}
	for k := range gpu.NumKernels {
		if noticed[k] == 0 {
			t.Errorf("%s: nothing was noticed in %d cases", k, tried[k])
		}
	}
}

func TestSuiteNoticesWritesOutside(t *testing.T) {
	c := testCase{kernel: gpu.Unary, params: &gpu.UnaryParams{Scale: 1, Op: gpu.Neg, N: 10}}
	for name, shift := range map[string]int64{"before": -4, "behind": 40} {
		b := wrong{host.New(), func(b gpu.Backend, l gpu.Launch) {
			s := l.Args[1]
			change(b, gpu.Span{Buffer: s.Buffer, Offset: s.Offset + shift, Bytes: 4}, func(x []byte) { x[0]++ })
		}}
		if _, err := prepare(&c, gpu.Float32).execute(b, true); err == nil || !strings.Contains(err.Error(), "outside its span") {
			t.Errorf("a write %s the span: %v", name, err)
		}
	}
	b := wrong{host.New(), func(b gpu.Backend, l gpu.Launch) { change(b, l.Args[0], func(x []byte) { x[0]++ }) }}
	p := prepare(&c, gpu.Float32)
	got, err := p.execute(b, true)
	if err != nil {
		t.Fatal(err)
	}
	var n notes
	if p.check(&n, got); len(n.errors) == 0 || !strings.Contains(n.errors[0], "is only read") {
		t.Errorf("a write to an input: %v", n.errors)
	}
}

// A backend that loses an upload now and then cannot pass a random program.
type forgetful struct {
	gpu.Backend
	uploads int
}

func (f *forgetful) Upload(dst gpu.Span, src []byte) error {
	if f.uploads++; f.uploads%4 == 0 {
		return nil
	}
	return f.Backend.Upload(dst, src)
}

func TestProgramsNoticeLostUploads(t *testing.T) {
	for _, c := range []struct {
		b    gpu.Backend
		lost bool
	}{{host.New(), false}, {&forgetful{Backend: host.New()}, true}} {
		var n notes
		d := gpu.New(c.b)
		p := &program{t: &n, d: d, r: rand.New(rand.NewPCG(3, 1))}
		p.run(400)
		if n.Failed() != c.lost {
			t.Errorf("lost uploads: %t, noticed: %v", c.lost, n.errors)
		}
	}
}

func TestStrictPanics(t *testing.T) {
	b := Strict(host.New())
	buf, _ := b.Alloc(64)
	freed, _ := b.Alloc(64)
	b.Free(freed)
	span := func(buf gpu.Buffer, offset, bytes int64) gpu.Span {
		return gpu.Span{Buffer: buf, Offset: offset, Bytes: bytes}
	}
	neg := gpu.Launch{Kernel: gpu.Unary, Params: &gpu.UnaryParams{Scale: 1, Op: gpu.Neg, N: 2}}
	for name, f := range map[string]func(){
		"freed twice":      func() { b.Free(freed) },
		"not live":         func() { b.Upload(span(freed, 0, 4), make([]byte, 4)) },
		"bytes 60 to 68":   func() { b.Download(make([]byte, 8), span(buf, 60, 8)) },
		"upload of 8":      func() { b.Upload(span(buf, 0, 4), make([]byte, 8)) },
		"names one buffer": func() { l := neg; l.Args = []gpu.Span{span(buf, 0, 8), span(buf, 8, 8)}; b.Launch(l) },
		"argument x":       func() { l := neg; l.Args = []gpu.Span{span(buf, 0, 4), span(buf, 8, 8)}; b.Launch(l) },
		"with params":      func() { l := neg; l.Params = &gpu.FillParams{}; b.Launch(l) },
		"1 live buffers":   func() { b.Close() },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); name != "freed twice" && !strings.Contains(got, name) || got == "<nil>" {
					t.Errorf("%s: %v", name, got)
				}
			}()
			f()
		}()
	}
}
