package viz

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func TestEnvelopeKeepsPeaks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	vs := make([]float64, 100_000)
	for i := range vs {
		vs[i] = r.Float64()
	}
	vs[0], vs[1], vs[2] = 0.5, 0.7, 0.3 // the first is neither least nor largest
	vs[31_415], vs[27_182], vs[50_000] = 9, -9, math.NaN()
	keep := envelope(vs, 600)
	if len(keep) > 603 || !slices.IsSorted(keep) || keep[0] != 0 || keep[len(keep)-1] != len(vs)-1 {
		t.Errorf("%d kept, sorted %v, first %d, last %d", len(keep), slices.IsSorted(keep), keep[0], keep[len(keep)-1])
	}
	for _, i := range []int{31_415, 27_182, 50_000} {
		if !slices.Contains(keep, i) {
			t.Errorf("value %d, %v, is lost", i, vs[i])
		}
	}
	if got := envelope(vs[:5], 600); !reflect.DeepEqual(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("few values: %v", got)
	}
}

func TestAverage(t *testing.T) {
	got := average([]float64{2, 4, math.NaN(), 4}, 0.5)
	// The weights of a start: 1, 0.75 and, after the gap, 0.875 in all.
	want := []float64{2, (0.5*1 + 0.5*4) / 0.75, math.NaN(), (0.5*2.5 + 0.5*4) / 0.875}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 || math.IsNaN(got[i]) != math.IsNaN(want[i]) {
			t.Errorf("average %v, want %v", got, want)
			break
		}
	}
}

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		vs   []float64
		log  bool
		want string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, false, "▁▂▃▄▅▆▇█"},
		{[]float64{1, 10, 100}, true, "▁▅█"},
		{[]float64{1, math.NaN(), 1}, false, "▄ ▄"},
		{[]float64{-1, 1, 100}, true, " ▁█"},
		{nil, false, ""},
	} {
		if got := spark(c.vs, 8, c.log); got != c.want {
			t.Errorf("spark(%v) = %q, want %q", c.vs, got, c.want)
		}
	}
	if got := []rune(spark(make([]float64, 1000), 48, false)); len(got) != 48 {
		t.Errorf("%d bars", len(got))
	}
}

func TestAxes(t *testing.T) {
	for _, c := range []struct {
		a     axis
		ticks []float64
		lo    float64
		hi    float64
	}{
		{linearAxis(0.02, 2.4, 0, 100, 5, true), []float64{0, 0.5, 1, 1.5, 2, 2.5}, 0, 2.5},
		{linearAxis(1, 1407, 0, 100, 7, false), []float64{500, 1000}, 1, 1407},
		{linearAxis(3, 3, 0, 100, 5, false), []float64{2.6, 2.8, 3, 3.2, 3.4}, 2.5, 3.5},
		{logAxis(0.05, 2.4, 0, 100), []float64{0.05, 0.1, 0.2, 0.5, 1, 2, 5}, 0.05, 5},
		{logAxis(1e-7, 3, 0, 100), []float64{1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10}, 1e-7, 10},
	} {
		if len(c.a.ticks) != len(c.ticks) || math.Abs(c.a.lo-c.lo) > 1e-9 || math.Abs(c.a.hi-c.hi) > 1e-9 {
			t.Errorf("ticks %v over %v to %v, want %v over %v to %v", c.a.ticks, c.a.lo, c.a.hi, c.ticks, c.lo, c.hi)
			continue
		}
		for i := range c.ticks {
			if math.Abs(c.a.ticks[i]-c.ticks[i]) > 1e-9*c.ticks[i] {
				t.Errorf("ticks %v, want %v", c.a.ticks, c.ticks)
				break
			}
		}
		if at := c.a.at(c.a.lo); math.Abs(at) > 1e-9 {
			t.Errorf("the low end is at %v", at)
		}
	}
	if a := logAxis(1, 10, 0, 100); !math.IsNaN(a.at(0)) || !math.IsNaN(a.at(-3)) {
		t.Error("a log axis has no place for what is not positive")
	}
	for _, a := range []axis{logAxis(7, 7, 0, 1), logAxis(10, 10, 0, 1), logAxis(1e-30, 1e30, 0, 1), linearAxis(-1e300, 1e300, 0, 1, 5, true)} {
		if len(a.ticks) < 2 || len(a.ticks) > 16 || !(a.hi > a.lo) {
			t.Errorf("axis from %v to %v with ticks %v", a.lo, a.hi, a.ticks)
		}
	}
}

func TestNumbersAreReadable(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.051234: "0.05123", 2.351: "2.351", 1234567: "1.235e+06", 12345: "12,345", 9999.6: "10,000", 99.996: "100.00", 1e-9: "1.000e-09", math.Inf(1): "Inf", -0.5: "-0.5000"} {
		if got := value(v); got != want {
			t.Errorf("value(%v) = %q, want %q", v, got, want)
		}
	}
	a := axis{ticks: []float64{0, 0.05, 0.1}}
	if got := a.label(0.05); got != "0.05" {
		t.Errorf("label %q", got)
	}
	a = axis{ticks: []float64{0, 500, 1000}}
	if got := a.label(1000); got != "1,000" {
		t.Errorf("label %q", got)
	}
	if got := (axis{log: true}).label(1e-6); got != "1e-6" {
		t.Errorf("label %q", got)
	}
}

func TestSquarify(t *testing.T) {
	weights := []float64{60, 25, 10, 3, 1, 1}
	b := box{10, 20, 300, 200}
	boxes := squarify(weights, b)
	if len(boxes) != len(weights) {
		t.Fatalf("%d boxes", len(boxes))
	}
	for i, bx := range boxes {
		if got, want := bx.w*bx.h, weights[i]*b.w*b.h/100; math.Abs(got-want) > 1e-6 {
			t.Errorf("box %d has area %v, want %v", i, got, want)
		}
		if bx.x < b.x-1e-9 || bx.y < b.y-1e-9 || bx.x+bx.w > b.x+b.w+1e-9 || bx.y+bx.h > b.y+b.h+1e-9 {
			t.Errorf("box %d, %v, leaves %v", i, bx, b)
		}
		for j, o := range boxes[:i] {
			if w, h := min(bx.x+bx.w, o.x+o.w)-max(bx.x, o.x), min(bx.y+bx.h, o.y+o.h)-max(bx.y, o.y); w > 1e-9 && h > 1e-9 {
				t.Errorf("boxes %d and %d overlap", i, j)
			}
		}
	}
	if first := boxes[0]; max(first.w/first.h, first.h/first.w) > 2 {
		t.Errorf("the first box is %v by %v", first.w, first.h)
	}
}
