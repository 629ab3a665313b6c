//go:build invariants

package gpu

import "fmt"

// checkMove panics when an entry and the residency it moves to disagree.
func checkMove(e *entry, to Residency) {
	fail := func(why string) {
		panic(fmt.Sprintf("gpu: storage %d (%s): %s to %s: %s", e.id, e.owner, e.state, to, why))
	}
	if e.freed {
		fail("freed")
	}
	if (to == OnDevice || to == Both) && e.buf == nil {
		fail("no device buffer")
	}
	if (to == OnHost || to == Both) && int64(len(e.host)) != e.bytes {
		fail("no host copy")
	}
	if to == None {
		fail("content cannot be unwritten")
	}
}
