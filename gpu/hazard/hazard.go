// Package hazard finds which steps of a list have to wait for which earlier
// ones, so that a recording can run the others at the same time: a read waits
// for the last write (read after write), a write for the last write and for the
// reads since (write after write, write after read). It knows nothing of what
// the steps do.
package hazard

import (
	"slices"

	"gradbook/gpu"
)

// Tracker is told the steps in order, each by Use for what it uses and then Next.
type Tracker struct {
	step   int
	after  []int         // of the current step
	uses   []use         // of the current step
	writer map[any]int   // the last step that wrote a resource
	reader map[any][]int // those that read it since
}

type use struct {
	resource any
	access   gpu.Access
}

// New returns a tracker that was told nothing.
func New() *Tracker { return &Tracker{writer: map[any]int{}, reader: map[any][]int{}} }

// Use tells that the current step uses a resource, which is any comparable value.
func (t *Tracker) Use(resource any, access gpu.Access) {
	if w, ok := t.writer[resource]; ok {
		t.after = append(t.after, w)
	}
	if access != gpu.In {
		t.after = append(t.after, t.reader[resource]...)
	}
	t.uses = append(t.uses, use{resource, access})
}

// Next ends the current step and returns the earlier ones that it has to wait
// for, in order, each once. Those that they wait for in turn may be missing.
func (t *Tracker) Next() (after []int) {
	slices.Sort(t.after)
	after = slices.Compact(t.after)
	for _, u := range t.uses {
		if u.access == gpu.In {
			t.reader[u.resource] = append(t.reader[u.resource], t.step)
		} else {
			t.writer[u.resource] = t.step
			delete(t.reader, u.resource)
		}
	}
	t.after, t.uses = nil, t.uses[:0]
	t.step++
	return after
}
