package gpu

import (
	"errors"
	"fmt"
	"slices"
)

// Input is a storage that a recording reads, and where its content comes from
// while it is recorded. Each replay may name another place.
type Input struct {
	To   *Storage
	From View // of To's size
}

// input is what a recording knows of an Input: where the content that lies
// there is from.
type input struct {
	to              *Storage
	from            uint64 // storage; 0: unknown
	changed, copied uint64 // last writes to that storage, and to the input
	offset          int64
}

// holds reports that v's content lies in the input already.
func (in *input) holds(v View) bool {
	s, e := v.Storage.e, in.to.e
	return s == e || in.from == s.id && in.changed == s.changed && in.offset == v.Offset && in.copied == e.changed
}

// took notes that v's content was put into the input.
func (in *input) took(v View, clock uint64) {
	in.to.e.changed = clock
	s := v.Storage.e
	*in = input{in.to, s.id, s.changed, clock, v.Offset}
}

// acceptable says why an input cannot be filled from v.
func (d *Device) acceptable(in *input, v View) error {
	if err := d.usable(in.to.e); err != nil {
		return err
	}
	if err := d.usable(v.Storage.e); err != nil {
		return err
	}
	switch e := v.Storage.e; {
	case v.Bytes%4 != 0 || v.Bytes != in.to.e.bytes || v.Offset < 0 || v.Offset+v.Bytes > e.bytes:
		return fmt.Errorf("bytes %d to %d of a storage of %d, for an input of %d bytes", v.Offset, v.Offset+v.Bytes, e.bytes, in.to.e.bytes)
	case e.state == None && e.bytes > 0:
		return e.missing()
	}
	return nil
}

// gather works out where inputs have to be copied from on the device: nothing
// where the content lies there already, or where the host has it and it goes up
// like all that the host has written. A view without storage is left out. What
// the recording itself may write is copied aside first, to buffers that the
// caller gives back.
func (d *Device) gather(inputs []input, content []View, own []Buffer) (sources []Span, aside []Buffer, err error) {
	sources = make([]Span, len(inputs))
	for i, v := range content {
		in := &inputs[i]
		if v.Storage == nil {
			continue
		}
		if err := d.acceptable(in, v); err != nil {
			return nil, aside, fmt.Errorf("input %d: %w", i, err)
		}
		s, e := v.Storage.e, in.to.e
		s.lastUse, e.lastUse = d.clock, d.clock
		if v.Bytes == 0 || in.holds(v) {
			continue
		}
		if s.state == OnHost {
			e.host = s.host[v.Offset:][:v.Bytes:v.Bytes]
			d.move(e, OnHost)
			in.took(v, d.clock)
			continue
		}
		sources[i] = Span{s.buf, v.Offset, v.Bytes}
		if slices.Contains(own, s.buf) {
			b, err := d.take(v.Bytes)
			if err != nil {
				return nil, aside, err
			}
			aside = append(aside, b)
			to := Span{b, 0, v.Bytes}
			if err := d.copySpan(to, sources[i]); err != nil {
				return nil, aside, err
			}
			sources[i] = to
		}
	}
	return sources, aside, nil
}

// fill copies to the inputs that have a source, launch by launch.
func (d *Device) fill(inputs []input, content []View, sources []Span) error {
	for i, s := range sources {
		if s.Buffer == nil {
			continue
		}
		in := &inputs[i]
		if err := d.copySpan(in.span(), s); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		d.filled(in, content[i])
	}
	return nil
}

func (in *input) span() Span { return Span{in.to.e.buf, 0, in.to.e.bytes} }

// filled books that v's content was copied to an input on the device.
func (d *Device) filled(in *input, v View) {
	d.move(in.to.e, OnDevice)
	in.took(v, d.clock)
}

// filledAll books the copies that a backend made as part of a replay.
func (d *Device) filledAll(inputs []input, content []View, sources []Span) {
	for i, s := range sources {
		if s.Buffer == nil {
			continue
		}
		d.count.Launches[Copy]++
		if d.observers != nil {
			l := copyLaunch(inputs[i].span(), s)
			d.emit(Event{Kind: Launched, Launch: &l})
		}
		d.filled(&inputs[i], content[i])
	}
}

// copySpan launches a copy of one span to another, of whole words. It is no
// part of a recording: a replay is whole or fails.
func (d *Device) copySpan(dst, src Span) error {
	r := d.recorder
	d.recorder = nil
	defer func() { d.recorder = r }()
	return d.primitive(copyLaunch(dst, src))
}

func copyLaunch(dst, src Span) Launch {
	n := uint32(src.Bytes / 4)
	return Launch{Kernel: Copy, DType: Int32, Params: &CopyParams{N: n, Rank: 1, Dims: Dims{n}, X: Strides{1}}, Args: []Span{src, dst}}
}

// begin fills a recorder's inputs before its function runs. They stay on the
// device, as what the recording uses.
func (r *recorder) begin(inputs []Input) error {
	d := r.dev
	d.clock++
	content := make([]View, len(inputs))
	for i, in := range inputs {
		r.fed = append(r.fed, input{to: in.To})
		content[i] = in.From
		if in.From.Storage == nil {
			return fmt.Errorf("input %d: nothing to fill it from", i)
		}
	}
	sources, _, err := d.gather(r.fed, content, nil)
	if err != nil {
		return err
	}
	for i := range r.fed {
		s := r.fed[i].to
		if r.seen[s.e] {
			return errors.New("gpu: one storage is two inputs")
		}
		v := s.All()
		access := In
		if sources[i].Buffer != nil {
			access = Out
		}
		if err := d.ready(v, access); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		r.touch(s.e.buf)
		r.inputs, r.seen[s.e] = append(r.inputs, s), true
	}
	return d.fill(r.fed, content, sources)
}
