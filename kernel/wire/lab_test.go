package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// logBook keeps what the server logs.
type logBook struct {
	mu    sync.Mutex
	lines []string
}

func (b *logBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, strings.TrimSpace(string(p)))
	return len(p), nil
}

func (b *logBook) has(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.lines {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}

func (b *logBook) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.lines)
}

// listen starts a server that answers every message on shell, control and
// stdin with a reply on the channel it came on.
func listen(t testing.TB) (*Server, *logBook) {
	t.Helper()
	return listenOn(t, Connection{Transport: "tcp", IP: "127.0.0.1", Key: "key"})
}

// listenLocal is listen on sockets of the file system, of which a fuzzer does
// not run out.
func listenLocal(t testing.TB) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "wire") // short: a socket's path has 108 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s, _ := listenOn(t, Connection{Transport: "ipc", IP: filepath.Join(dir, "s"), Key: "key",
		ShellPort: 1, IOPubPort: 2, StdinPort: 3, ControlPort: 4, HBPort: 5})
	return s
}

func listenOn(t testing.TB, where Connection) (*Server, *logBook) {
	t.Helper()
	book := &logBook{}
	codec := NewCodec([]byte("key"), "server")
	var s *Server
	started := make(chan struct{})
	s, err := Listen(where, codec, log.New(book, "", 0),
		func(ch Channel, m *Message) {
			<-started
			s.Send(ch, &Message{
				Identities: m.Identities,
				Header:     codec.NewHeader("echo_reply"),
				Parent:     m.RawHeader,
				Content:    m.Content,
			})
		})
	if err != nil {
		t.Fatal(err)
	}
	close(started)
	t.Cleanup(func() { s.Close(time.Second) })
	return s, book
}

func dial(t testing.TB, s *Server) *Client {
	t.Helper()
	c, err := Dial(context.Background(), s.Conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// alive fails the test unless the server answers a request of c.
func alive(t testing.TB, c *Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for _, ch := range []Channel{Shell, Control} {
		id, err := c.Send(ch, "echo_request", map[string]int{"n": 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Reply(ctx, id); err != nil {
			t.Fatalf("%s is dead: %v", ch, err)
		}
	}
	if got, err := c.Ping([]byte("x")); err != nil || string(got) != "x" {
		t.Fatalf("the heartbeat is dead: %q, %v", got, err)
	}
}

// frame is a ZMTP frame with that body.
func frame(flags byte, body []byte) []byte {
	if len(body) < 256 {
		return append([]byte{flags, byte(len(body))}, body...)
	}
	return append(binary.BigEndian.AppendUint64([]byte{flags | flagLong}, uint64(len(body))), body...)
}

func greeting() []byte {
	g := make([]byte, greetingBytes)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}

func property(name, value string) []byte {
	p := append([]byte{byte(len(name))}, name...)
	p = binary.BigEndian.AppendUint32(p, uint32(len(value)))
	return append(p, value...)
}

func ready(socketType string) []byte {
	body := append([]byte{5}, "READY"...)
	body = append(body, property("Socket-Type", socketType)...)
	return frame(flagCommand, append(body, property("Identity", "")...))
}

var peerType = map[Channel]string{Shell: "DEALER", Control: "DEALER", Stdin: "DEALER", IOPub: "SUB", Heartbeat: "REQ"}

// connect opens a bare TCP connection to a socket, without a greeting.
func connect(t testing.TB, s *Server, ch Channel) net.Conn {
	t.Helper()
	ports := map[Channel]int{Shell: s.Conn.ShellPort, Control: s.Conn.ControlPort, Stdin: s.Conn.StdinPort, IOPub: s.Conn.IOPubPort, Heartbeat: s.Conn.HBPort}
	network, addr := s.Conn.address(ports[ch])
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// shake connects and completes the handshake.
func shake(t testing.TB, s *Server, ch Channel) net.Conn {
	t.Helper()
	c := connect(t, s, ch)
	c.Write(append(greeting(), ready(peerType[ch])...))
	head := make([]byte, greetingBytes+2)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, head[greetingBytes+1])); err != nil {
		t.Fatal(err)
	}
	return c
}

// message returns the five signed frames of a valid request, after change.
func message(codec *Codec, change func(parts [][]byte)) [][]byte {
	header, _ := json.Marshal(codec.NewHeader("echo_request"))
	parts := [][]byte{header, []byte("{}"), []byte("{}"), []byte(`{"n":1}`)}
	if change != nil {
		change(parts)
	}
	return append([][]byte{delimiter, codec.sign(parts...)}, parts...)
}

func encodeFrames(frames [][]byte) []byte {
	var b bytes.Buffer
	for i, f := range frames {
		flags := byte(flagMore)
		if i == len(frames)-1 {
			flags = 0
		}
		b.Write(frame(flags, f))
	}
	return b.Bytes()
}
