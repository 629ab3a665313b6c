//go:build cuda && linux && amd64

package cuda

import (
	"encoding/binary"

	"gorgonia.org/cu"

	"gradbook/gpu"
)

// fill is a copy to an input of a recording: one node of its graph, whose source
// each replay may set.
type fill struct {
	piece piece
	from  cu.DevicePtr
	on    bool // else the graph leaves it out
}

// newFill is the copy of an input to itself, until a replay names a source.
func (b *backend) newFill(in gpu.Span) (*fill, error) {
	n := uint32(in.Bytes / 4)
	l := gpu.Launch{Kernel: gpu.Copy, DType: gpu.Int32, Args: []gpu.Span{in, in},
		Params: &gpu.CopyParams{N: n, Rank: 1, Dims: gpu.Dims{n}, X: gpu.Strides{1}}}
	var j job
	if err := b.lower(&j, &l, nil); err != nil {
		return nil, err
	}
	return &fill{j.pieces[0], address(in), true}, nil
}

// fill makes the graph copy from the sources, and leave out what has none.
func (r *recording) fill(sources []gpu.Span) error {
	for i, f := range r.inputs {
		on := i < len(sources) && sources[i].Buffer != nil
		if on {
			if err := r.from(i, address(sources[i])); err != nil {
				return err
			}
		}
		if on != f.on {
			if err := r.b.queue.Enable(r.graph, i, on); err != nil {
				return err
			}
			f.on = on
		}
	}
	return nil
}

// from sets the source of a copy.
func (r *recording) from(input int, source cu.DevicePtr) error {
	f := r.inputs[input]
	if f.from == source {
		return nil
	}
	f.from = 0 // unknown, if this fails
	p, q := &f.piece, r.b.queue
	var err error
	if p.kind == aCopy {
		err = q.SetCopy(r.graph, input, p.dst, source, p.bytes)
	} else {
		binary.LittleEndian.PutUint64(p.params[:], uint64(source)) // x is copy's first argument
		err = q.SetLaunch(r.graph, input, p.fn, p.grid, p.block, p.params[:])
	}
	if err == nil {
		f.from = source
	}
	return err
}
