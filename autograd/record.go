package autograd

import (
	"errors"
	"fmt"
	"sync"

	"gradbook/gpu"
	"gradbook/tensor"
)

// Step is a function of variables whose launches are recorded at the first
// call with inputs of given shapes, and run again, as one submission where the
// device can, at later ones.
//
// Its results have the bits that calling the function again would give: random
// counters and step counters are advanced on the device, so a replay advances
// them too. What a replay could not repeat panics at the first call: reading a
// value on the host, making a tensor of host data or a parameter. Everything
// else that is Go and not a launch, printing or counting, happens at the first
// call only.
type Step struct {
	f func(in []*Var) *Var

	mu    sync.Mutex
	takes map[string]*take
}

// take is a recording for inputs of given shapes.
type take struct {
	inputs   []*Var // where the inputs of a replay are put
	recorded *gpu.Recorded
	out      *Var
	hooks    []hook
}

// hook is what host code of an optimizer needs at a replay.
type hook struct {
	same  func() bool
	again func()
}

// Record makes a step of a function of inputs and targets, whose result is the
// loss:
//
//	step := autograd.Record(func(x, y *autograd.Var) *autograd.Var {
//		loss := nn.CrossEntropy(model.Forward(x), y)
//		loss.Backward()
//		opt.Step()
//		return loss
//	})
//	for _, b := range train.Batches(128) {
//		loss := step.Run(b.X, b.Y)
//	}
func Record(f func(x, y *Var) *Var) *Step {
	return RecordAll(func(in []*Var) *Var {
		if len(in) != 2 {
			tensor.Fail("record", fmt.Sprintf("the step takes 2 inputs, got %d", len(in)), "")
		}
		return f(in[0], in[1])
	})
}

// RecordAll is Record for a function of any number of inputs.
func RecordAll(f func(in []*Var) *Var) *Step { return &Step{f: f, takes: map[string]*take{}} }

// recordings are the takes being made, by device: optimizers add hooks to them.
var recordings struct {
	sync.Mutex
	on map[*gpu.Device]*take
}

// InReplay is for optimizers and others whose host code matters to a step. If
// dev is being recorded, each replay first asks same whether the host state is
// still what the launches were made for, and records anew if not; after a
// replay it calls again.
func InReplay(dev *gpu.Device, same func() bool, again func()) {
	recordings.Lock()
	defer recordings.Unlock()
	if t := recordings.on[dev]; t != nil {
		t.hooks = append(t.hooks, hook{same, again})
	}
}

func beingRecorded(dev *gpu.Device) bool {
	recordings.Lock()
	defer recordings.Unlock()
	return recordings.on[dev] != nil
}

// Run runs the step. The variable it returns is the same at each call with
// inputs of the same shapes, and holds the last result.
func (s *Step) Run(in ...*Var) *Var {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(in) == 0 {
		tensor.Fail("record", "the step got no input", "give the batch: a step without inputs would do the same each time")
	}
	key := ""
	for _, v := range in {
		key += fmt.Sprint(v.DType(), v.Shape(), v.Device())
	}
	t := s.takes[key]
	if t != nil && !t.same() {
		t.recorded.Close()
		delete(s.takes, key)
		t = nil
	}
	if t == nil {
		t = s.record(in)
		s.takes[key] = t
		return t.out
	}
	content, free := views(in)
	err := t.recorded.Replay(content...)
	free()
	if err == nil || errors.Is(err, gpu.ErrTriedTwice) {
		for _, h := range t.hooks {
			h.again()
		}
	}
	if err != nil {
		panic(&tensor.DeviceError{Op: "recorded step", Err: err})
	}
	return t.out
}

// same reports whether a replay would do what the function would.
func (t *take) same() bool {
	if t.recorded.Closed() { // the device was opened anew
		return false
	}
	for _, h := range t.hooks {
		if !h.same() {
			return false
		}
	}
	return true
}

// views are where the inputs' content lies, in one run each: copies where a
// tensor skips elements, until they are freed.
func views(in []*Var) (content []gpu.View, free func()) {
	var copies []*tensor.Tensor
	for _, v := range in {
		x := v.Value
		if !x.Contiguous() {
			x = x.Clone()
			copies = append(copies, x)
		}
		content = append(content, x.View())
	}
	return content, func() {
		for _, x := range copies {
			x.Free()
		}
	}
}

func (s *Step) record(in []*Var) *take {
	t := &take{}
	dev := in[0].Device()
	content, free := views(in)
	defer free()
	inputs := make([]gpu.Input, len(in))
	for i, v := range in {
		c := tensor.Maker{Device: v.Device(), DType: v.DType()}.Zeros(v.Shape()...).SetRole(gpu.Data)
		t.inputs = append(t.inputs, Const(c).Named(fmt.Sprintf("step input %d", i)))
		inputs[i] = gpu.Input{To: c.Storage(), From: content[i]}
	}
	dev.RandomState() // cannot be made inside
	tensor.On(dev).One()
	recordings.Lock()
	if recordings.on == nil {
		recordings.on = map[*gpu.Device]*take{}
	}
	recordings.on[dev] = t
	recordings.Unlock()
	defer func() {
		recordings.Lock()
		delete(recordings.on, dev)
		recordings.Unlock()
	}()
	recorded, err := dev.Record(func() error {
		t.out = s.f(t.inputs)
		return nil
	}, inputs...)
	if err != nil {
		panic(&tensor.DeviceError{Op: "recorded step", Err: err})
	}
	if t.out == nil {
		recorded.Close()
		tensor.Fail("record", "the step returned nil", "return the loss")
	}
	t.recorded = recorded
	recorded.SetName("step")
	return t
}

// Launches returns the number of launches of each recording, one for each set
// of shapes.
func (s *Step) Launches() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ns []int
	for _, t := range s.takes {
		ns = append(ns, t.recorded.Launches())
	}
	return ns
}

// Close frees the recordings. The next Run records anew.
func (s *Step) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.takes {
		t.recorded.Close()
	}
	clear(s.takes)
}
