package gpu

import (
	"errors"
	"fmt"
	"runtime"
)

// StoppedError tells that a replay came to an end before its end: its first
// Done launches have run, the others have not.
type StoppedError struct {
	Done, Of int
	Err      error
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("replay: stopped after %d of %d launches: %v", e.Done, e.Of, e.Err)
}
func (e *StoppedError) Unwrap() error { return e.Err }

// ErrTriedTwice is in the error of a replay that ran whole, but for which a
// launch had to be tried twice.
var ErrTriedTwice = errors.New("a launch had to be tried twice")

// Replay runs the launches again, on the same buffers, with the bits that
// running the function again would give. Storages that were written by the
// host since are uploaded first. An interrupt acts before the replay or after
// it. A launch that fails is tried once more; if that goes well so does the
// rest of the replay, and the failure is returned after it.
//
// Content is what the inputs are filled from, one view for each, as long as the
// input is; nothing is copied that lies there already. An input whose view has
// no storage, and without content all, stay as they are.
func (rec *Recorded) Replay(content ...View) error {
	defer runtime.KeepAlive(rec)
	defer runtime.KeepAlive(content)
	r := rec.r
	d := r.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return ErrClosed
	case r.closed:
		return errors.New("gpu: replay of a closed recording")
	case d.recorder != nil:
		return d.recorder.refuse("another recording is replayed")
	case d.shield == 0 && d.stop.Load():
		return &InterruptedError{r.first()}
	case len(content) > 0 && len(content) != len(r.fed):
		return fmt.Errorf("gpu: replay: content for %d inputs, the recording has %d", len(content), len(r.fed))
	}
	d.clock++
	r.lastUse = d.clock
	for _, s := range r.inputs {
		if err := d.usable(s.e); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		s.e.lastUse = d.clock
	}
	sources, aside, err := d.gather(r.fed, content, r.buffers)
	defer func() {
		for _, b := range aside {
			d.give(b)
		}
	}()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	for _, s := range r.inputs {
		if s.e.state == OnHost && !r.sourced(s, sources) {
			if err := d.bring(s.e); err != nil {
				return fmt.Errorf("replay: %w", err)
			}
		}
	}
	ran, err := d.replay(r, content, sources)
	d.clock++ // what the launches wrote to is newer than what the inputs were given
	for _, e := range r.written {
		if ran && !e.freed {
			e.lastUse = d.clock
			e.changed = d.clock
			d.move(e, OnDevice)
		}
	}
	return err
}

// sourced reports that a storage will be copied to.
func (r *recording) sourced(s *Storage, sources []Span) bool {
	for i, from := range sources {
		if r.fed[i].to == s && from.Buffer != nil {
			return true
		}
	}
	return false
}

func (r *recording) first() Kernel {
	if len(r.launches) == 0 {
		return 0
	}
	return r.launches[0].Kernel
}

// replay reports whether any of the launches ran.
func (d *Device) replay(r *recording, content []View, sources []Span) (ran bool, err error) {
	if r.compiled != nil {
		err := r.compiled.Replay(sources)
		if err == nil {
			d.filledAll(r.fed, content, sources)
		} else if errors.Is(err, ErrDeclined) {
			if err = d.fill(r.fed, content, sources); err == nil {
				err = r.compiled.Replay(nil)
			}
		}
		if err != nil {
			return false, fmt.Errorf("replay: %w", err)
		}
		for k, n := range r.counts {
			d.count.Launches[k] += n
		}
		if d.observers != nil {
			d.emit(Event{Kind: Replayed, Count: len(r.launches)})
		}
		return true, nil
	}
	if err := d.fill(r.fed, content, sources); err != nil {
		return false, fmt.Errorf("replay: %w", err)
	}
	var failed error
	for i, l := range r.launches {
		first := d.launch(l)
		if first == nil {
			continue
		}
		if err := d.launch(l); err != nil {
			return i > 0, &StoppedError{i, len(r.launches), err}
		}
		if failed == nil {
			failed = fmt.Errorf("replay: done, but %w: %w", ErrTriedTwice, first)
		}
	}
	return true, failed
}
