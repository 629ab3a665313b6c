package gpu

import "slices"

// Phase is a part of a training step, as far as kernels tell.
type Phase uint8

// The phases. Products, sums and copies serve all of them and are Other.
const (
	Other       Phase = iota
	Activations       // functions of elements and rows in the forward direction, and linear or conv2d with one of them
	Backward          // kernels of gradients
	Optimizer         // sgd_step and adam_step
)

func (p Phase) String() string {
	return [...]string{"other", "activations", "backward", "optimizer"}[p]
}

// PhaseOf returns the phase of a launch.
func PhaseOf(l *Launch) Phase {
	switch l.Kernel {
	case Unary, Softmax, LayerNorm, Dropout, MaxPool:
		return Activations
	case Linear:
		if p, ok := l.Params.(*LinearParams); ok && p.Act != Identity {
			return Activations
		}
	case Conv2D:
		if p, ok := l.Params.(*Conv2DParams); ok && p.Act != Identity {
			return Activations
		}
	case Binary:
		if p, ok := l.Params.(*BinaryParams); ok && p.Op >= ReLUBwd {
			return Backward
		}
	case LinearParamBwd, Conv2DBwd, Conv2DParamBwd, SoftmaxBwd, XentBwd, LayerNormBwd, LayerNormParamBwd, MaxPoolBwd, Col2im, ScatterAddRows:
		return Backward
	case SGDStep, AdamStep:
		return Optimizer
	}
	return Other
}

// Through sends the launches of some phases through b: their arguments come
// down, b runs them, and the results go up. The copies are counted, and each
// such launch in Fallbacks. It shows what a phase costs that is not on the
// device. Without phases everything runs on the device again. What goes through
// the host cannot be recorded.
func (d *Device) Through(b Backend, phases ...Phase) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.detour = nil
	if len(phases) > 0 {
		d.detour = &detour{fallback{b}, slices.Clone(phases)}
	}
}

type detour struct {
	fallback
	phases []Phase
}

// takes reports whether the launch goes through the host.
func (t *detour) takes(l *Launch) bool { return t != nil && slices.Contains(t.phases, PhaseOf(l)) }

// goThrough runs a launch of a detour.
func (d *Device) goThrough(l Launch, args []View) error {
	if d.recorder != nil {
		return d.recorder.refuse("%s, of phase %s, goes through the host", l.Kernel, PhaseOf(&l))
	}
	g, err := d.guard(l, args)
	if err != nil {
		return err
	}
	err = d.detour.run(d, l)
	g.done(d, err)
	return err
}
