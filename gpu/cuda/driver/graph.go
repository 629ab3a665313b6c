//go:build cuda && linux && amd64

package driver

// #include "driver.h"
import "C"

import (
	"errors"
	"unsafe"

	"gorgonia.org/cu"
)

// maxLeaves is how many nodes one piece of work may end in. A kernel and a
// cuBLAS product end in one.
const maxLeaves = 16

// Graph is a captured list of work that runs as one submission.
type Graph struct {
	template, executable unsafe.Pointer
	leaves               [][]unsafe.Pointer // where each piece of work ends
}

// Capture calls each of work in order; what they give to the queue becomes a
// graph and does not run. After lists for each the earlier ones that it has to
// wait for.
func (q Queue) Capture(work []func() error, after [][]int) (*Graph, error) {
	if err := check(C.capture_begin(q.q)); err != nil {
		return nil, err
	}
	g := &Graph{}
	failed := q.capture(g, work, after)
	err := check(C.capture_end(q.q, &g.template))
	if failed != nil {
		err = failed
	}
	if err == nil {
		err = check(C.graph_compile(q.q, g.template, &g.executable))
	}
	if err != nil {
		q.Discard(g)
		return nil, err
	}
	return g, nil
}

func (q Queue) capture(g *Graph, work []func() error, after [][]int) error {
	g.leaves = make([][]unsafe.Pointer, len(work))
	for i, do := range work {
		var wait []unsafe.Pointer
		for _, j := range after[i] {
			wait = append(wait, g.leaves[j]...)
		}
		if err := check(C.capture_follow(q.q, unsafe.SliceData(wait), C.size_t(len(wait)))); err != nil {
			return err
		}
		if err := do(); err != nil {
			return err
		}
		var room [maxLeaves]unsafe.Pointer
		var n C.size_t
		if err := check(C.capture_leaves(q.q, &room[0], maxLeaves, &n)); err != nil {
			return err
		}
		g.leaves[i] = append(g.leaves[i], room[:n]...)
	}
	return nil
}

// Replay starts the graph's work after what the queue has to do already.
func (q Queue) Replay(g *Graph) error { return check(C.graph_launch(q.q, g.executable)) }

// Discard frees the graph, which must not be running.
func (q Queue) Discard(g *Graph) error {
	var executable, template error
	if g.executable != nil {
		executable = check(C.graph_free(q.q, g.executable))
	}
	if g.template != nil {
		template = check(C.graph_discard(q.q, g.template))
	}
	return errors.Join(executable, template)
}

// The following change what one piece of a graph's work, which is one node,
// does at later replays.

// SetLaunch gives a launch another struct of parameters.
func (q Queue) SetLaunch(g *Graph, piece int, fn cu.Function, grid, block [3]uint32, params []byte) error {
	return check(C.node_kernel(q.q, g.executable, g.leaves[piece][0], *(*unsafe.Pointer)(unsafe.Pointer(&fn)),
		(*C.uint32_t)(&grid[0]), (*C.uint32_t)(&block[0]), unsafe.Pointer(&params[0])))
}

// SetCopy gives a copy another source.
func (q Queue) SetCopy(g *Graph, piece int, dst, src cu.DevicePtr, bytes int64) error {
	return check(C.node_copy(q.q, g.executable, g.leaves[piece][0], C.uint64_t(dst), C.uint64_t(src), C.size_t(bytes)))
}

// Enable lets a piece run, or leaves it out.
func (q Queue) Enable(g *Graph, piece int, on bool) error {
	enabled := C.int(0)
	if on {
		enabled = 1
	}
	return check(C.node_enable(q.q, g.executable, g.leaves[piece][0], enabled))
}
