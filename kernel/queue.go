package kernel

import (
	"sync"

	"gradbook/kernel/wire"
)

// A queue holds the requests of a channel that wait for their turn.
type queue struct {
	mu     sync.Mutex
	ready  sync.Cond
	items  []queued
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.ready.L = &q.mu
	return q
}

type queued struct {
	m       *wire.Message
	aborted bool
}

func (q *queue) push(m *wire.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.items = append(q.items, queued{m: m})
		q.ready.Signal()
	}
}

// pop waits for a request; it returns nil when the queue is closed.
func (q *queue) pop() (m *wire.Message, aborted bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.ready.Wait()
	}
	if q.closed {
		return nil, false
	}
	first := q.items[0]
	q.items = q.items[1:]
	return first.m, first.aborted
}

// abort marks every execute_request that waits.
func (q *queue) abort() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.items {
		if q.items[i].m.Header.MsgType == "execute_request" {
			q.items[i].aborted = true
		}
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.items = true, nil
	q.ready.Broadcast()
}

// cells remembers which request each cell came from: a goroutine may print
// long after its cell has ended.
type cells struct {
	mu   sync.RWMutex
	from map[int]*origin
	last *origin
}

func (c *cells) begin(n int, from *origin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.from == nil {
		c.from = make(map[int]*origin)
	}
	c.from[n], c.last = from, from
}

// of returns the request of cell n, or the latest one.
func (c *cells) of(n int) *origin {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if from, ok := c.from[n]; ok {
		return from
	}
	return c.last
}

func (c *cells) latest() *origin {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.last
}
