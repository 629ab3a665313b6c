package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestRoundTrip(t *testing.T) {
	s, _ := listen(t)
	c := dial(t, s)
	alive(t, c)
	ctx := t.Context()
	m := &Message{Header: c.Codec.NewHeader("echo_request"), Content: json.RawMessage(`{"text":"żółw"}`)}
	id, err := c.SendMessage(Shell, m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Reply(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Content) != `{"text":"żółw"}` || got.ParentHeader().Session != m.Header.Session {
		t.Errorf("reply %s, parent %+v", got.Content, got.ParentHeader())
	}
}

func TestPublishReachesSubscribersOfItsTopic(t *testing.T) {
	s, _ := listen(t)
	all := dial(t, s)
	some := shake(t, s, IOPub)
	some.Write(frame(0, []byte("\x01stream")))
	some.Write(frame(0, []byte("\x01never")))
	some.Write(frame(0, []byte("\x00never")))
	buf := make([]byte, 1<<16)
	some.SetReadDeadline(time.Now().Add(10 * time.Second))
	var seen []byte
	for bytes.Count(seen, []byte("iopub_welcome")) < 2 {
		n, err := some.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, buf[:n]...)
	}
	if !bytes.Contains(seen, []byte(`{"subscription":"stream"}`)) {
		t.Errorf("the welcome does not name the topic: %q", seen)
	}
	for _, topic := range []string{"status", "never", "stream.stdout"} {
		err := s.Send(IOPub, &Message{Identities: [][]byte{[]byte(topic)}, Header: s.codec.NewHeader(topic)})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"status", "never", "stream.stdout"} {
		if got := <-all.IOPub; got.Header.MsgType != want || string(got.Identities[0]) != want {
			t.Errorf("got %s, want %s", got.Header.MsgType, want)
		}
	}
	seen = seen[:0]
	for !bytes.Contains(seen, []byte("stream.stdout")) {
		n, err := some.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, buf[:n]...)
	}
	if bytes.Contains(seen, []byte("status")) || bytes.Contains(seen, []byte("never")) {
		t.Errorf("a subscriber of stream got %q", seen)
	}
}

func TestOrderUnderLoad(t *testing.T) {
	s, _ := listen(t)
	c := dial(t, s)
	const n = 5000
	go func() {
		for i := range n {
			s.Send(IOPub, &Message{Identities: [][]byte{[]byte("x")}, Header: s.codec.NewHeader("x"), Content: mustJSON(map[string]int{"i": i})})
		}
	}()
	for i := range n {
		var got struct{ I int }
		if err := (<-c.IOPub).Decode(&got); err != nil || got.I != i {
			t.Fatalf("message %d arrived as number %d, %v", got.I, i, err)
		}
	}
}

// A subscriber that reads nothing must not stop the others, nor the server.
func TestASubscriberThatDoesNotRead(t *testing.T) {
	s, _ := listen(t)
	deaf := shake(t, s, IOPub)
	deaf.(*net.TCPConn).SetReadBuffer(1 << 10)
	deaf.Write(frame(0, []byte("\x01")))
	c := dial(t, s)
	big := mustJSON(map[string]string{"text": strings.Repeat("x", 1<<20)})
	start := time.Now()
	go func() {
		for range 40 {
			s.Send(IOPub, &Message{Identities: [][]byte{[]byte("x")}, Header: s.codec.NewHeader("x"), Content: big})
		}
	}()
	for range 40 {
		<-c.IOPub
	}
	if took := time.Since(start); took > 10*stallTime {
		t.Errorf("the reader waited %v for the one that does not read", took)
	}
	alive(t, c)
}

