package session

import (
	"math"
	"strings"
	"testing"
	"time"

	"gradbook/gpu"
)

// param is a parameter of one float32.
type param struct {
	d *gpu.Device
	s *gpu.Storage
}

func (p *param) Storages(visit func(string, *gpu.Storage)) { visit("", p.s) }
func (p *param) Float64s() []float64                       { return []float64{p.Item()} }

func (p *param) Item() float64 {
	raw := make([]byte, 4)
	if err := p.s.Read(raw, 0); err != nil {
		panic(err)
	}
	return float64(math.Float32frombits(uint32(raw[0]) | uint32(raw[1])<<8 | uint32(raw[2])<<16 | uint32(raw[3])<<24))
}

func (p *param) set(v float64) {
	if err := p.d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{Value: v, N: 1}, p.s.All()); err != nil {
		panic(err)
	}
}

// counting trains a parameter that is the number of steps, plus what offset
// says for its device.
func counting(offset func(calls int) float64) func(*gpu.Device) Trial {
	calls := 0
	return func(d *gpu.Device) Trial {
		calls++
		o := offset(calls)
		p := &param{d, d.NewStorage(4, "param", gpu.Parameter)}
		return Trial{Model: map[string]any{"w": p}, Step: func(i int) Number {
			p.set(float64(i) + o)
			return p
		}}
	}
}

func TestCompare(t *testing.T) {
	s := newSession(t)
	before, _ := s.Device()
	build := counting(func(call int) float64 { return float64(call-1) / 4 })
	c := s.CompareBy(Plan{Steps: 5, Warmup: 2}, build, "host", "nothing", "host:0")
	if len(c.Rows) != 3 || c.Reference != "host" {
		t.Fatalf("%d rows, reference %q", len(c.Rows), c.Reference)
	}
	a, absent, b := c.Rows[0], c.Rows[1], c.Rows[2]
	if len(a.Times) != 5 || len(a.Losses) != 7 || a.Launches != 1 || a.Peak != 256 {
		t.Errorf("first row: %d times, %d losses, %v launches a step, peak %d", len(a.Times), len(a.Losses), a.Launches, a.Peak)
	}
	if a.LossDiff != 0 || a.WeightDiff != 0 || b.WeightDiff != 0.25 {
		t.Errorf("differences: %v and %v of the reference, weights of the other %v", a.LossDiff, a.WeightDiff, b.WeightDiff)
	}
	if !strings.Contains(absent.Err, "nothing") || len(absent.Times) > 0 {
		t.Errorf("an absent device: %+v", absent)
	}
	if d, _ := s.Device(); d != before {
		t.Error("the session's device must be what it was")
	}
}

func TestCompareFailures(t *testing.T) {
	s := newSession(t)
	c := s.CompareBy(Plan{Steps: 3}, func(d *gpu.Device) Trial {
		return Trial{Step: func(i int) Number {
			if i == 1 {
				panic("no such batch")
			}
			return nil
		}}
	}, "host")
	if c.Rows[0].Err != "no such batch" {
		t.Errorf("error %q", c.Rows[0].Err)
	}
	defer func() {
		if e, ok := recover().(interface{ Interrupted() bool }); !ok || !e.Interrupted() {
			t.Error("an interrupt must end the comparison")
		}
	}()
	s.CompareBy(Plan{Steps: 3}, func(d *gpu.Device) Trial {
		return Trial{Step: func(i int) Number { s.Interrupt(); return nil }}
	}, "host", "host")
}

func TestQuartiles(t *testing.T) {
	low, median, high := quartiles([]time.Duration{5, 1, 3, 2, 4})
	if low != 2 || median != 3 || high != 4 {
		t.Errorf("quartiles %d %d %d", low, median, high)
	}
	if low, median, high = quartiles([]time.Duration{7}); low != 7 || median != 7 || high != 7 {
		t.Error("of one")
	}
}
