package viz

import (
	"fmt"
	"math"
	"sync"
	"time"

	"gradbook/viz/display"
)

// Curve is a chart of numbers over steps. While a cell runs, it shows itself
// below and follows what is added:
//
//	curve := viz.NewCurve("loss")
//	for … {
//		curve.Add(loss)
//	}
//
// A number that is still on a device stays there until the next drawing, so
// Add does not wait. Drawings come at most five a second; they and the copies
// on the device together take at most 2% of the time. When a loop is so fast
// that copies alone would take 1%, Add leaves steps out, and the curve says how
// many. A Curve may be used by several goroutines.
type Curve struct {
	mu     sync.Mutex
	series []*series
	xLabel string
	log    bool
	smooth float64

	step    int
	pending []pending // numbers on a device, oldest first
	begun   time.Time // of the first Add since the last pause
	keeping time.Duration

	id     string // of the display in the running cell; "" before it is shown
	live   bool   // the running cell's end is awaited
	drawn  time.Time
	took   time.Duration // the last drawing
	failed error         // why numbers on a device were lost
	clock  func() time.Time
}

// series is one line. Its points are in the order of steps.
type series struct {
	name    string
	color   string
	steps   []int
	values  []float64
	seen    int // points added, those left out and merged included
	skipped int // left out for their cost
	merged  bool
	// The last point that was left out: it is kept after all when no other
	// comes after it.
	left     func() func() float64
	leftStep int
}

// pending is a point whose value is on a device.
type pending struct {
	s     *series
	at    int // index in s.values
	later func() float64
}

const (
	drawEvery = 200 * time.Millisecond
	// costShare is the part of the time that drawing may take, and the part
	// that keeping values on the device may take.
	costShare = 100
	// costGrace is kept without looking at the cost.
	costGrace = 10 * time.Millisecond
	// mostCost is booked for one number at most: what takes longer is another
	// process's turn, or the collector's.
	mostCost = 50 * time.Microsecond
	// maxPending numbers wait on a device, where no cell draws them sooner.
	maxPending = 1 << 12
	// maxPoints a series are held on the host; twice as many are merged.
	maxPoints = 1 << 17
)

// NewCurve makes a curve with a series for each name.
func NewCurve(names ...string) *Curve {
	c := &Curve{xLabel: "step", clock: time.Now}
	for _, n := range names {
		c.find(n)
	}
	return c
}

// Log puts the values on a logarithmic axis and returns c. Values that are not
// positive have no place there; the curve says how many.
func (c *Curve) Log() *Curve {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = true
	return c
}

// Smooth draws, over the faint raw values, their exponential moving average
// with the given weight of the past, 0 (off) up to but without 1, and returns
// c.
func (c *Curve) Smooth(weight float64) *Curve {
	if !(weight >= 0 && weight < 1) {
		panic(fmt.Errorf("viz: Smooth(%v): the weight of the past is 0 or more and less than 1", weight))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.smooth = weight
	return c
}

// XLabel names what the steps are, "step" unless set, and returns c.
func (c *Curve) XLabel(label string) *Curve {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.xLabel = label
	return c
}

// Add adds a step: one value for each series in the order of NewCurve, or
// fewer. A value is a number, or a variable or tensor with one element.
func (c *Curve) Add(values ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.series) == 0 {
		c.find("value")
	}
	if len(values) > len(c.series) {
		panic(fmt.Errorf("viz: %d values for a curve with %d series; name them in NewCurve", len(values), len(c.series)))
	}
	c.step++
	for i, v := range values {
		c.put(c.series[i], v)
	}
	c.follow()
}

// AddTo adds a value to the named series at the last step of Add, or begins
// such a series: a validation loss once an epoch.
func (c *Curve) AddTo(name string, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(c.find(name), value)
	c.follow()
}

// Values returns the values of the named series so far, and waits for those
// that are on a device.
func (c *Curve) Values(name string) []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fetch()
	for _, s := range c.series {
		if s.name == name {
			return append([]float64(nil), s.values...)
		}
	}
	return nil
}

func (c *Curve) find(name string) *series {
	for _, s := range c.series {
		if s.name == name {
			return s
		}
	}
	s := &series{name: name, color: seriesColor(len(c.series))}
	c.series = append(c.series, s)
	return s
}

