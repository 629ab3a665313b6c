package viz

import (
	"html"
	"math"
	"strings"
)

// envelope chooses at most about n of the values, by index: of each stretch
// the least and the largest, so that no peak is lost, and what is not a number
// when a stretch has one; the first and the last value always.
func envelope(vs []float64, n int) []int {
	keep := make([]int, 0, min(len(vs), n+3))
	if len(vs) <= n {
		for i := range vs {
			keep = append(keep, i)
		}
		return keep
	}
	stretches := n / 2
	for s := range stretches {
		from, to := s*len(vs)/stretches, (s+1)*len(vs)/stretches
		lo, hi, bad := from, from, -1
		for i := from; i < to; i++ {
			switch v := vs[i]; {
			case math.IsNaN(v) || math.IsInf(v, 0):
				bad = i
			case !(v >= vs[lo]):
				lo = i
			case !(v <= vs[hi]):
				hi = i
			}
		}
		a, b := min(lo, hi), max(lo, hi)
		if s == 0 && a != 0 {
			keep = append(keep, 0)
		}
		if bad >= 0 {
			a, b = min(a, bad), max(a, bad)
		}
		keep = append(keep, a)
		if b != a {
			keep = append(keep, b)
		}
	}
	if last := len(vs) - 1; keep[len(keep)-1] != last {
		keep = append(keep, last)
	}
	return keep
}

// average is the exponential moving average with the given weight of the past,
// corrected for its start (as Adam corrects its moments); what is not a number
// stays and is left out of what follows.
func average(vs []float64, weight float64) []float64 {
	out := make([]float64, len(vs))
	sum, total := 0.0, 0.0
	for i, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out[i] = v
			continue
		}
		sum = weight*sum + (1-weight)*v
		total = weight*total + (1 - weight)
		out[i] = sum / total
	}
	return out
}

var sparks = []rune("▁▂▃▄▅▆▇█")

// spark draws values as a line of at most width bars, each the mean of a
// stretch. What is not a number, or not positive on a log scale, is a blank.
func spark(vs []float64, width int, log bool) string {
	width = min(width, len(vs))
	means := make([]float64, width)
	for i := range means {
		sum, n := 0.0, 0
		for _, v := range vs[i*len(vs)/width : (i+1)*len(vs)/width] {
			if log {
				v = math.Log(v)
			}
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				sum += v
				n++
			}
		}
		means[i] = sum / float64(n)
	}
	lo, hi := bounds(means, false)
	var b strings.Builder
	for _, m := range means {
		switch {
		case math.IsNaN(m):
			b.WriteRune(' ')
		case hi == lo:
			b.WriteRune(sparks[3])
		default:
			b.WriteRune(sparks[min(7, int((m-lo)/(hi-lo)*8))])
		}
	}
	return b.String()
}

func htmlEscape(s string) string { return html.EscapeString(s) }
