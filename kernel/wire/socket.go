package wire

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

const handshakeTime = 10 * time.Second

// A socket accepts peers of one ZeroMQ socket type on one endpoint.
//
// Its three hooks run on the goroutine that reads from the peer; they may
// block, which makes that peer wait and no other.
type socket struct {
	typ   zmq4.SocketType
	name  string // for the log
	limit int    // bytes a message may have
	log   *log.Logger

	onMessage   func(p *peer, frames [][]byte)
	onSubscribe func(p *peer, topic string)

	ln    net.Listener
	mu    sync.Mutex
	peers map[string]*peer      // by identity
	raw   map[net.Conn]struct{} // in their handshake
	done  bool
	wg    sync.WaitGroup
}

func (s *socket) listen(network, addr string) error {
	ln, err := net.Listen(network, addr)
	if err != nil {
		return err
	}
	s.ln = ln
	s.peers = make(map[string]*peer)
	s.raw = make(map[net.Conn]struct{})
	s.wg.Add(1)
	go s.accept()
	return nil
}

func (s *socket) accept() {
	defer s.wg.Done()
	for {
		c, err := s.ln.Accept()
		if err != nil {
			s.mu.Lock()
			done := s.done
			s.mu.Unlock()
			if done {
				return
			}
			s.log.Printf("%s: accept: %v", s.name, err)
			time.Sleep(50 * time.Millisecond) // out of file descriptors: wait for some
			continue
		}
		s.mu.Lock()
		if s.done {
			s.mu.Unlock()
			c.Close()
			return
		}
		s.raw[c] = struct{}{}
		s.wg.Add(1)
		s.mu.Unlock()
		go s.serve(c)
	}
}

// serve greets a peer and reads from it until it leaves or misbehaves.
func (s *socket) serve(c net.Conn) {
	defer s.wg.Done()
	defer c.Close()
	defer func() {
		s.mu.Lock()
		delete(s.raw, c)
		s.mu.Unlock()
		// go-zeromq indexes into what the peer sent without looking.
		if e := recover(); e != nil {
			s.log.Printf("%s: peer %v dropped: malformed ZMTP: %v", s.name, c.RemoteAddr(), e)
		}
	}()
	g := newGuard(c)
	c.SetDeadline(time.Now().Add(handshakeTime))
	zc, err := zmq4.Open(g, null.Security(), s.typ, nil, true, nil)
	if err != nil {
		s.log.Printf("%s: peer %v refused: %v", s.name, c.RemoteAddr(), err)
		return
	}
	c.SetDeadline(time.Time{})
	g.established(s.limit)

	p := newPeer(zc, g)
	if !s.add(p) {
		return
	}
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		if err := p.write(); err != nil {
			s.log.Printf("%s: peer %q: %v", s.name, p.id, err)
		}
		c.Close()
	}()
	defer s.remove(p)
	defer p.close()
	for {
		msg, err := zc.RecvMsg()
		if err != nil {
			if !isGone(err) {
				s.log.Printf("%s: peer %q dropped: %v", s.name, p.id, err)
			}
			return
		}
		if n := g.takeRefused(); n > 0 {
			s.log.Printf("%s: message ignored: %d bytes over the limit of %d", s.name, n, s.limit)
			continue
		}
		if msg.Type == zmq4.CmdMsg || len(msg.Frames) == 0 {
			continue
		}
		s.dispatch(p, msg.Frames)
	}
}

// dispatch hands a message to its hook. On an XPUB a single frame whose first
// byte is 1 or 0 subscribes and unsubscribes.
func (s *socket) dispatch(p *peer, frames [][]byte) {
	if s.typ != zmq4.XPub {
		s.onMessage(p, frames)
		return
	}
	f := frames[0]
	switch {
	case len(frames) == 1 && len(f) > 0 && f[0] == 1:
		p.subscribe(string(f[1:]))
		s.onSubscribe(p, string(f[1:]))
	case len(frames) == 1 && len(f) > 0 && f[0] == 0:
		p.unsubscribe(string(f[1:]))
	default:
		s.log.Printf("%s: message ignored: a subscriber sent %d frames", s.name, len(frames))
	}
}

// add makes p known by its identity. A peer that comes back under the
// identity of an older connection takes its place, as a client that lost its
// connection does.
func (s *socket) add(p *peer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return false
	}
	if old := s.peers[p.id]; old != nil {
		old.close()
	}
	s.peers[p.id] = p
	return true
}

func (s *socket) remove(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peers[p.id] == p {
		delete(s.peers, p.id)
	}
}

// ErrNoClient is what sending to a client gives that is not connected.
var ErrNoClient = errors.New("no client")

// sendTo queues a message to the peer of that identity, if it is there.
func (s *socket) sendTo(id string, frames [][]byte) error {
	s.mu.Lock()
	p := s.peers[id]
	s.mu.Unlock()
	if p == nil {
		return fmt.Errorf("%s: %w %q", s.name, ErrNoClient, id)
	}
	return p.send(frames)
}

// publish queues a message to every peer that subscribed to its first frame.
// Messages published by one goroutine arrive in their order.
func (s *socket) publish(frames [][]byte) {
	s.mu.Lock()
	peers := slices.Collect(maps.Values(s.peers))
	s.mu.Unlock()
	for _, p := range peers {
		if !p.subscribed(string(frames[0])) {
			continue
		}
		p.waitForRoom()
		if err := p.send(frames); err != nil {
			s.log.Printf("%s: peer %q: %v", s.name, p.id, err)
		}
	}
}

// shut stops accepting, sends what is queued for at most linger, and returns
// when no goroutine of the socket is left.
func (s *socket) shut(linger time.Duration) {
	s.mu.Lock()
	s.done = true
	peers := make([]*peer, 0, len(s.peers))
	for _, p := range s.peers {
		peers = append(peers, p)
		p.close()
	}
	s.mu.Unlock()
	if s.ln == nil {
		return
	}
	s.ln.Close()
	late := time.After(linger)
	for _, p := range peers {
		select {
		case <-p.written:
		case <-late:
			late = time.After(0)
		}
	}
	s.mu.Lock()
	for c := range s.raw {
		c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func randomID() string {
	var b [16]byte
	rand.Read(b[:])
	return string(b[:])
}