func (c *Curve) put(s *series, v any) {
	if c.begun.IsZero() {
		c.begun = c.clock()
	}
	now, later := number(v)
	if now == nil && later == nil {
		panic(fmt.Errorf("viz: curve %q cannot draw a %T: add a number, or a variable or tensor with one element", s.name, v))
	}
	s.seen++
	if later == nil {
		s.push(c.step, *now)
		return
	}
	if c.keeping > costGrace+c.clock().Sub(c.begun)/costShare {
		s.skipped++
		s.left, s.leftStep = later, c.step
		return
	}
	c.keep(s, c.step, later)
}

// keep keeps a number where it is, to be read at the next drawing.
func (c *Curve) keep(s *series, step int, later func() func() float64) {
	start := c.clock()
	read := later()
	c.keeping += min(mostCost, c.clock().Sub(start))
	s.left = nil
	s.push(step, math.NaN())
	c.pending = append(c.pending, pending{s, len(s.values) - 1, read})
	if len(c.pending) == maxPending {
		c.fetch()
	}
}

func (s *series) push(step int, v float64) {
	s.steps = append(s.steps, step)
	s.values = append(s.values, v)
}

// number returns v's value, or how to keep it where it is: calling the second
// result keeps the value as of now and returns what reads it.
func number(v any) (now *float64, later func() func() float64) {
	is := func(f float64) (*float64, func() func() float64) { return &f, nil }
	switch v := v.(type) {
	case float64:
		return is(v)
	case float32:
		return is(float64(v))
	case int:
		return is(float64(v))
	case int64:
		return is(float64(v))
	case int32:
		return is(float64(v))
	case interface{ Later() func() float64 }:
		return nil, v.Later
	}
	return nil, nil
}

// fetch brings what is on a device.
func (c *Curve) fetch() {
	for _, p := range c.pending {
		p.s.values[p.at] = c.read(p.later)
	}
	clear(c.pending)
	c.pending = c.pending[:0]
	for _, s := range c.series {
		s.merge()
	}
}

// read survives a device that cannot be read any more: the cell's own error
// tells of it, and the curve must not add another.
func (c *Curve) read(later func() float64) (v float64) {
	v = math.NaN()
	defer func() {
		if p := recover(); p != nil {
			err, ok := p.(error)
			if !ok {
				err = fmt.Errorf("%v", p)
			}
			c.failed = err
		}
	}()
	return later()
}

// merge halves the older points when there are too many, keeping the least and
// the largest of each four.
func (s *series) merge() {
	if len(s.values) < 2*maxPoints {
		return
	}
	keep := envelope(s.values, maxPoints)
	for i, j := range keep {
		s.steps[i], s.values[i] = s.steps[j], s.values[j]
	}
	s.steps, s.values = s.steps[:len(keep)], s.values[:len(keep)]
	s.merged = true
}

// follow shows the curve in the running cell and keeps it up to date.
func (c *Curve) follow() {
	if !c.live {
		if c.live = display.AtEnd(c.end); !c.live {
			return
		}
		c.id, c.drawn = "", c.clock()
	}
	if c.clock().Sub(c.drawn) >= max(drawEvery, costShare*c.took) {
		c.draw()
	}
}

func (c *Curve) draw() {
	start := c.clock()
	b := c.bundle()
	if c.id == "" {
		c.id = display.NewID()
		display.ShowID(b, c.id)
	} else {
		display.Update(b, c.id)
	}
	c.drawn = c.clock()
	c.took = c.drawn.Sub(start)
}

// end draws the last state in the cell that ends. The next cell gets a drawing
// of its own.
func (c *Curve) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.series {
		if s.left != nil {
			c.keepLast(s)
		}
	}
	c.draw()
	c.live, c.begun, c.keeping = false, time.Time{}, 0
}

// keepLast keeps the last point, which was left out. A device that was
// interrupted or lost does not take it.
func (c *Curve) keepLast(s *series) {
	defer func() {
		if recover() == nil {
			s.skipped--
		}
		s.left = nil
	}()
	c.keep(s, s.leftStep, s.left)
}

// Bundle shows the curve as it is now.
func (c *Curve) Bundle() display.Bundle {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bundle()
}

// String is the curve as a sparkline.
func (c *Curve) String() string { return c.Bundle().Plain() }
