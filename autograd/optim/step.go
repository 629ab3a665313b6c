package optim

import (
	"errors"
)

// StepError tells what became of a step during which the device failed.
type StepError struct {
	Optimizer string
	Outcome   string
	Err       error
}

func (e *StepError) Error() string { return e.Optimizer + ": " + e.Outcome + ": " + e.Err.Error() }
func (e *StepError) Unwrap() error { return e.Err }

// Interrupted reports whether an interrupt, not a fault, was in the way.
func (e *StepError) Interrupted() bool {
	var i interface{ Interrupted() bool }
	return errors.As(e.Err, &i) && i.Interrupted()
}

// tries is how often a launch of a step is tried before the device is given up
// for now.
const tries = 3

// attempt calls f and returns the error it panics with.
func attempt(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if err, ok = r.(error); !ok {
				panic(r)
			}
		}
	}()
	f()
	return nil
}

// count advances the step counter. A failure is final: nothing else of the
// step has happened yet.
func (o *Optimizer) count() error { return attempt(func() { o.counter.Count(1) }) }

// run runs the pending launches, which do not depend on each other's order,
// and keeps those that fail each time. It returns the first error met.
func (o *Optimizer) run() (first error) {
	var left []func()
	for _, launch := range o.pending {
		var err error
		for range tries {
			if err = attempt(launch); err == nil {
				break
			}
			if first == nil {
				first = err
			}
		}
		if err != nil {
			left = append(left, launch)
		}
	}
	o.pending = left
	return first
}

// flush runs what is left of the step before.
func (o *Optimizer) flush() (err error) {
	if len(o.pending) == 0 {
		return nil
	}
	o.dev.Shield(func() { err = o.run() })
	if len(o.pending) > 0 {
		return err
	}
	return nil
}

// holdGrads takes the gradients away from the parameters, so that the next
// Backward cannot change what pending launches still need.
func (o *Optimizer) holdGrads() {
	for _, p := range o.params {
		p.Grad = nil
	}
}
