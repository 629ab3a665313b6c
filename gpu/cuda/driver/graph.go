//go:build cuda && linux && amd64

package driver

// #include "driver.h"
import "C"

import "unsafe"

// maxLeaves is how many nodes one piece of work may end in. A kernel and a
// cuBLAS product end in one.
const maxLeaves = 16

// Graph is a captured list of work that runs as one submission.
type Graph struct{ executable unsafe.Pointer }

// Capture calls each of work in order; what they give to the queue becomes a
// graph and does not run. After lists for each the earlier ones that it has to
// wait for.
func (q Queue) Capture(work []func() error, after [][]int) (g Graph, err error) {
	if err := check(C.capture_begin(q.q)); err != nil {
		return Graph{}, err
	}
	failed := q.capture(work, after)
	var graph unsafe.Pointer
	if err := check(C.capture_end(q.q, &graph)); err != nil {
		if failed != nil {
			err = failed
		}
		return Graph{}, err
	}
	if failed != nil {
		C.graph_discard(q.q, graph)
		return Graph{}, failed
	}
	return g, check(C.graph_compile(q.q, graph, &g.executable))
}

func (q Queue) capture(work []func() error, after [][]int) error {
	leaves := make([][]unsafe.Pointer, len(work))
	for i, do := range work {
		var wait []unsafe.Pointer
		for _, j := range after[i] {
			wait = append(wait, leaves[j]...)
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
		leaves[i] = append(leaves[i], room[:n]...)
	}
	return nil
}

// Replay starts the graph's work after what the queue has to do already.
func (q Queue) Replay(g Graph) error { return check(C.graph_launch(q.q, g.executable)) }

// Discard frees the graph, which must not be running.
func (q Queue) Discard(g Graph) error { return check(C.graph_free(q.q, g.executable)) }