func TestAClientThatComesBackUnderItsIdentity(t *testing.T) {
	s, _ := listen(t)
	for range 3 {
		c := connect(t, s, Shell)
		body := append([]byte{5}, "READY"...)
		body = append(body, property("Socket-Type", "DEALER")...)
		body = append(body, property("Identity", "same")...)
		c.Write(append(greeting(), frame(flagCommand, body)...))
		c.Write(encodeFrames(message(NewCodec([]byte("key"), "client"), func(p [][]byte) {
			p[3] = mustJSON(map[string]int64{"n": time.Now().UnixNano()})
		})))
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		var seen []byte
		buf := make([]byte, 4096)
		for !bytes.Contains(seen, []byte("echo_reply")) {
			n, err := c.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, buf[:n]...)
		}
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		s, err := Listen(Connection{Transport: "tcp", IP: "127.0.0.1", Key: "key"}, NewCodec([]byte("key"), "s"), nil, func(Channel, *Message) {})
		if err != nil {
			t.Fatal(err)
		}
		var conns []net.Conn
		for ch := range channels {
			conns = append(conns, shake(t, s, ch), connect(t, s, ch)) // one of them never greets
		}
		s.Close(100 * time.Millisecond)
		for ch := range channels {
			ports := []int{s.Conn.ShellPort, s.Conn.ControlPort, s.Conn.StdinPort, s.Conn.IOPubPort, s.Conn.HBPort}
			network, addr := s.Conn.address(ports[ch])
			l, err := net.Listen(network, addr)
			if err != nil {
				t.Errorf("%s: the port is still taken: %v", ch, err)
				continue
			}
			l.Close()
		}
		for _, c := range conns {
			c.Close()
		}
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Listen(Connection{Transport: "tcp", IP: "127.0.0.1", ControlPort: l.Addr().(*net.TCPAddr).Port}, NewCodec(nil, "s"), nil, func(Channel, *Message) {})
	if err == nil || !strings.Contains(err.Error(), "control port") || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("err = %v", err)
	}
}

