package wire

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
)

// A Channel is one of the five sockets of a kernel.
type Channel int

// The channels of a kernel. Requests come on Shell and Control, answers to
// input requests on Stdin; IOPub only sends; Heartbeat is echoed by the
// server and never seen outside.
const (
	Shell Channel = iota
	Control
	Stdin
	IOPub
	Heartbeat
	channels
)

var channelNames = [...]string{"shell", "control", "stdin", "iopub", "hb"}

func (c Channel) String() string { return channelNames[c] }

// MessageLimit is how many bytes a message to the kernel may have. Front ends
// send code and widget state; Jupyter's own web socket takes 10 MB by default.
const MessageLimit = 48 << 20

// A Server owns the five sockets of a kernel.
type Server struct {
	// Conn is where the server listens, ports chosen by the system filled in.
	Conn Connection

	codec   *Codec
	log     *log.Logger
	handle  func(Channel, *Message)
	sockets [channels]*socket
}

// Listen opens the five sockets. Each message that passes its checks is given
// to handle, in the order in which its client sent it; handle is called from
// several goroutines and must not block for long. What does not pass is
// logged and ignored; log may be nil.
func Listen(c Connection, codec *Codec, logger *log.Logger, handle func(Channel, *Message)) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if logger == nil {
		logger = log.New(io.Discard, "", 0)
	}
	s := &Server{Conn: c, codec: codec, log: logger, handle: handle}
	types := [...]zmq4.SocketType{zmq4.Router, zmq4.Router, zmq4.Router, zmq4.XPub, zmq4.Rep}
	ports := [...]*int{&s.Conn.ShellPort, &s.Conn.ControlPort, &s.Conn.StdinPort, &s.Conn.IOPubPort, &s.Conn.HBPort}
	for ch := range channels {
		sock := &socket{typ: types[ch], name: ch.String(), limit: MessageLimit, log: logger}
		sock.onMessage = func(p *peer, frames [][]byte) { s.receive(ch, p, frames) }
		sock.onSubscribe = s.welcome
		network, addr := c.address(*ports[ch])
		if err := sock.listen(network, addr); err != nil {
			s.Close(0)
			if errors.Is(err, syscall.EADDRINUSE) {
				return nil, fmt.Errorf("%s port %s is in use; another kernel has this connection file, or the port was taken since it was written", ch, addr)
			}
			return nil, fmt.Errorf("%s port: %w", ch, err)
		}
		s.sockets[ch] = sock
		if a, ok := sock.ln.Addr().(*net.TCPAddr); ok {
			*ports[ch] = a.Port
		}
	}
	return s, nil
}

func (s *Server) receive(ch Channel, p *peer, frames [][]byte) {
	if ch == Heartbeat {
		p.send(frames)
		return
	}
	m, err := s.codec.Decode(frames)
	if err != nil {
		s.log.Printf("%s: message ignored: %v", ch, err)
		return
	}
	// A ROUTER prefixes what it receives with the identity of the peer.
	m.Identities = append([][]byte{[]byte(p.id)}, m.Identities...)
	s.handle(ch, m)
}

// welcome greets a new subscriber of iopub, so that it knows from when on it
// misses nothing (JEP 65).
func (s *Server) welcome(p *peer, topic string) {
	frames, err := s.codec.Encode(&Message{
		Identities: [][]byte{[]byte(topic)},
		Header:     s.codec.NewHeader("iopub_welcome"),
		Content:    mustJSON(map[string]string{"subscription": topic}),
	})
	if err == nil {
		err = p.send(frames)
	}
	if err != nil {
		s.log.Printf("iopub: welcome: %v", err)
	}
}

// Send sends m: on IOPub to every subscriber of its first identity, elsewhere
// to the client that its first identity names. It queues and does not wait.
func (s *Server) Send(ch Channel, m *Message) error {
	frames, err := s.codec.Encode(m)
	if err != nil {
		return err
	}
	if ch == IOPub {
		s.sockets[IOPub].publish(frames)
		return nil
	}
	if len(m.Identities) == 0 {
		return fmt.Errorf("%s: %s has no client to go to", ch, m.Header.MsgType)
	}
	return s.sockets[ch].sendTo(string(m.Identities[0]), frames[1:])
}

// Close sends what is queued, for at most linger, and closes the sockets.
// When it returns no goroutine and no port of the server is left.
func (s *Server) Close(linger time.Duration) {
	var wg sync.WaitGroup
	for _, sock := range s.sockets {
		if sock != nil {
			wg.Go(func() { sock.shut(linger) })
		}
	}
	wg.Wait()
}
