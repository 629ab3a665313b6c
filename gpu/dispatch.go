package gpu

import (
	"errors"
	"fmt"
)

// launchOrCompose launches a kernel, or what it is composed of.
func (d *Device) launchOrCompose(l Launch, args []View) error {
	if d.detour.takes(&l) {
		return d.goThrough(l, args)
	}
	err := d.launch(l)
	if !errors.Is(err, ErrDeclined) {
		return err
	}
	g, err := d.guard(l, args)
	if err != nil {
		return err
	}
	if generic := Kernels[l.Kernel].Generic; generic != nil {
		err = d.compose(generic, l)
	} else {
		err = d.runOnHost(l)
	}
	g.done(d, err)
	return err
}

func (d *Device) compose(generic func(*Composer, Launch), l Launch) error {
	c := &Composer{d: d}
	defer c.release()
	generic(c, l)
	if c.err != nil {
		return fmt.Errorf("composition of %s: %w", l.Kernel, c.err)
	}
	d.count.Declines++
	if d.observers != nil {
		seen := l
		d.emit(Event{Kind: Declined, Launch: &seen})
	}
	return nil
}

// primitive is launch for kernels that have no composition.
func (d *Device) primitive(l Launch) error {
	err := d.launch(l)
	if errors.Is(err, ErrDeclined) {
		return d.runOnHost(l)
	}
	return err
}

// runOnHost is the permissive device's way out.
func (d *Device) runOnHost(l Launch) error {
	if d.fallback == nil {
		return &UnsupportedError{l.Kernel, l.DType, d.info.Backend}
	}
	if d.recorder != nil {
		return d.recorder.refuse("%s falls back to the host", l.Kernel)
	}
	return d.fallback.run(d, l)
}

// guard keeps what several launches, one after the other, are about to write,
// so that the failure of one can be undone: a single launch that fails has
// written nothing, but a composition may have.
type guard struct{ kept []kept }

type kept struct {
	e      *entry
	backup Buffer // nil where the host copy can stand in
}

func (d *Device) guard(l Launch, args []View) (*guard, error) {
	g := &guard{}
	for i, v := range args {
		e := v.Storage.e
		if Kernels[l.Kernel].Args[i].Access == In || e.state == None {
			continue
		}
		k := kept{e: e}
		if e.state == OnDevice {
			b, err := d.take(e.bytes)
			if err == nil {
				err = d.clone(b, e.buf, e.bytes)
			}
			if err != nil {
				if b != nil {
					d.give(b)
				}
				g.done(d, nil)
				return nil, fmt.Errorf("%s: copy of %s before it is written: %w", l.Kernel, e.owner, err)
			}
			k.backup = b
		}
		g.kept = append(g.kept, k)
	}
	return g, nil
}

// clone copies the first bytes of one buffer to another.
func (d *Device) clone(dst, src Buffer, bytes int64) error {
	n := (bytes + 3) / 4 * 4 // a buffer's size is a multiple of poolGrain
	return d.copySpan(Span{dst, 0, n}, Span{src, 0, n})
}

// done gives the copies back, or after an error puts them in place.
func (g *guard) done(d *Device, err error) {
	for _, k := range g.kept {
		switch {
		case k.backup == nil:
			if err != nil {
				d.move(k.e, OnHost)
			}
		case err != nil && d.pins[k.e.buf] == nil:
			k.e.buf, k.backup = k.backup, k.e.buf
			d.give(k.backup)
		case err != nil: // a recording knows the buffer by its address
			d.clone(k.e.buf, k.backup, k.e.bytes)
			d.give(k.backup)
		default:
			d.give(k.backup)
		}
	}
}
