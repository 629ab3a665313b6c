package kernel

import (
	"context"
	"gradbook/kernel/wire"
	"log"
	"strings"
	"sync"
	"testing"
	"time"
)

// A lab is a kernel on real sockets, and a client of it.
type lab struct {
	*wire.Client
	t      *testing.T
	kernel *Kernel
	conn   wire.Connection
	fake   *fake
	ctx    context.Context
	ended  chan error
}

// testLog is the log of a kernel that may outlive its test.
type testLog struct {
	mu sync.Mutex
	t  *testing.T
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.t != nil {
		l.t.Logf("kernel: %s", strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

func newTestLog(t *testing.T) *log.Logger {
	l := &testLog{t: t}
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.t = nil
	})
	return log.New(l, "", 0)
}

// newLab starts a kernel with the fake evaluator; change, if set, alters its
// configuration.
func newLab(t *testing.T, change func(*Config)) *lab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	l := &lab{t: t, ctx: ctx, ended: make(chan error, 1)}
	made := make(chan struct{})
	cfg := Config{
		Version: "test",
		Log:     newTestLog(t),
		NewEvaluator: func(s Streams) (Evaluator, error) {
			l.fake = newFake(s)
			close(made)
			return l.fake, nil
		},
	}
	if change != nil {
		change(&cfg)
	}
	codec := wire.NewCodec([]byte("secret"), "kernel-session")
	started := make(chan struct{})
	server, err := wire.Listen(wire.Connection{Transport: "tcp", IP: "127.0.0.1", Key: "secret"}, codec, cfg.Log,
		func(ch wire.Channel, m *wire.Message) { <-started; l.kernel.Handle(ch, m) })
	if err != nil {
		t.Fatal(err)
	}
	cfg.Codec, cfg.Send = codec, server.Send
	l.conn = server.Conn
	l.kernel = New(cfg)
	<-made
	l.fake.ask = l.kernel.Input
	close(started)
	go func() {
		<-l.kernel.Done()
		server.Close(linger)
		close(l.ended)
	}()
	l.Client, err = wire.Dial(ctx, l.conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.kernel.Shutdown()
		<-l.ended
		l.Client.Close()
	})
	return l
}

// ran is what came of a cell: its reply, and everything on iopub between busy
// and idle.
type ran struct {
	id    string
	reply *wire.Message
	iopub []*wire.Message
}

func (l *lab) send(code string, more ...func(map[string]any)) string {
	l.t.Helper()
	content := map[string]any{
		"code": code, "silent": false, "store_history": true,
		"user_expressions": map[string]string{}, "allow_stdin": true, "stop_on_error": true,
	}
	for _, f := range more {
		f(content)
	}
	id, err := l.Send(wire.Shell, "execute_request", content)
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

func (l *lab) await(id string) ran {
	l.t.Helper()
	reply, err := l.Reply(l.ctx, id)
	if err != nil {
		l.t.Fatal(err)
	}
	iopub, err := l.UntilIdle(l.ctx, id)
	if err != nil {
		l.t.Fatal(err)
	}
	return ran{id, reply, iopub}
}

func (l *lab) run(code string, more ...func(map[string]any)) ran {
	l.t.Helper()
	return l.await(l.send(code, more...))
}

// request sends any request and returns the decoded content of its reply.
func (l *lab) request(ch wire.Channel, msgType string, content any) map[string]any {
	l.t.Helper()
	id, err := l.Send(ch, msgType, content)
	if err != nil {
		l.t.Fatal(err)
	}
	reply, err := l.Reply(l.ctx, id)
	if err != nil {
		l.t.Fatal(err)
	}
	return fields(l.t, reply)
}

func fields(t *testing.T, m *wire.Message) map[string]any {
	t.Helper()
	var out map[string]any
	if err := m.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// types lists the message types on iopub.
func (r ran) types() string {
	var out []string
	for _, m := range r.iopub {
		out = append(out, m.Header.MsgType)
	}
	return strings.Join(out, " ")
}

// text joins the text of a stream.
func (r ran) text(t *testing.T, name string) string {
	t.Helper()
	var b strings.Builder
	for _, m := range r.iopub {
		if m.Header.MsgType == "stream" {
			if f := fields(t, m); f["name"] == name {
				b.WriteString(f["text"].(string))
			}
		}
	}
	return b.String()
}

func (r ran) status(t *testing.T) string {
	t.Helper()
	return fields(t, r.reply)["status"].(string)
}

// awaitText waits for text on iopub, whatever cell it belongs to.
func (l *lab) awaitText(text string) {
	l.t.Helper()
	for {
		select {
		case m := <-l.IOPub:
			if m.Header.MsgType == "stream" && strings.Contains(fields(l.t, m)["text"].(string), text) {
				return
			}
		case <-l.ctx.Done():
			l.t.Fatalf("%q was not printed", text)
		}
	}
}
