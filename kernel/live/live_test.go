package live

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gradbook/gpu"
	"gradbook/kernel"
	"gradbook/kernel/wire"
	"gradbook/session"
)

func TestSIGINTInterruptsAndKeepsValues(t *testing.T) {
	p := start(t, t.TempDir())
	p.run("kept := 7")
	id := p.send("fmt.Println(\"looping\")\nfor {\n}")
	p.awaitText("looping")
	p.cmd.Process.Signal(syscall.SIGINT)
	if got := p.reply(id); got["ename"] != "Interrupted" {
		t.Errorf("reply = %v", got)
	}
	if _, printed := p.run("fmt.Print(kept)"); printed != "7" {
		t.Errorf("kept is %q", printed)
	}
	p.shutdown()
}

func TestSIGTERMEndsTheKernel(t *testing.T) {
	p := start(t, t.TempDir())
	p.run("1")
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.awaitEnd()
}

// A kernel whose Jupyter was killed must not stay behind.
func TestTheKernelEndsWithItsParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	conn := freePorts(t)
	file := filepath.Join(t.TempDir(), "connection.json")
	if err := conn.Write(file); err != nil {
		t.Fatal(err)
	}
	parent := exec.Command("sh", "-c", `"$1" & echo $!; wait`, "sh", self)
	parent.Env = append(os.Environ(), asKernel+"="+file, "JPY_PARENT_PID=1", "GRADBOOK_HISTORY="+filepath.Join(t.TempDir(), "h"))
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	client, err := wire.Dial(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	parent.Process.Kill()
	parent.Wait()
	for deadline := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
		if state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); strings.Contains(string(state), ") Z ") {
			return // it has ended; nobody has asked for its status
		}
		if time.Now().After(deadline) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the kernel outlived its parent")
		}
	}
}

// What compiled code prints to the process's own streams belongs to the cell.
func TestCompiledCodePrintsUnderTheCell(t *testing.T) {
	p := start(t, t.TempDir())
	id := p.send("import \"flag\"\nflag.PrintDefaults()") // to os.Stderr: the flags of this test binary
	p.awaitText("-test.run")
	if got := p.reply(id); got["status"] != "ok" {
		t.Errorf("reply = %v", got)
	}
	id = p.send("session.Progress(2, \"steps\").Add(2)")
	p.awaitText("steps")
	if got := p.reply(id); got["status"] != "ok" {
		t.Errorf("reply = %v", got)
	}
	p.shutdown()
}

func TestHistoryOverARestart(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	p.run("remember := 20261")
	p.shutdown()
	p = start(t, dir)
	got := p.request(wire.Shell, "history_request", map[string]any{"hist_access_type": "search", "pattern": "rem*20261"})
	if list := got["history"].([]any); len(list) != 1 || list[0].([]any)[0] != 1.0 {
		t.Errorf("history = %v", got)
	}
	p.shutdown()
}

// open counts the files and sockets that the kernel has open.
func (p *process) open() int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	return len(entries)
}

// goroutines asks the kernel how many it has.
func (p *process) goroutines() (n int) {
	p.t.Helper()
	_, printed := p.run("fmt.Print(runtime.NumGoroutine())")
	if _, err := fmt.Sscan(printed, &n); err != nil {
		p.t.Fatalf("%q: %v", printed, err)
	}
	return n
}

// settled waits until count is at most most, and returns it.
func settled(count func() int, most int) int {
	n := count()
	for deadline := time.Now().Add(5 * time.Second); n > most && time.Now().Before(deadline); n = count() {
		time.Sleep(20 * time.Millisecond)
	}
	return n
}

func TestSoakCellsAndInterrupts(t *testing.T) {
	if testing.Short() {
		t.Skip("1,000 cells and 200 interrupts take some seconds")
	}
	p := start(t, t.TempDir())
	p.run("import \"runtime\"")
	p.run("n := 0")
	for range 20 { // what is made once is made now
		p.run("n++")
	}
	p.run("n = 0")
	goroutines, files := p.goroutines(), p.open()
	for i := range 1000 {
		if reply, _ := p.run("n++"); reply["status"] != "ok" {
			t.Fatalf("cell %d: %v", i, reply)
		}
	}
	for i := range 200 {
		id := p.send("fmt.Println(\"looping\")\nfor {\n\tn += 0\n}")
		p.awaitText("looping")
		if i%2 == 0 {
			p.request(wire.Control, "interrupt_request", map[string]any{})
		} else {
			p.cmd.Process.Signal(syscall.SIGINT)
		}
		m, err := p.Reply(p.ctx, id)
		if err != nil || !strings.Contains(string(m.Content), "Interrupted") {
			t.Fatalf("interrupt %d: %v", i, err)
		}
	}
	if _, printed := p.run("fmt.Print(n)"); printed != "1000" {
		t.Errorf("n is %s", printed)
	}
	if n := settled(p.goroutines, goroutines); n > goroutines {
		t.Errorf("%d goroutines before, %d after", goroutines, n)
	}
	if n := settled(p.open, files); n > files {
		t.Errorf("%d open files before, %d after", files, n)
	}
	p.shutdown()
}

