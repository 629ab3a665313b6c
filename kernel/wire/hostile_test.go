package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// hostile are byte streams that a peer may send after its handshake.
func hostile(codec *Codec) map[string][]byte {
	cut := encodeFrames(message(codec, nil))
	short := binary.BigEndian.AppendUint64([]byte{flagLong}, 100)
	streams := map[string][]byte{
		"unsigned":          encodeFrames(append([][]byte{delimiter, {}}, message(codec, nil)[2:]...)),
		"wrong signature":   encodeFrames(append([][]byte{delimiter, []byte("00")}, message(codec, nil)[2:]...)),
		"no frames":         frame(0, nil),
		"not JSON":          encodeFrames(message(codec, func(p [][]byte) { p[3] = []byte("\x00\xff") })),
		"wrong type":        encodeFrames(message(codec, func(p [][]byte) { p[0] = []byte(`{"msg_id":[],"msg_type":{}}`) })),
		"missing fields":    encodeFrames(message(codec, func(p [][]byte) { p[0] = []byte("{}") })),
		"cut in a frame":    cut[:len(cut)-5],
		"cut in a header":   {flagLong, 0, 0},
		"half a long frame": append(short, "abc"...),
		"size of 2^63":      binary.BigEndian.AppendUint64([]byte{flagLong}, 1<<63),
		"size of 2^62":      binary.BigEndian.AppendUint64([]byte{flagLong}, 1<<62),
		"size of 2^45":      binary.BigEndian.AppendUint64([]byte{flagLong}, 1<<45),
		"unknown flags":     {0xf0, 1, 1},
		"empty command":     frame(flagCommand, nil),
		"cut command":       frame(flagCommand, []byte{200, 'P'}),
		"PING":              frame(flagCommand, append([]byte{4}, "PING\x00\x00"...)),
		"READY again":       ready("DEALER"),
		"endless frames":    bytes.Repeat(frame(flagMore, []byte("x")), maxFrames+10),
		"garbage":           bytes.Repeat([]byte{0x7f, 0x13, 0x00}, 1000),
	}
	replayed := encodeFrames(message(codec, nil))
	streams["replayed"] = append(bytes.Clone(replayed), replayed...)
	return streams
}

func TestHostileStreams(t *testing.T) {
	s, book := listen(t)
	c := dial(t, s)
	codec := NewCodec([]byte("key"), "hostile")
	for name, stream := range hostile(codec) {
		for ch := range channels {
			before := book.len()
			conn := shake(t, s, ch)
			if _, err := conn.Write(stream); err != nil {
				t.Errorf("%s on %s: %v", name, ch, err)
			}
			conn.(*net.TCPConn).CloseWrite()
			conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			io.Copy(io.Discard, conn) // until the server has closed its side
			conn.Close()
			switch name {
			case "unsigned", "wrong signature", "not JSON", "wrong type", "missing fields", "replayed", "unknown flags",
				"size of 2^63", "size of 2^62", "size of 2^45", "endless frames":
				if ch != Heartbeat && book.len() == before {
					t.Errorf("%s on %s was not logged", name, ch)
				}
			}
		}
		alive(t, c)
	}
}

func TestHostileHandshakes(t *testing.T) {
	s, _ := listen(t)
	c := dial(t, s)
	metadata := func(p []byte) []byte {
		return append(greeting(), frame(flagCommand, append(append([]byte{5}, "READY"...), p...))...)
	}
	old := greeting()
	old[10] = 1
	other := greeting()
	copy(other[12:], "CURVE")
	for name, stream := range map[string][]byte{
		"nothing":             {},
		"half a greeting":     greeting()[:20],
		"HTTP":                []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + string(make([]byte, 100))),
		"old version":         old,
		"other mechanism":     other,
		"no READY":            append(greeting(), frame(0, []byte("hello"))...),
		"huge READY":          append(greeting(), binary.BigEndian.AppendUint64([]byte{flagCommand | flagLong}, 1<<40)...),
		"cut property name":   metadata([]byte{200, 'a', 'b'}),
		"cut property length": metadata([]byte{1, 'a', 0, 0}),
		"cut property value":  metadata(append([]byte{1, 'a'}, 0xff, 0xff, 0xff, 0xff)),
		"name past the end":   metadata([]byte{3, 'a', 'b', 'c'}),
		"wrong socket type":   append(greeting(), ready("PUSH")...),
	} {
		for ch := range channels {
			conn := connect(t, s, ch)
			conn.Write(stream)
			conn.(*net.TCPConn).CloseWrite()
			conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Logf("%s on %s: %v", name, ch, err)
			}
		}
		alive(t, c)
	}
}

// A peer that connects and says nothing must not keep others out: they are
// served while it is still there.
func TestSilentPeer(t *testing.T) {
	s, _ := listen(t)
	var silent []net.Conn
	for ch := range channels {
		silent = append(silent, connect(t, s, ch))
	}
	alive(t, dial(t, s))
	for i, c := range silent {
		c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		var timeout net.Error
		if _, err := io.Copy(io.Discard, c); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("the silent peer of %s was gone before the others came: %v", Channel(i), err)
		}
	}
}

