package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gradbook/kernel"
	"gradbook/kernel/wire"
)

// asKernel makes the test binary a kernel: that of the connection file which
// it names.
const asKernel = "GRADBOOK_TEST_KERNEL"

func TestMain(m *testing.M) {
	if path := os.Getenv(asKernel); path != "" {
		conn, err := wire.ReadConnection(path)
		if err == nil {
			logger := kernel.NewLogger()
			cfg := Config("test", logger, func() []string { return []string{"host"} })
			cfg.History = History(logger)
			err = kernel.Serve(context.Background(), conn, cfg)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is a kernel in a process of its own, and a client of it.
type process struct {
	*wire.Client
	t       testing.TB
	conn    wire.Connection
	cmd     *exec.Cmd
	started time.Time
	ctx     context.Context // ends soon after the process
	ended   chan struct{}   // closed when the process has ended, with err
	err     error
}

// start starts a kernel whose history is in dir.
func start(t testing.TB, dir string) *process {
	t.Helper()
	p := &process{t: t, conn: freePorts(t), started: time.Now(), ended: make(chan struct{})}
	file := filepath.Join(t.TempDir(), "connection.json")
	if err := p.conn.Write(file); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(self)
	p.cmd.Env = append(os.Environ(), asKernel+"="+file, "GRADBOOK_HISTORY="+filepath.Join(dir, "history.jsonl"),
		fmt.Sprintf("JPY_PARENT_PID=%d", os.Getpid()))
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var cancel context.CancelFunc
	p.ctx, cancel = context.WithTimeout(context.Background(), 5*time.Minute)
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
		time.Sleep(time.Second) // its last messages may be on their way
		cancel()
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.ended
		cancel()
	})
	if p.Client, err = wire.Dial(p.ctx, p.conn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Client.Close)
	return p
}

func freePorts(t testing.TB) wire.Connection {
	conn := wire.Connection{Transport: "tcp", IP: "127.0.0.1", Key: "key", SignatureScheme: "hmac-sha256"}
	for _, port := range []*int{&conn.ShellPort, &conn.IOPubPort, &conn.StdinPort, &conn.ControlPort, &conn.HBPort} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return conn
}

func (p *process) request(ch wire.Channel, msgType string, content any) map[string]any {
	p.t.Helper()
	id, err := p.Send(ch, msgType, content)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.reply(id)
}

func (p *process) reply(id string) map[string]any {
	p.t.Helper()
	m, err := p.Reply(p.ctx, id)
	if err != nil {
		p.t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(m.Content, &out); err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *process) send(code string) string {
	p.t.Helper()
	id, err := p.Send(wire.Shell, "execute_request", map[string]any{"code": code, "allow_stdin": false})
	if err != nil {
		p.t.Fatal(err)
	}
	return id
}

// run runs a cell and returns its reply and what it printed.
func (p *process) run(code string) (reply map[string]any, printed string) {
	p.t.Helper()
	id := p.send(code)
	reply = p.reply(id)
	messages, err := p.UntilIdle(p.ctx, id)
	if err != nil {
		p.t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range messages {
		var f struct{ Text string }
		if m.Header.MsgType == "stream" && m.Decode(&f) == nil {
			b.WriteString(f.Text)
		}
	}
	return reply, b.String()
}

// shutdown asks the kernel to end and returns how long that took.
func (p *process) shutdown() time.Duration {
	p.t.Helper()
	began := time.Now()
	p.request(wire.Control, "shutdown_request", map[string]any{"restart": false})
	p.awaitEnd()
	return time.Since(began)
}

// awaitEnd waits until the process has ended, and ended well.
func (p *process) awaitEnd() {
	p.t.Helper()
	<-p.ended
	if p.err != nil {
		p.t.Errorf("the kernel ended badly: %v", p.err)
	}
}

// awaitText waits until text is printed.
func (p *process) awaitText(text string) {
	p.t.Helper()
	for {
		select {
		case m := <-p.IOPub:
			var f struct{ Text string }
			if m.Header.MsgType == "stream" && m.Decode(&f) == nil && strings.Contains(f.Text, text) {
				return
			}
		case <-p.ctx.Done():
			p.t.Fatalf("%q was not printed", text)
		}
	}
}
