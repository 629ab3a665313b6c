package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
)

// Messages wait in memory for a peer that reads slowly. Above highWater bytes
// whoever publishes waits as long as the peer makes progress; a peer that
// takes nothing for stallTime is waited for no more, and above queueLimit
// bytes it loses messages, as with any ZeroMQ publisher.
const (
	highWater  = 16 << 20
	queueLimit = 256 << 20
	stallTime  = time.Second
)

var errSlow = fmt.Errorf("message lost: %d MB are waiting for a client that does not read", queueLimit>>20)

// A peer is one connection of a socket. Messages to it are queued, so that
// nobody waits for a client that reads slowly or not at all.
type peer struct {
	conn    *zmq4.Conn
	guard   *guard
	id      string
	written chan struct{} // closed when write returns

	progress chan struct{} // signalled when something was written

	mu      sync.Mutex
	ready   sync.Cond
	queue   [][][]byte
	bytes   int // queued or being written
	stalled bool
	closed  bool
	topics  map[string]struct{}
}

func newPeer(c *zmq4.Conn, g *guard) *peer {
	p := &peer{
		conn:     c,
		guard:    g,
		id:       c.Peer.Meta["Identity"],
		written:  make(chan struct{}),
		progress: make(chan struct{}, 1),
		topics:   make(map[string]struct{}),
	}
	if p.id == "" {
		p.id = randomID()
	}
	p.ready.L = &p.mu
	return p
}

// send queues a message. The frames must not be changed afterwards.
func (p *peer) send(frames [][]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	if p.bytes > queueLimit {
		return errSlow
	}
	p.bytes += size(frames)
	p.queue = append(p.queue, frames)
	p.ready.Signal()
	return nil
}

func size(frames [][]byte) (n int) {
	for _, f := range frames {
		n += len(f)
	}
	return n
}

// waitForRoom returns when less than highWater bytes wait for the peer, or
// when the peer has stalled.
func (p *peer) waitForRoom() {
	for {
		p.mu.Lock()
		full := p.bytes >= highWater && !p.stalled && !p.closed
		p.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-p.progress:
		case <-p.written:
		case <-time.After(stallTime):
			p.mu.Lock()
			p.stalled = true
			p.mu.Unlock()
		}
	}
}

// close ends the peer once what is queued has been sent.
func (p *peer) close() {
	p.mu.Lock()
	p.closed = true
	p.ready.Signal()
	p.mu.Unlock()
}

// write sends what is queued until the peer is closed; what was queued
// together leaves in one write.
func (p *peer) write() error {
	defer close(p.written)
	for {
		p.mu.Lock()
		for len(p.queue) == 0 && !p.closed {
			p.ready.Wait()
		}
		batch := p.queue
		p.queue = nil
		closed := p.closed
		p.mu.Unlock()
		if len(batch) == 0 && closed {
			return nil
		}
		for _, frames := range batch {
			if err := p.conn.SendMsg(zmq4.NewMsgFrom(frames...)); err != nil {
				return p.fail(err)
			}
			p.wrote(size(frames))
		}
		if err := p.guard.Flush(); err != nil {
			return p.fail(err)
		}
	}
}

func (p *peer) wrote(n int) {
	p.mu.Lock()
	p.bytes -= n
	p.stalled = false
	p.mu.Unlock()
	select {
	case p.progress <- struct{}{}:
	default:
	}
}

func (p *peer) fail(err error) error {
	p.mu.Lock()
	p.closed, p.queue = true, nil
	p.mu.Unlock()
	if isGone(err) {
		return nil
	}
	return fmt.Errorf("could not send: %w", err)
}

func (p *peer) subscribe(topic string) {
	p.mu.Lock()
	p.topics[topic] = struct{}{}
	p.mu.Unlock()
}

func (p *peer) unsubscribe(topic string) {
	p.mu.Lock()
	delete(p.topics, topic)
	p.mu.Unlock()
}

func (p *peer) subscribed(topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t := range p.topics {
		if strings.HasPrefix(topic, t) {
			return true
		}
	}
	return false
}

// isGone reports whether err only says that the other side has left.
func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, zmq4.ErrClosedConn)
}
