package session

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gradbook/gpu"
)

// Trial is a model in training on one device, as Compare wants it.
type Trial struct {
	// Model is what leads to the parameters; it may be nil.
	Model any
	// Step does the i-th step, counted from 0, and returns the loss, nil if
	// it has none.
	Step func(i int) Number
}

// Number is a value that can be read, such as a variable with one element.
type Number interface{ Item() float64 }

// Plan is how devices are compared.
type Plan struct {
	Steps  int    // that are measured
	Warmup int    // steps before them, the first of which compiles kernels
	Seed   uint64 // of every device, before its model is built
}

// DefaultPlan measures 20 steps after 3.
var DefaultPlan = Plan{Steps: 20, Warmup: 3, Seed: 1}

// Comparison is the same training on several devices: plain data.
type Comparison struct {
	Plan      Plan
	Reference string // device that the others' numbers are compared with
	Rows      []Measured
}

// Measured is one device in a comparison. Figures per step are means over the
// measured steps; a step ends when the device has done its work.
type Measured struct {
	Device string // as it was asked for
	Info   gpu.Info
	Err    string // why there are no figures, "" if there are

	Times []time.Duration // of each measured step, in order
	// Median of the times, and the range in which the middle half lies.
	Median, Low, High time.Duration

	First      time.Duration // of the first step
	Launches   float64       // per step
	BytesUp    float64       // per step
	BytesDown  float64       // per step
	DeviceTime time.Duration // per step; 0 where the device cannot tell
	Peak       int64         // device bytes, most at once beyond what was there
	Fallbacks  int64         // launches that a permissive device ran on the host

	Losses []float64 // of every step, warm-up included; NaN for none
	// LossDiff and WeightDiff are the largest absolute differences from the
	// reference, of the losses of all steps and of the parameters after the
	// last; NaN where there is nothing to compare.
	LossDiff, WeightDiff float64

	weights map[string][]float64
}

// Compare trains what build makes on each of the devices, from the same seed,
// by DefaultPlan. Build is called with the device, which is also the one that
// new values go to while its model is trained. A device that cannot be opened
// or fails has a row that says why. The reference is "host" when it is among
// the devices, else the first that worked.
func (s *Session) Compare(build func(d *gpu.Device) Trial, devices ...string) *Comparison {
	return s.CompareBy(DefaultPlan, build, devices...)
}

// CompareBy is Compare by another plan.
func (s *Session) CompareBy(plan Plan, build func(d *gpu.Device) Trial, devices ...string) *Comparison {
	if plan.Steps < 1 || plan.Warmup < 0 {
		panic(fmt.Errorf("compare: %d steps after %d: at least one must be measured", plan.Steps, plan.Warmup))
	}
	if len(devices) == 0 {
		panic(errors.New(`compare: name the devices, such as "host", "vulkan"`))
	}
	before, err := s.Device()
	if err != nil {
		panic(err)
	}
	defer s.restore(before)
	c := &Comparison{Plan: plan}
	for _, name := range devices {
		c.Rows = append(c.Rows, s.measure(plan, build, name))
	}
	c.judge()
	return c
}

func (s *Session) restore(d *gpu.Device) {
	s.devMu.Lock()
	defer s.devMu.Unlock()
	s.current = d
	gpu.SetDefault(d)
}

