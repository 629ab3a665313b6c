package viz

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"gradbook/viz/display"
)

// front is a front end that counts what it is shown.
type front struct {
	shown, updated int
	ids            map[string]bool
	last           display.Bundle
}

func (f *front) Display(b display.Bundle, id string) {
	f.shown++
	f.ids[id] = true
	f.last = b
}
func (f *front) Update(b display.Bundle, id string) {
	f.updated++
	f.ids[id] = true
	f.last = b
}
func (f *front) Clear(bool) {}

func newFront(t *testing.T) *front {
	f := &front{ids: map[string]bool{}}
	display.SetSink(f)
	t.Cleanup(func() { display.SetSink(nil) })
	return f
}

type ticker struct{ now time.Time }

func (c *ticker) read() time.Time { return c.now }

// checkForms holds what every bundle promises: three forms, a picture that is
// well formed and stands in the page, and no data that ends the script.
func checkForms(t *testing.T, b display.Bundle) (page, picture string) {
	t.Helper()
	page, _ = b.Data[display.MIMEHTML].(string)
	picture, _ = b.Data[display.MIMESVG].(string)
	if page == "" || picture == "" || b.Plain() == "" {
		t.Fatalf("forms missing: page %d, picture %d, text %d bytes", len(page), len(picture), len(b.Plain()))
	}
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the picture is not well formed: %v\n%s", err, picture)
		}
	}
	if strings.Contains(picture, "NaN") && !strings.Contains(b.Plain(), "NaN") || strings.Contains(picture, "Inf\"") {
		t.Error("a coordinate is not a number")
	}
	if strings.Count(page, "<script>") != strings.Count(page, "</script>") {
		t.Error("data ends the script")
	}
	return page, picture
}

func TestCurveForms(t *testing.T) {
	c := NewCurve("loss </script><b>", "accuracy")
	for i := range 1000 {
		c.Add(1/float64(i+1), float32(i)/1000)
	}
	page, picture := checkForms(t, c.Bundle())
	if !strings.Contains(page, base64.StdEncoding.EncodeToString([]byte(picture))) {
		t.Error("the page must hold the picture")
	}
	if strings.Count(picture, "<path") != 2 {
		t.Errorf("%d lines, want 2", strings.Count(picture, "<path"))
	}
	lines := strings.Split(c.String(), "\n")
	if len(lines) != 2 || strings.Index(lines[0], "█") != strings.Index(lines[1], "▁") {
		t.Errorf("sparklines are not aligned:\n%s", c)
	}
	if !strings.Contains(lines[0], "1.000 → 0.001000") || !strings.Contains(lines[0], "1,000 steps") {
		t.Errorf("text %q", lines[0])
	}
}

func TestEmptyCurve(t *testing.T) {
	checkForms(t, NewCurve("loss").Bundle())
	c := NewCurve("loss").Log()
	c.Add(-1)
	c.Add(math.NaN())
	b := c.Bundle()
	checkForms(t, b)
	for _, want := range []string{"not positive", "loss is NaN at step 2"} {
		if !strings.Contains(b.Plain(), want) {
			t.Errorf("%q is missing in %q", want, b.Plain())
		}
	}
}

func TestCurveRefuses(t *testing.T) {
	for name, f := range map[string]func(c *Curve){
		"a string":        func(c *Curve) { c.Add("0.5") },
		"too many values": func(c *Curve) { c.Add(1.0, 2.0) },
		"smooth 1":        func(c *Curve) { c.Smooth(1) },
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !strings.HasPrefix(err.Error(), "viz: ") {
					t.Errorf("%s: no error", name)
				}
			}()
			f(NewCurve("loss"))
		}()
	}
}

func TestCurveFollowsTheCell(t *testing.T) {
	f := newFront(t)
	clock := &ticker{}
	c := NewCurve("loss")
	c.clock = clock.read
	c.Add(1.0)
	if f.shown+f.updated > 0 {
		t.Error("shown without a cell")
	}
	display.Begin()
	for range 1000 { // 10 s
		clock.now = clock.now.Add(10 * time.Millisecond)
		c.Add(0.5)
	}
	display.End()
	if f.shown != 1 || f.updated < 45 || f.updated > 50 {
		t.Errorf("shown %d times, updated %d times in 10 s; want one and at most 50", f.shown, f.updated)
	}
	if !strings.Contains(f.last.Plain(), "1,001 steps") {
		t.Errorf("the last state is not shown: %q", f.last.Plain())
	}
	display.Begin()
	c.Add(0.1)
	display.End()
	if f.shown != 2 || len(f.ids) != 2 {
		t.Errorf("shown %d times under %d ids; the second cell needs a display of its own", f.shown, len(f.ids))
	}
}

// device is a number on a device: keeping and reading it cost time.
type device struct {
	v      float64
	clock  *ticker
	keep   time.Duration
	reads  *int
	broken bool
}

func (d device) Later() func() float64 {
	d.clock.now = d.clock.now.Add(d.keep)
	return func() float64 {
		if d.broken {
			panic(errors.New("device lost"))
		}
		*d.reads++
		return d.v
	}
}

func TestCurveKeepsValuesOnTheDevice(t *testing.T) {
	newFront(t)
	clock := &ticker{}
	reads := 0
	c := NewCurve("loss")
	c.clock = clock.read
	display.Begin()
	defer display.End()
	for i := range 19 {
		clock.now = clock.now.Add(10 * time.Millisecond)
		c.Add(device{v: float64(i), clock: clock, reads: &reads})
	}
	if reads != 0 {
		t.Errorf("%d reads before the first drawing", reads)
	}
	clock.now = clock.now.Add(time.Second)
	c.Add(device{v: 19, clock: clock, reads: &reads})
	if reads != 20 {
		t.Errorf("%d reads at the drawing, want 20", reads)
	}
	for i, v := range c.Values("loss") {
		if v != float64(i) {
			t.Fatalf("values %v", c.Values("loss"))
		}
	}
}

