package vulkan

import (
	"fmt"
	"slices"
	"time"

	"gradbook/gpu"
	"gradbook/gpu/kernels"
)

const (
	// slots is how many untimed replays of a recording can be under way. More
	// gain nothing: the device never waits for the host (H200, steps of 90 us).
	slots = 2
	// often is how many replays are booked by the times of the first two.
	often = 64
)

// recording is a list of launches in command buffers of its own, in three forms.
// A timestamp costs time, and what comes after it cannot overlap what came before.
// So few replays have any, and the others are booked with the time of the last
// whole one, shared as by launches that each ran alone.
type recording struct {
	b       *Backend
	untimed [slots]*batch
	whole   *batch // the same with a timestamp at either end
	byOne   *batch // launches wait for one another, and are timed
	replays int

	took  time.Duration                 // by whole
	alone [gpu.NumKernels]time.Duration // by byOne

	scratch *buffer
	buffers []*buffer
}

// planned is a launch of a recording. Scratch memory is its own, so that only
// arguments order launches.
type planned struct {
	*gpu.Launch
	plan    kernels.Plan
	scratch int64 // where its part begins
}

// Record writes the launches into command buffers that Replay submits whole.
func (b *Backend) Record(launches []gpu.Launch, _ []gpu.Span) (gpu.Recording, error) {
	if b.lost != nil {
		return nil, b.lost
	}
	r := &recording{b: b}
	all := make([]planned, len(launches))
	steps := make([]int, len(launches))
	scratch := int64(0)
	for i := range launches {
		p := &all[i]
		p.Launch = &launches[i]
		if err := b.prepare(&p.plan, p.Launch); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Kernel, err)
		}
		steps[i] = p.plan.N
		p.scratch = scratch
		scratch += (p.plan.Scratch + align - 1) / align * align
		for _, a := range p.Args {
			if m := a.Buffer.(*buffer); !slices.Contains(r.buffers, m) {
				r.buffers = append(r.buffers, m)
			}
		}
	}
	if scratch > 0 {
		m, err := b.alloc(b.local, scratch)
		if err != nil {
			return nil, fmt.Errorf("scratch memory of %s: %w", gpu.Bytes(scratch), err)
		}
		r.scratch = m
		r.buffers = append(r.buffers, m)
	}
	if err := r.writeForms(all, overlapped(launches, steps), oneByOne(steps)); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *recording) writeForms(all []planned, overlapped, oneByOne []dispatch) (err error) {
	for i := range r.untimed {
		if r.untimed[i], err = r.write(all, overlapped, 0); err != nil {
			return err
		}
	}
	if !r.b.physical.timestamps {
		return nil
	}
	if r.whole, err = r.write(all, overlapped, 2); err != nil {
		return err
	}
	r.byOne, err = r.write(all, oneByOne, len(all)+1)
	return err
}

// write makes a batch of dispatches with so many timestamps: none, one at either
// end, or one before each launch and one at the end.
func (r *recording) write(all []planned, order []dispatch, stamps int) (*batch, error) {
	b := r.b
	t, err := b.newBatch(stamps)
	if err != nil {
		return nil, err
	}
	t.replay = r
	err = b.open(t, stamps)
	for _, d := range order {
		if err != nil {
			break
		}
		p := &all[d.launch]
		scratch := uint64(0)
		if p.plan.Scratch > 0 {
			scratch = r.scratch.address() + uint64(p.scratch)
		}
		err = b.dispatch(t, &p.plan, d.step, p.DType, scratch, d.barrier, d.step == 0 && t.stamps < stamps-1)
		if d.step == 0 {
			t.marks = append(t.marks, mark{p.Kernel, p.DType, t.stamps - 1})
		}
	}
	if err == nil {
		err = b.shut(t)
	}
	if err != nil {
		b.dropBatch(t)
		return nil, err
	}
	return t, nil
}

// book adds the time of a replay to the kernels in it.
func (r *recording) book() {
	sum := time.Duration(0)
	for _, d := range r.alone {
		sum += d
	}
	if sum == 0 {
		return
	}
	for k, d := range r.alone {
		r.b.spent[k] += time.Duration(float64(r.took) * float64(d) / float64(sum))
	}
}

// form is the batch for the next replay.
func (r *recording) form() *batch {
	n := r.replays
	r.replays++
	switch {
	case n%often == 0 && r.byOne != nil:
		return r.byOne
	case n%often == 1 && r.whole != nil:
		return r.whole
	}
	return r.untimed[n%slots]
}

// Replay submits the launches after everything launched before. Their buffers'
// addresses are part of the command buffers, so it does not fill inputs.
func (r *recording) Replay(sources []gpu.Span) error {
	b := r.b
	if b.lost != nil {
		return b.lost
	}
	if slices.ContainsFunc(sources, func(s gpu.Span) bool { return s.Buffer != nil }) {
		return gpu.ErrDeclined
	}
	t := r.form()
	for slices.Contains(b.flight, t) {
		if err := b.retireOldest(); err != nil {
			return err
		}
	}
	first, err := b.end()
	if err != nil {
		return err
	}
	if err := b.send(first, t); err != nil {
		return err
	}
	for _, m := range r.buffers {
		m.used = t.serial
	}
	return b.poll()
}

// Close frees the command buffers once they have run.
func (r *recording) Close() {
	b := r.b
	for _, t := range append(r.untimed[:], r.whole, r.byOne) {
		if t == nil {
			continue
		}
		for b.lost == nil && slices.Contains(b.flight, t) {
			if b.retireOldest() != nil {
				break
			}
		}
		b.flight = slices.DeleteFunc(b.flight, func(o *batch) bool { return o == t })
		b.dropBatch(t)
	}
	r.untimed, r.whole, r.byOne = [slots]*batch{}, nil, nil
	if r.scratch != nil {
		b.free(r.scratch)
		r.scratch = nil
	}
}
