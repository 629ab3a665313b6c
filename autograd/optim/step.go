package optim

import (
	"errors"

	"gradbook/autograd"
	"gradbook/gpu"
	"gradbook/tensor"
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

// The outcomes of a step that met a fault.
const (
	before     = "the step was not taken, and its gradients are dropped"
	after      = "the step was taken, after a launch that failed was tried again"
	incomplete = "the step is incomplete, and its rest comes before the next one"
	still      = "the step before is still incomplete; this one was not taken, and its gradients are dropped"
)

// Step updates each parameter that got a gradient since the last step, and
// takes these gradients as used. It panics if there is none. If the device
// fails or an interrupt is in force it panics with a *StepError, which tells
// whether the step was taken. The gradients are used up either way, so that a
// loop that is run again starts from nothing.
func (o *Optimizer) Step() {
	defer o.useGrads()
	if err := o.flush(); err != nil {
		panic(&StepError{o.name, still, err})
	}
	if o.dev.Interrupted() {
		panic(&StepError{o.name, before, &gpu.InterruptedError{Kernel: gpu.Count}})
	}
	rate := o.Rate()
	var launches []launch
	var touched []*gpu.Storage
	if err := attempt(func() { launches, touched = o.prepare(rate) }); err != nil {
		panic(&StepError{o.name, before, err})
	}
	if len(launches) == 0 {
		tensor.Fail(o.name, "no parameter has a new gradient", "call Backward first")
	}
	var failed error
	outcome := before
	unready := o.dev.Shield(func() {
		if failed = attempt(func() { o.counter.Count(1) }); failed != nil {
			return
		}
		o.pending, outcome = launches, after
		failed = o.run()
		if len(o.pending) > 0 {
			outcome = incomplete
		}
	}, touched...)
	if outcome != before {
		o.steps++
	}
	if outcome == incomplete {
		o.takeGrads()
	}
	if unready != nil {
		failed = unready
	}
	if failed != nil {
		panic(&StepError{o.name, outcome, failed})
	}
	autograd.InReplay(o.dev, func() bool { return o.Rate() == rate }, func() { o.steps++ })
}

// prepare collects the launches of a step, makes what they need, and lists the
// storages that they use.
func (o *Optimizer) prepare(rate float64) (launches []launch, touched []*gpu.Storage) {
	touched = append(touched, o.counter.Storage())
	for i, p := range o.params {
		if !p.HasGrad() {
			continue
		}
		launches = append(launches, o.rule.prepare(o, rate, p.Value, p.Grad, o.slots[i])...)
		touched = append(touched, p.Value.Storage(), p.Grad.Storage())
		for _, s := range o.slots[i] {
			touched = append(touched, s.Storage())
		}
	}
	return launches, touched
}

// tries is how often a launch of a step is tried before the device is given up
// for now. A launch that fails has done nothing.
const tries = 3

// run runs the pending launches and keeps those that fail each time. It
// returns the first failure, of one that went well later too.
func (o *Optimizer) run() (first error) {
	var left []launch
	for _, l := range o.pending {
		err := attempt(l)
		for n := 1; err != nil && n < tries; n++ {
			if first == nil {
				first = err
			}
			err = attempt(l)
		}
		if err != nil {
			left = append(left, l)
		}
	}
	o.pending = left
	return first
}

// flush runs what is left of the step before.
func (o *Optimizer) flush() error {
	if len(o.pending) == 0 {
		return nil
	}
	var failed error
	unready := o.dev.Shield(func() { failed = o.run() })
	if len(o.pending) == 0 {
		return nil
	}
	return errors.Join(unready, failed)
}

func (o *Optimizer) useGrads() {
	for _, p := range o.params {
		p.UseGrad()
	}
}

// takeGrads takes the gradients away from the parameters, so that the next
// Backward cannot change what pending launches need.
func (o *Optimizer) takeGrads() {
	for _, p := range o.params {
		p.Grad = nil
	}
}

// attempt calls f and returns the error it panics with.
func attempt(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}