func TestIPC(t *testing.T) {
	conn := Connection{Transport: "ipc", IP: filepath.Join(t.TempDir(), "s"), Key: "key",
		ShellPort: 1, IOPubPort: 2, StdinPort: 3, ControlPort: 4, HBPort: 5}
	s, err := Listen(conn, NewCodec([]byte("key"), "s"), nil, func(Channel, *Message) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(0)
	c := dial(t, s)
	if got, err := c.Ping([]byte("x")); err != nil || string(got) != "x" {
		t.Errorf("ping: %q, %v", got, err)
	}
}

func TestReadConnection(t *testing.T) {
	good := Connection{Transport: "tcp", IP: "127.0.0.1", ShellPort: 1, Key: "k", SignatureScheme: "hmac-sha256"}
	path := filepath.Join(t.TempDir(), "c.json")
	if err := good.Write(path); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadConnection(path); err != nil || got != good {
		t.Errorf("got %+v, %v", got, err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the key: %v", info.Mode())
	}
	for content, want := range map[string]string{
		"":                                   "not what Jupyter writes",
		"[]":                                 "not what Jupyter writes",
		`{"transport":"udp","ip":"1.2.3.4"}`: `transport "udp"`,
		`{"transport":"tcp"}`:                "ip is missing",
		`{"transport":"tcp","ip":"x","shell_port":-1}`:               "shell_port -1",
		`{"transport":"tcp","ip":"x","signature_scheme":"hmac-md5"}`: "hmac-md5",
		`{"transport":"ipc","ip":"x","shell_port":1,"hb_port":0}`:    "_port is missing",
		`{"transport":"tcp","ip":"x","shell_port":"five"}`:           "not what Jupyter writes",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadConnection(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", content, err)
		}
	}
	if _, err := ReadConnection(filepath.Join(t.TempDir(), "none")); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestDecodeErrors(t *testing.T) {
	codec := NewCodec([]byte("key"), "s")
	change := func(i int, text string) func([][]byte) { return func(p [][]byte) { p[i] = []byte(text) } }
	valid := message(codec, nil)
	flipped := bytes.Clone(valid[1])
	flipped[0] ^= 1
	for name, test := range map[string]struct {
		frames [][]byte
		want   error
	}{
		"nothing":              {nil, ErrNoDelimiter},
		"no delimiter":         {valid[1:], ErrNoDelimiter},
		"truncated":            {valid[:5], ErrTruncated},
		"only a delimiter":     {valid[:1], ErrTruncated},
		"unsigned":             {append([][]byte{delimiter, {}}, valid[2:]...), ErrUnsigned},
		"wrong signature":      {append([][]byte{delimiter, flipped}, valid[2:]...), ErrSignature},
		"signature of garbage": {append([][]byte{delimiter, []byte("zz")}, valid[2:]...), ErrSignature},
		"header not JSON":      {message(codec, change(0, "{")), ErrMalformed},
		"header an array":      {message(codec, change(0, "[]")), ErrMalformed},
		"header empty":         {message(codec, change(0, "")), ErrMalformed},
		"header null":          {message(codec, change(0, "null")), ErrMalformed},
		"header without id":    {message(codec, change(0, `{"msg_type":"a","session":"b"}`)), ErrMalformed},
		"header without type":  {message(codec, change(0, `{"msg_id":"a","session":"b"}`)), ErrMalformed},
		"msg_type a number":    {message(codec, change(0, `{"msg_id":"a","session":"b","msg_type":3}`)), ErrMalformed},
		"parent not JSON":      {message(codec, change(1, "x")), ErrMalformed},
		"parent a string":      {message(codec, change(1, `"x"`)), ErrMalformed},
		"metadata a list":      {message(codec, change(2, "[]")), ErrMalformed},
		"content a number":     {message(codec, change(3, "3")), ErrMalformed},
		"content deep":         {message(codec, change(3, strings.Repeat(`{"a":`, 20000))), ErrMalformed},
		"content cut":          {message(codec, change(3, `{"code":"x"`)), ErrMalformed},
	} {
		if m, err := codec.Decode(test.frames); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, %v; want %v", name, m, err, test.want)
		}
	}
	if _, err := codec.Decode(valid); err != nil {
		t.Errorf("a valid message: %v", err)
	}
	if _, err := codec.Decode(valid); !errors.Is(err, ErrReplayed) {
		t.Errorf("the same message again: %v", err)
	}
	if _, err := NewCodec([]byte("other"), "s").Decode(message(codec, nil)); !errors.Is(err, ErrSignature) {
		t.Errorf("signed with another key: %v", err)
	}
	open := NewCodec(nil, "s")
	for range 2 {
		if _, err := open.Decode(valid); err != nil {
			t.Errorf("without a key nothing is checked: %v", err)
		}
	}
}

func TestReplaysAreForgottenInOrder(t *testing.T) {
	codec := NewCodec([]byte("key"), "s")
	first := message(codec, nil)
	codec.Decode(first)
	for range remembered {
		codec.Decode(message(codec, nil))
	}
	if len(codec.seen) != remembered || len(codec.ring) != remembered {
		t.Errorf("%d and %d signatures are kept, want %d", len(codec.seen), len(codec.ring), remembered)
	}
	last := message(codec, nil)
	codec.Decode(last)
	if _, err := codec.Decode(last); !errors.Is(err, ErrReplayed) {
		t.Errorf("the latest message again: %v", err)
	}
}

func TestDecodeWantsFields(t *testing.T) {
	m := &Message{Header: Header{MsgType: "x_request"}, Content: json.RawMessage(`{"a":1,"b":null}`)}
	var v struct{ A int }
	if err := m.Decode(&v, "a"); err != nil || v.A != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	for _, name := range []string{"b", "c"} {
		if err := m.Decode(&v, name); err == nil || !strings.Contains(err.Error(), `x_request: content lacks "`+name+`"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var wrong struct{ A string }
	if err := m.Decode(&wrong); err == nil {
		t.Error("a number for a string")
	}
}