// Keeping values may take 1% of the time; the curve says what it left out.
func TestCurveCostIsBounded(t *testing.T) {
	newFront(t)
	clock := &ticker{}
	reads := 0
	c := NewCurve("loss")
	c.clock = clock.read
	display.Begin()
	defer display.End()
	const steps, step, keep = 100_000, 65 * time.Microsecond, 5 * time.Microsecond
	start := clock.now
	for i := range steps {
		clock.now = clock.now.Add(step)
		c.Add(device{v: float64(i), clock: clock, keep: keep, reads: &reads})
	}
	spent := clock.now.Sub(start) - steps*step
	if limit := clock.now.Sub(start)/100 + costGrace + keep; spent > limit {
		t.Errorf("keeping took %v of %v", spent, clock.now.Sub(start))
	}
	s := c.series[0]
	if len(s.values) != int(spent/keep) || s.seen != steps {
		t.Errorf("%d values kept, %d seen", len(s.values), s.seen)
	}
	if last := s.steps[len(s.steps)-1]; last < steps-100 {
		t.Errorf("the last value kept is that of step %d", last)
	}
	note := fmt.Sprintf("%s of 100,000 steps of loss kept", count(int64(len(s.values))))
	if !strings.Contains(c.String(), note) {
		t.Errorf("%q is missing in %q", note, c)
	}
	display.End()
	if last := s.steps[len(s.steps)-1]; last != steps {
		t.Errorf("the last step is left out: %d", last)
	}
	for i, at := range s.steps {
		if s.values[i] != float64(at-1) {
			t.Fatalf("the value at step %d is %v", at, s.values[i])
		}
	}
}

// Another process's turn in the middle of Add is not the curve's cost.
func TestCurveForgivesPauses(t *testing.T) {
	newFront(t)
	clock := &ticker{}
	reads := 0
	c := NewCurve("loss")
	c.clock = clock.read
	display.Begin()
	defer display.End()
	for i := range 1000 {
		clock.now = clock.now.Add(time.Millisecond)
		keep := time.Microsecond
		if i%100 == 50 {
			keep = 20 * time.Millisecond
		}
		c.Add(device{v: float64(i), clock: clock, keep: keep, reads: &reads})
	}
	if c.series[0].skipped > 0 {
		t.Errorf("%d values left out for the sake of ten pauses", c.series[0].skipped)
	}
}

func TestCurveSurvivesALostDevice(t *testing.T) {
	f := newFront(t)
	clock := &ticker{}
	display.Begin()
	c := NewCurve("loss")
	c.Add(0.5)
	c.Add(device{broken: true, clock: clock})
	display.End()
	if !strings.Contains(f.last.Plain(), "device lost") {
		t.Errorf("text %q", f.last.Plain())
	}
}

func TestCurveHoldsBoundedMemory(t *testing.T) {
	c := NewCurve("loss")
	for i := range 5 * maxPoints {
		v := 0.5
		if i == 3*maxPoints {
			v = 7
		}
		c.Add(v)
		if i%1000 == 0 {
			c.fetch()
		}
	}
	s := c.series[0]
	if len(s.values) > 2*maxPoints+1000 {
		t.Errorf("%d points held", len(s.values))
	}
	if _, hi := bounds(s.values, false); hi != 7 {
		t.Error("the peak is lost")
	}
	if !strings.Contains(c.String(), count(5*maxPoints)+" steps") {
		t.Errorf("text %q", c)
	}
}

func TestAddTo(t *testing.T) {
	c := NewCurve("loss")
	for i := range 10 {
		c.Add(float64(i))
		if i%5 == 4 {
			c.AddTo("validation", i)
		}
	}
	if s := c.find("validation"); len(s.steps) != 2 || s.steps[0] != 5 || s.steps[1] != 10 {
		t.Errorf("steps %v", s.steps)
	}
}

// A drawing may take 1% of the time: with one that takes 100 ms they come
// every 10 s.
func TestSlowDrawingsComeSeldom(t *testing.T) {
	clock := &ticker{}
	f := &slowFront{clock: clock}
	display.SetSink(f)
	defer display.SetSink(nil)
	c := NewCurve("loss")
	c.clock = clock.read
	display.Begin()
	for range 10_000 {
		clock.now = clock.now.Add(10 * time.Millisecond)
		c.Add(1.0)
	}
	if f.n < 9 || f.n > 11 {
		t.Errorf("%d drawings in 100 s, want 10", f.n)
	}
	display.End()
}

type slowFront struct {
	clock *ticker
	n     int
}

func (f *slowFront) Display(b display.Bundle, id string) { f.Update(b, id) }
func (f *slowFront) Clear(bool)                          {}
func (f *slowFront) Update(display.Bundle, string) {
	f.n++
	f.clock.now = f.clock.now.Add(100 * time.Millisecond)
}

func BenchmarkCurveAdd(b *testing.B) {
	c := NewCurve("loss")
	for i := range b.N {
		c.Add(float64(i))
	}
}

func BenchmarkCurveDraw(b *testing.B) {
	c := NewCurve("loss")
	for i := range 100_000 {
		c.Add(math.Exp(-float64(i) / 1e4))
	}
	for range b.N {
		c.Bundle()
	}
}
