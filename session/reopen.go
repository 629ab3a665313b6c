package session

import (
	"fmt"
	"strings"

	"gradbook/gpu"
)

// Reopened tells what came of opening a device anew.
type Reopened struct {
	Device string
	Kept   int       // storages that go on, since the host has their bytes
	Lost   []gpu.Row // those that only the device had, the largest first
}

func (r Reopened) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is open again: %d values go on from their host copies", r.Device, r.Kept)
	if len(r.Lost) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, ", %d are lost and must be computed again or loaded:", len(r.Lost))
	for i, l := range r.Lost {
		if i == 10 {
			fmt.Fprintf(&b, "\n  and %d smaller ones", len(r.Lost)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %9s  %s", gpu.Bytes(l.Bytes), l.Owner)
	}
	return b.String()
}

// Reopen opens the current device anew, after it was lost. Values whose bytes
// the host has as well go on, and so do all handles; recordings must be made
// again.
func (s *Session) Reopen() (Reopened, error) {
	s.devMu.Lock()
	defer s.devMu.Unlock()
	d, err := s.device()
	if err != nil {
		return Reopened{}, err
	}
	for _, driver := range gpu.Drivers() {
		if driver.Name != d.Info().Backend {
			continue
		}
		b, err := driver.Open(d.Info().Index)
		if err != nil {
			return Reopened{}, fmt.Errorf("%s cannot be opened again: %w", d, err)
		}
		r := Reopened{Device: d.String()}
		// The error is the lost backend's, of its end.
		r.Lost, _ = d.Reopen(b)
		for _, row := range d.Snapshot().Rows {
			if row.HostBytes > 0 {
				r.Kept++
			}
		}
		return r, nil
	}
	return Reopened{}, fmt.Errorf("no driver here opens %s", d)
}