// measure runs a plan on one device. An interrupt goes through; every other
// failure becomes the row's.
func (s *Session) measure(plan Plan, build func(d *gpu.Device) Trial, name string) (m Measured) {
	m = Measured{Device: name, LossDiff: math.NaN(), WeightDiff: math.NaN()}
	d, err := s.Use(name)
	if err != nil {
		m.Err = err.Error()
		return m
	}
	m.Info = d.Info()
	defer d.Collect()
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if stop, ok := p.(interface{ Interrupted() bool }); ok && stop.Interrupted() || s.Stopped() {
			panic(p)
		}
		m.Err = fmt.Sprint(p)
	}()
	if err := d.Seed(plan.Seed); err != nil {
		panic(err)
	}
	d.ResetPeak()
	held := d.Counters().PeakBytes
	trial := build(d)
	if trial.Step == nil {
		panic(errors.New("compare: the trial has no Step"))
	}
	var total gpu.Counters
	var busy time.Duration
	for i := range plan.Warmup + plan.Steps {
		if s.Stopped() {
			panic(&Interrupted{"compare on " + name})
		}
		before := d.Totals()
		began := time.Now()
		loss := trial.Step(i)
		if err := d.Sync(); err != nil {
			panic(err)
		}
		took := time.Since(began)
		after := d.Totals()
		// Reading the loss is the comparison's doing, not the step's.
		m.Losses = append(m.Losses, item(loss))
		if i == 0 {
			m.First = took
		}
		if i >= plan.Warmup {
			m.Times = append(m.Times, took)
			add(&total, after.Counters.Sub(before.Counters))
			busy += kernelTime(after) - kernelTime(before)
		}
	}
	m.Low, m.Median, m.High = quartiles(m.Times)
	n := float64(plan.Steps)
	m.Launches = float64(total.TotalLaunches()) / n
	m.BytesUp, m.BytesDown = float64(total.BytesUp)/n, float64(total.BytesDown)/n
	m.Fallbacks = total.Fallbacks
	m.DeviceTime = busy / time.Duration(plan.Steps)
	m.Peak = d.Counters().PeakBytes - held
	m.weights = parameters(trial.Model)
	return m
}

func quartiles(times []time.Duration) (low, median, high time.Duration) {
	sorted := slices.Sorted(slices.Values(times))
	at := func(q float64) time.Duration { return sorted[int(math.Round(q*float64(len(sorted)-1)))] }
	return at(0.25), at(0.5), at(0.75)
}

func item(n Number) float64 {
	if n == nil {
		return math.NaN()
	}
	return n.Item()
}

// add adds what Measured tells of.
func add(sum *gpu.Counters, c gpu.Counters) {
	for k, n := range c.Launches {
		sum.Launches[k] += n
	}
	sum.BytesUp += c.BytesUp
	sum.BytesDown += c.BytesDown
	sum.Fallbacks += c.Fallbacks
}

func kernelTime(s gpu.Snapshot) (t time.Duration) {
	for _, k := range s.Backend.KernelTime {
		t += k
	}
	return t
}

// parameters are the numbers of the parameters that a model leads to, by path.
func parameters(model any) map[string][]float64 {
	if model == nil {
		return nil
	}
	found := map[string][]float64{}
	for _, h := range holders("model", model) {
		if v, ok := h.value.(interface{ Float64s() []float64 }); ok && h.storage.Owner().Role == gpu.Parameter {
			found[h.path] = v.Float64s()
		}
	}
	return found
}

// judge chooses the reference and compares the others with it.
func (c *Comparison) judge() {
	ref := -1
	for i, r := range c.Rows {
		if r.Err == "" && (ref < 0 || r.Info.Backend == "host" && c.Rows[ref].Info.Backend != "host") {
			ref = i
		}
	}
	if ref < 0 {
		return
	}
	c.Reference = c.Rows[ref].Device
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Err != "" {
			continue
		}
		r.LossDiff = furthest(r.Losses, c.Rows[ref].Losses)
		for path, w := range r.weights {
			d := furthest(w, c.Rows[ref].weights[path])
			if !(d <= r.WeightDiff) {
				r.WeightDiff = d
			}
		}
	}
}

// furthest is the largest absolute difference; NaN when a number is missing on
// one side only, or all are.
func furthest(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	most := math.NaN()
	for i := range a {
		if math.IsNaN(a[i]) && math.IsNaN(b[i]) {
			continue
		}
		d := math.Abs(a[i] - b[i])
		if math.IsNaN(d) {
			return d
		}
		if !(d <= most) {
			most = d
		}
	}
	return most
}
