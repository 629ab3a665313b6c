//go:build cuda && linux && amd64

package cuda

import (
	"time"

	"gorgonia.org/cu"

	"gradbook/gpu"
)

// clock times kernels with events around each launch. Events cost about as
// much as launches, so there is a clock only when it was asked for.
type clock struct {
	b     *backend
	total [gpu.NumKernels]time.Duration
	open  []timed
	idle  []timed
}

type timed struct {
	kernel     gpu.Kernel
	start, end cu.Event
}

// openLimit is how many launches may wait to be read.
const openLimit = 1024

func newClock(b *backend) *clock { return &clock{b: b} }

// around runs launch between two events.
func (c *clock) around(k gpu.Kernel, launch func() error) error {
	leave, err := c.b.enter()
	if err != nil {
		return err
	}
	defer leave()
	if len(c.open) == openLimit {
		if err := c.b.queue.Wait(); err != nil {
			return err
		}
		c.read()
	}
	t, err := c.pair()
	if err != nil {
		return err
	}
	t.kernel = k
	if err := t.start.Record(c.b.stream); err != nil {
		return err
	}
	if err := launch(); err != nil {
		c.idle = append(c.idle, t)
		return err
	}
	if err := t.end.Record(c.b.stream); err != nil {
		return err
	}
	c.open = append(c.open, t)
	return nil
}

func (c *clock) pair() (t timed, err error) {
	if n := len(c.idle); n > 0 {
		t, c.idle = c.idle[n-1], c.idle[:n-1]
		return t, nil
	}
	if t.start, err = cu.MakeEvent(cu.DefaultEvent); err != nil {
		return t, err
	}
	t.end, err = cu.MakeEvent(cu.DefaultEvent)
	return t, err
}

// read adds up what has run; the stream must have been waited for.
func (c *clock) read() [gpu.NumKernels]time.Duration {
	for _, t := range c.open {
		if ms, err := c.b.queue.Elapsed(t.start, t.end); err == nil {
			c.total[t.kernel] += time.Duration(float64(ms) * float64(time.Millisecond))
		}
		c.idle = append(c.idle, t)
	}
	c.open = c.open[:0]
	return c.total
}

func (c *clock) close() {
	for _, t := range append(c.open, c.idle...) {
		cu.DestroyEvent(&t.start)
		cu.DestroyEvent(&t.end)
	}
	c.open, c.idle = nil, nil
}