func TestSoakRestarts(t *testing.T) {
	if testing.Short() {
		t.Skip("50 restarts take some seconds")
	}
	dir := t.TempDir()
	var longest time.Duration
	defer func() { t.Logf("the slowest of 50 shutdowns took %v", longest) }()
	for i := range 50 {
		p := start(t, dir)
		if i%10 == 0 {
			p.send("fmt.Println(\"looping\")\nfor {\n}")
			p.awaitText("looping")
		} else {
			p.run("x := " + fmt.Sprint(i))
		}
		longest = max(longest, p.shutdown())
		for _, port := range []int{p.conn.ShellPort, p.conn.IOPubPort, p.conn.StdinPort, p.conn.ControlPort, p.conn.HBPort} {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				t.Errorf("restart %d: %v", i, err)
				continue
			}
			l.Close()
		}
		if kids, _ := filepath.Glob(fmt.Sprintf("/proc/%d", p.cmd.Process.Pid)); len(kids) > 0 {
			t.Errorf("restart %d: the process is still there", i)
		}
	}
}

// Input is asked for when it is read: not when os.Stdin is only mentioned, and
// not one line ahead.
func TestStdinIsReadOnDemand(t *testing.T) {
	p := start(t, t.TempDir())
	p.run("import (\n\t\"bufio\"\n\t\"os\"\n)")
	for _, cell := range []struct {
		code  string
		lines int
	}{
		{"r := bufio.NewReader(os.Stdin)", 0},
		{"r.ReadString('\\n')\nline, _ := r.ReadString('\\n')\nfmt.Print(line)", 2},
		{"sc := bufio.NewScanner(os.Stdin)\nsc.Scan()\nfmt.Print(sc.Text())", 1},
		{"var a, b int\nfmt.Scan(&a, &b)\nfmt.Print(a, b)", 2},
		{"var c, d int\nfmt.Fscan(os.Stdin, &c)\nfmt.Fscan(os.Stdin, &d)\nfmt.Print(c, d)", 2},
		{"fmt.Print(session.Input(\"a? \"), session.Password(\"b? \"))", 2},
	} {
		code, lines := cell.code, cell.lines
		id, err := p.Send(wire.Shell, "execute_request", map[string]any{"code": code, "allow_stdin": true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range lines {
			select {
			case <-p.Stdin:
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: %d of %d lines were asked for", code, i, lines)
			}
			p.Send(wire.Stdin, "input_reply", map[string]any{"value": fmt.Sprint(i + 5)})
		}
		if got := p.reply(id); got["status"] != "ok" {
			t.Errorf("%s: %v", code, got)
		}
		if len(p.Stdin) != 0 {
			t.Errorf("%s: more than %d lines were asked for", code, lines)
		}
	}
	p.shutdown()
}

// A goroutine that goes on changing a map must not be looked at when a cell
// ends: the Go run time ends the process for that.
func TestBackgroundGoroutinesAreNotLookedAt(t *testing.T) {
	p := start(t, t.TempDir())
	p.run("m := map[int]any{}\ngo func() {\n\tfor i := 0; ; i++ {\n\t\tm[i%1000] = &i\n\t}\n}()")
	for range 200 {
		if got, _ := p.run("1"); got["status"] != "ok" {
			t.Fatalf("reply = %v", got)
		}
	}
	p.shutdown()
}

// An interrupt that reaches the session as a cell ends must not stop the next.
func TestAnInterruptBetweenCells(t *testing.T) {
	// A session makes its device the default one of the process.
	before := gpu.SetDefault(nil)
	defer gpu.SetDefault(before)
	s := session.New()
	defer s.Close()
	c := cells{s}
	c.BeginCell(1)
	if err := c.EndCell(kernel.End{}); err != nil {
		t.Fatal(err)
	}
	c.Interrupt()
	c.BeginCell(2)
	if s.Stopped() {
		t.Error("the next cell begins stopped")
	}
	if err := c.EndCell(kernel.End{}); err != nil {
		t.Fatal(err)
	}
}

// What a goroutine shows after its cell has ended belongs to that cell, like
// what it prints.
func TestLateDisplaysGoToTheirCell(t *testing.T) {
	p := start(t, t.TempDir())
	first := p.send("go func() {\n\ttime.Sleep(200 * time.Millisecond)\n\tdisplay.Show(display.Text(\"late\"))\n\tsession.Progress(1, \"bar\").Add(1)\n}()")
	p.reply(first)
	p.send("time.Sleep(600 * time.Millisecond)")
	for seen := 0; seen < 2; {
		select {
		case m := <-p.IOPub:
			switch m.Header.MsgType {
			case "display_data", "stream":
				seen++
				if m.ParentHeader().MsgID != first {
					t.Errorf("%s went to another cell", m.Header.MsgType)
				}
			}
		case <-p.ctx.Done():
			t.Fatal("nothing was shown")
		}
	}
	p.shutdown()
}
