package optim

import (
	"fmt"
	"math"

	"gradbook/tensor"
)

// Schedule is the factor of the learning rate at step t, counted from 0. A
// function of one's own is as good as those below.
type Schedule func(t int) float64

// StepLR multiplies the rate by gamma after each every steps.
func StepLR(every int, gamma float64) Schedule {
	positive("steplr", every)
	return func(t int) float64 { return math.Pow(gamma, float64(t/every)) }
}

// Cosine lets the rate fall along half a cosine from 1 to floor over total
// steps, and keeps it there (Loshchilov & Hutter 2017, without restarts).
func Cosine(total int, floor float64) Schedule {
	positive("cosine", total)
	return func(t int) float64 {
		x := math.Min(1, float64(t)/float64(total))
		return floor + (1-floor)*(1+math.Cos(math.Pi*x))/2
	}
}

// Warmup lets the rate rise in a line over the first n steps, the last of
// which has factor 1, and then follows next, which counts from 0 there; nil
// stays at 1.
func Warmup(n int, next Schedule) Schedule {
	positive("warmup", n)
	return func(t int) float64 {
		switch {
		case t < n:
			return float64(t+1) / float64(n)
		case next == nil:
			return 1
		}
		return next(t - n)
	}
}

func positive(op string, n int) {
	if n < 1 {
		tensor.Fail(op, fmt.Sprintf("got %d steps", n), "give one or more")
	}
}
