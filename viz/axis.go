package viz

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// axis maps values to pixels.
type axis struct {
	lo, hi   float64 // values at the ends
	from, to float64 // pixels at the ends
	log      bool
	ticks    []float64
}

// linearAxis spans lo to hi, widened to whole ticks when widen is set.
func linearAxis(lo, hi, from, to float64, ticks int, widen bool) axis {
	if !(hi > lo) {
		pad := math.Max(math.Abs(lo)*0.1, 0.5)
		lo, hi = lo-pad, hi+pad
	}
	step := niceStep((hi - lo) / float64(ticks))
	a := axis{lo: lo, hi: hi, from: from, to: to}
	if widen {
		a.lo, a.hi = math.Floor(lo/step+1e-9)*step, math.Ceil(hi/step-1e-9)*step
	}
	for i := math.Ceil(a.lo/step - 1e-9); i*step <= a.hi+step*1e-9; i++ {
		a.ticks = append(a.ticks, i*step)
	}
	return a
}

// logAxis spans lo to hi, both positive, widened to whole powers of ten or,
// within one or two, to 1, 2 or 5 times one.
func logAxis(lo, hi, from, to float64) axis {
	a := axis{from: from, to: to, log: true}
	mults := []float64{1}
	if math.Log10(hi/lo) < 2 {
		mults = []float64{1, 2, 5}
	}
	var all []float64
	first, last := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi))
	// More than eight labels are clutter.
	every := math.Max(1, math.Ceil((last-first)/8))
	for e := first; e <= last; e++ {
		if math.Mod(e-first, every) != 0 && len(mults) == 1 {
			continue
		}
		for _, m := range mults {
			all = append(all, m*math.Pow(10, e))
		}
	}
	begin, end := 0, len(all)-1
	for begin < end && all[begin+1] <= lo*(1+1e-9) {
		begin++
	}
	for end > begin && all[end-1] >= hi*(1-1e-9) {
		end--
	}
	if begin == end && end+1 < len(all) {
		end++
	}
	a.ticks = all[begin : end+1]
	a.lo, a.hi = math.Min(lo, a.ticks[0]), math.Max(hi, a.ticks[len(a.ticks)-1])
	return a
}

// at is the pixel of v, NaN when the axis cannot show it.
func (a axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		if v <= 0 {
			return math.NaN()
		}
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// niceStep is the next of 1, 2, 5 times a power of ten.
func niceStep(raw float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= raw*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// tickLabel writes a tick's value.
func (a axis) label(v float64) string {
	if v == 0 {
		return "0"
	}
	if m := math.Abs(v); m >= 1e6 || m < 1e-4 {
		return strings.Replace(strconv.FormatFloat(v, 'e', -1, 64), "e-0", "e-", 1)
	}
	digits := 0
	if !a.log && len(a.ticks) > 1 {
		digits = int(math.Max(0, math.Ceil(-math.Log10(a.ticks[1]-a.ticks[0])-1e-9)))
		return thousands(strconv.FormatFloat(v, 'f', digits, 64))
	}
	return thousands(strconv.FormatFloat(v, 'g', 4, 64))
}

// thousands puts commas into the whole part of a decimal number.
func thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, frac, dot := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		whole += "." + frac
	}
	return sign + whole
}

func count(n int64) string { return thousands(strconv.FormatInt(n, 10)) }

// plural is "1 step", "2,000 steps".
func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}

// value writes a number with four significant digits.
func value(v float64) string {
	switch m := math.Abs(v); {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(fmt.Sprint(v), "+")
	case v == 0:
		return "0"
	case m >= 1e5 || m < 1e-4:
		return strconv.FormatFloat(v, 'e', 3, 64)
	case m >= 1000:
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	}
	digits := 3 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', digits, 64)
}
