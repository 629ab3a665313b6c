//go:build cuda && linux && amd64

package cuda

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"gradbook/gpu"
	"gradbook/gpu/cuda/driver"
)

// trail is what was launched since the host last waited. A fault is reported
// by a later call, so it lies in one of these.
type trail struct {
	last  [32]step // a ring
	count int
}

type step struct {
	kernel gpu.Kernel
	dtype  gpu.DType
	replay int // launches of a replayed recording; kernel and dtype are unset
}

func (s step) String() string {
	if s.replay > 0 {
		return fmt.Sprintf("a recording of %d launches", s.replay)
	}
	return fmt.Sprintf("%s %s", s.kernel, s.dtype)
}

func (t *trail) add(s step) {
	t.last[t.count%len(t.last)] = s
	t.count++
}

func (t *trail) clear() { t.count = 0 }

// String names the launches, the latest last, runs of the same one once.
func (t *trail) String() string {
	if t.count == 0 {
		return "outside any launch"
	}
	var names []string
	first := max(0, t.count-len(t.last))
	for i := first; i < t.count; {
		s, n := t.last[i%len(t.last)], 1
		for i += 1; i < t.count && t.last[i%len(t.last)] == s; i++ {
			n++
		}
		name := s.String()
		if n > 1 {
			name = fmt.Sprintf("%s (%d times)", name, n)
		}
		names = append(names, name)
	}
	list := strings.Join(names, ", ")
	switch {
	case t.count == 1:
		return "in " + list
	case first > 0:
		return fmt.Sprintf("in one of the %d launches since the host last waited, the latest of them %s", t.count, list)
	}
	return fmt.Sprintf("in one of the %d launches since the host last waited: %s", t.count, list)
}

// lost is the fault after which the driver refuses this process everything: an
// illegal address in one context ends all, and no new one can be made (seen with
// driver 580).
var lost struct {
	sync.Mutex
	err error
}

// processLost is the error of a driver that a fault has ended, or nil.
func processLost() error {
	lost.Lock()
	defer lost.Unlock()
	return lost.err
}

// fault turns a driver's result into the backend's error. A result that the
// context does not survive is remembered: from then on every call answers it.
func (b *backend) fault(err error) error {
	var status driver.BLASStatus
	if errors.As(err, &status) {
		// cuBLAS does not say what the driver told it.
		err = errors.Join(err, b.queue.Wait())
	}
	var r driver.Result
	if !errors.As(err, &r) || !r.Lost() {
		return err
	}
	hint := ""
	if b.trail.count > 1 {
		hint = "; with GRADBOOK_CUDA_WAIT=1 the error names the one"
	}
	b.lost = fmt.Errorf("%w: %w, %v. CUDA cannot be used again in this process: restart the kernel%s", gpu.ErrLost, r, &b.trail, hint)
	lost.Lock()
	defer lost.Unlock()
	if lost.err == nil {
		lost.err = b.lost
	}
	return b.lost
}