// A message over the limit is dropped; its client stays connected, and what it
// sends next is served.
func TestOversizedMessage(t *testing.T) {
	s, book := listen(t)
	c := dial(t, s)
	big := make([]byte, 64<<20)
	for _, ch := range []Channel{Shell, Control, Stdin} {
		if err := c.SendFrames(ch, message(c.Codec, func(p [][]byte) { p[3] = big })...); err != nil {
			t.Fatal(err)
		}
		frames := append(message(c.Codec, nil), big) // as a buffer, which is not signed
		if err := c.SendFrames(ch, frames...); err != nil {
			t.Fatal(err)
		}
	}
	conn := shake(t, s, IOPub)
	conn.Write(frame(0, big))
	alive(t, c)
	for _, ch := range []string{"shell", "control"} {
		if !book.has(fmt.Sprintf("%s: message ignored: %d bytes over the limit", ch, len(big))) {
			t.Errorf("%s: the oversized message was not logged", ch)
		}
	}
	if len(c.Replies) != 0 {
		t.Error("an oversized message was answered")
	}
}

// mutate returns a stream of frames in which something is wrong, or not.
func mutate(rng *rand.Rand, codec *Codec) []byte {
	frames := message(codec, func(p [][]byte) {
		part := rng.IntN(4)
		switch rng.IntN(6) {
		case 0:
			p[part] = []byte(`{"msg_id":1,"msg_type":null,"session":[]}`)
		case 1:
			p[part] = p[part][:rng.IntN(len(p[part])+1)]
		case 2:
			p[part] = randomBytes(rng, rng.IntN(300))
		case 3:
			p[part] = []byte("[]")
		}
	})
	switch rng.IntN(8) {
	case 0:
		frames = frames[:rng.IntN(len(frames))]
	case 1:
		frames[rng.IntN(len(frames))] = randomBytes(rng, rng.IntN(300))
	case 2:
		frames = append(frames, frames...)
	case 3:
		frames[1] = nil
	}
	if len(frames) == 0 {
		frames = [][]byte{nil}
	}
	stream := encodeFrames(frames)
	switch rng.IntN(10) {
	case 0:
		stream = stream[:rng.IntN(len(stream))]
	case 1:
		stream[rng.IntN(len(stream))] ^= byte(1 << rng.IntN(8))
	case 2:
		stream = randomBytes(rng, rng.IntN(100))
	}
	return stream
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func TestTenThousandHostileMessages(t *testing.T) {
	s, _ := listen(t)
	c := dial(t, s)
	rng := rand.New(rand.NewPCG(1, 2))
	codec := NewCodec([]byte("key"), "hostile")
	conns := make([]net.Conn, channels)
	for i := range 10000 {
		ch := Channel(i % int(channels))
		if conns[ch] == nil {
			conns[ch] = shake(t, s, ch)
			go io.Copy(io.Discard, conns[ch])
		}
		if _, err := conns[ch].Write(mutate(rng, codec)); err != nil || i%50 < int(channels) {
			conns[ch].Close() // the server hung up, or a cut frame would swallow what follows
			conns[ch] = nil
		}
		if i%1000 == 999 {
			alive(t, c)
		}
	}
	for _, conn := range conns {
		if conn != nil {
			conn.Close()
		}
	}
}

// FuzzStream sends any bytes after a handshake, to every socket.
func FuzzStream(f *testing.F) {
	codec := NewCodec([]byte("key"), "hostile")
	for _, stream := range hostile(codec) {
		if len(stream) < 1<<16 {
			f.Add(stream)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add(mutate(rng, codec))
	}
	s := listenLocal(f)
	c := dial(f, s)
	f.Fuzz(func(t *testing.T, stream []byte) {
		for ch := range channels {
			conn := shake(t, s, ch)
			conn.Write(stream)
			conn.Close()
		}
		alive(t, c)
	})
}

// FuzzHandshake sends any bytes instead of a handshake.
func FuzzHandshake(f *testing.F) {
	f.Add(greeting())
	f.Add(append(greeting(), ready("DEALER")...))
	f.Add(append(greeting(), frame(flagCommand, []byte("\x05READY\xc8ab"))...))
	s := listenLocal(f)
	c := dial(f, s)
	f.Fuzz(func(t *testing.T, stream []byte) {
		conn := connect(t, s, Shell)
		conn.Write(stream)
		conn.(*net.UnixConn).CloseWrite()
		conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		io.Copy(io.Discard, conn)
		conn.Close()
		alive(t, c)
	})
}

// FuzzDecode signs any four parts, so that the signature lets them through.
func FuzzDecode(f *testing.F) {
	codec := NewCodec([]byte("key"), "hostile")
	m := message(codec, nil)
	f.Add(m[2], m[3], m[4], m[5])
	f.Add([]byte("{}"), []byte("null"), []byte("[]"), []byte(`{"a":`))
	f.Fuzz(func(t *testing.T, header, parent, metadata, content []byte) {
		parts := [][]byte{header, parent, metadata, content}
		got, err := codec.Decode(append([][]byte{delimiter, codec.sign(parts...)}, parts...))
		if err == nil && (got.Header.MsgID == "" || got.Header.MsgType == "" || got.Header.Session == "") {
			t.Errorf("accepted a header without its fields: %s", header)
		}
	})
}
