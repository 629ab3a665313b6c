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

// checkBooks panics when the map and the backend disagree.
func checkBooks(s *Snapshot) {
	sum := int64(0)
	for _, r := range s.Rows {
		sum += r.DeviceBytes
	}
	if sum != s.InUse {
		panic(fmt.Sprintf("gpu: the rows hold %d bytes, the device says %d are in use", sum, s.InUse))
	}
	if s.Held != s.Backend.BytesHeld {
		panic(fmt.Sprintf("gpu: %d bytes held by the books, %d by the backend", s.Held, s.Backend.BytesHeld))
	}
}
