//go:build cuda && linux && amd64

package cuda

import (
	"errors"

	"gorgonia.org/cu"

	"gradbook/gpu"
	"gradbook/gpu/cuda/driver"
	"gradbook/gpu/hazard"
)

// recording is a CUDA graph of launches, and the scratch memory that they use.
type recording struct {
	b        *backend
	graph    *driver.Graph
	launches int
	scratch  []cu.DevicePtr
	inputs   []*fill // the first pieces of the graph

	workspaces []cu.DevicePtr // of cuBLAS; part of scratch
	products   int            // given one of them again
}

// take gives each job scratch memory of its own: jobs of a graph may overlap.
func (r *recording) take(bytes int64) (cu.DevicePtr, error) {
	p, err := r.b.allocate(bytes)
	if err == nil {
		r.scratch = append(r.scratch, p)
	}
	return p, err
}

// lanes is how many products of a recording may overlap: each has a workspace.
// On an H200, a step of 784-2048-2048-10 with 1,024 rows takes 868 us with one,
// 853 with two, 816 with four.
const lanes = 4

// workspace returns the workspace for the next product, in turn.
func (r *recording) workspace() (cu.DevicePtr, error) {
	if len(r.workspaces) < lanes {
		w, err := r.take(workspaceBytes)
		if err != nil {
			return 0, err
		}
		r.workspaces = append(r.workspaces, w)
		return w, nil
	}
	w := r.workspaces[r.products%lanes]
	r.products++
	return w, nil
}

// Record captures the launches as a graph in which each waits only for those
// whose results it uses or overwrites, so that independent ones overlap. The
// graph begins with a copy to each input.
func (b *backend) Record(launches []gpu.Launch, inputs []gpu.Span) (gpu.Recording, error) {
	if b.lost != nil {
		return nil, b.lost
	}
	r := &recording{b: b, launches: len(launches)}
	if err := r.capture(launches, inputs); err != nil {
		r.free()
		if errors.Is(err, driver.NotSupported) || errors.Is(err, gpu.ErrDeclined) {
			return nil, gpu.ErrDeclined
		}
		return nil, b.fault(err)
	}
	return r, nil
}

func (r *recording) capture(launches []gpu.Launch, inputs []gpu.Span) error {
	b := r.b
	var work []func() error
	var after [][]int
	hazards := hazard.New()
	for _, in := range inputs {
		if in.Bytes == 0 {
			return gpu.ErrDeclined // a copy that is no node
		}
		f, err := b.newFill(in)
		if err != nil {
			return err
		}
		r.inputs = append(r.inputs, f)
		work = append(work, func() error { return b.give(&f.piece, gpu.Int32) })
		hazards.Use(in.Buffer, gpu.Out)
		after = append(after, hazards.Next())
	}
	for i := range launches {
		l, j := &launches[i], &job{}
		if err := b.lower(j, l, r); err != nil {
			return err
		}
		work = append(work, func() error { return b.giveAll(j) })
		for k, s := range l.Args {
			hazards.Use(s.Buffer, l.Kernel.Info().Args[k].Access)
		}
		if p := j.needsWorkspace(); p != nil {
			w, err := r.workspace()
			if err != nil {
				return err
			}
			p.workspace = w
			hazards.Use(w, gpu.InOut)
		}
		after = append(after, hazards.Next())
	}
	leave, err := b.enter()
	if err != nil {
		return err
	}
	defer leave()
	r.graph, err = b.queue.Capture(work, after)
	return err
}

func (r *recording) free() {
	for _, p := range r.scratch {
		r.b.release(p)
	}
	r.scratch = nil
}

func (r *recording) Replay(sources []gpu.Span) error {
	b := r.b
	if b.lost != nil {
		return b.lost
	}
	if err := r.fill(sources); err != nil {
		return b.fault(err)
	}
	b.trail.add(step{replay: r.launches})
	if err := b.queue.Replay(r.graph); err != nil {
		return b.fault(err)
	}
	if b.wait {
		return b.Sync()
	}
	return nil
}

// Close waits for replays that are running.
func (r *recording) Close() {
	if r.b.Sync() == nil {
		r.b.queue.Discard(r.graph)
		r.free()
	}
}
