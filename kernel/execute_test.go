package kernel

import (
	"errors"
	"fmt"
	"gradbook/kernel/wire"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestExecute(t *testing.T) {
	l := newLab(t, nil)
	r := l.run("print hello\nerr oops\nvalue 42")
	if got, want := r.types(), "status execute_input stream stream execute_result"; got != want {
		t.Errorf("iopub: %s, want %s", got, want)
	}
	if got := r.text(t, "stdout"); got != "hello\n" {
		t.Errorf("stdout = %q", got)
	}
	reply := fields(t, r.reply)
	if reply["status"] != "ok" || reply["execution_count"] != 1.0 {
		t.Errorf("reply = %v", reply)
	}
	result := fields(t, r.iopub[len(r.iopub)-1])
	if result["execution_count"] != 1.0 || result["data"].(map[string]any)["text/plain"] != "42" {
		t.Errorf("result = %v", result)
	}
	if got := fields(t, l.run("value 1").reply)["execution_count"]; got != 2.0 {
		t.Errorf("execution count of the second cell is %v", got)
	}
}

func TestSilentCell(t *testing.T) {
	l := newLab(t, nil)
	silent := func(c map[string]any) { c["silent"] = true }
	r := l.run("print x\nvalue 1\nshow id text", silent)
	if r.types() != "status" {
		t.Errorf("a silent cell published %s", r.types())
	}
	if r = l.run("fail Kind text", silent); r.types() != "status" || r.status(t) != "error" {
		t.Errorf("a silent cell that fails: iopub %s, status %s", r.types(), r.status(t))
	}
	if got := fields(t, l.run("value 1").reply)["execution_count"]; got != 1.0 {
		t.Errorf("silent cells were counted: the next is %v", got)
	}
}

func TestStoreHistoryFalseIsNotCounted(t *testing.T) {
	l := newLab(t, nil)
	l.run("value 1", func(c map[string]any) { c["store_history"] = false })
	l.run("   \n")
	if got := fields(t, l.run("value 2").reply)["execution_count"]; got != 1.0 {
		t.Errorf("execution count = %v, want 1", got)
	}
	h := l.request(wire.Shell, "history_request", map[string]any{"hist_access_type": "tail", "n": 10, "raw": true, "output": false})
	if list := h["history"].([]any); len(list) != 1 || list[0].([]any)[2] != "value 2" {
		t.Errorf("history = %v", list)
	}
}

func TestUserExpressions(t *testing.T) {
	l := newLab(t, nil)
	r := l.run("print x", func(c map[string]any) {
		c["user_expressions"] = map[string]string{"good": "value 7", "bad": "fail Kind text"}
	})
	got := fields(t, r.reply)["user_expressions"].(map[string]any)
	good, bad := got["good"].(map[string]any), got["bad"].(map[string]any)
	if good["status"] != "ok" || good["data"].(map[string]any)["text/plain"] != "7" {
		t.Errorf("good = %v", good)
	}
	if bad["status"] != "error" || bad["ename"] != "Kind" || bad["evalue"] != "text" {
		t.Errorf("bad = %v", bad)
	}
}

func TestErrorAbortsWhatIsQueued(t *testing.T) {
	l := newLab(t, nil)
	first := l.send("sleep 100\nfail Kind because")
	second := l.send("print second")
	info, _ := l.Send(wire.Shell, "kernel_info_request", map[string]any{})
	third := l.send("print third")
	r := l.await(first)
	reply := fields(t, r.reply)
	if reply["status"] != "error" || reply["ename"] != "Kind" || reply["evalue"] != "because" {
		t.Errorf("reply = %v", reply)
	}
	if tb := reply["traceback"].([]any); len(tb) != 1 || tb[0] != "cell line 1: because" {
		t.Errorf("traceback = %v", tb)
	}
	if got := r.types(); got != "status execute_input error" {
		t.Errorf("iopub: %s", got)
	}
	if s := l.await(second); s.status(t) != "aborted" || s.types() != "status" {
		t.Errorf("second: %s, iopub %s", s.status(t), s.types())
	}
	if l.await(info).status(t) != "ok" {
		t.Error("only cells are aborted, other requests are served")
	}
	if s := l.await(third); s.status(t) != "aborted" {
		t.Errorf("third: %s", s.status(t))
	}
	if s := l.run("print fourth"); s.text(t, "stdout") != "fourth\n" {
		t.Error("the kernel runs cells again once the queue is empty")
	}
	l.fake.mu.Lock()
	defer l.fake.mu.Unlock()
	runs := strings.Join(l.fake.runs, "|")
	if strings.Contains(runs, "second") || strings.Contains(runs, "third") {
		t.Errorf("an aborted cell ran: %s", runs)
	}
}

func TestErrorGoesOnIfAskedTo(t *testing.T) {
	l := newLab(t, nil)
	first := l.send("fail Kind text", func(c map[string]any) { c["stop_on_error"] = false })
	second := l.send("print second")
	l.await(first)
	if s := l.await(second); s.status(t) != "ok" {
		t.Errorf("second: %s", s.status(t))
	}
}

func TestEvaluatorPanicIsAnErrorOfTheCell(t *testing.T) {
	l := newLab(t, nil)
	if got := fields(t, l.run("panic").reply); got["ename"] != "InternalError" {
		t.Errorf("reply = %v", got)
	}
	if l.run("print x").status(t) != "ok" {
		t.Error("the next cell does not run")
	}
}

func TestInterruptByMessage(t *testing.T) {
	l := newLab(t, nil)
	spin := l.send("print spinning\nspin")
	queued := l.send("print queued")
	l.awaitText("spinning")
	if got := l.request(wire.Control, "interrupt_request", map[string]any{}); got["status"] != "ok" {
		t.Errorf("interrupt_reply = %v", got)
	}
	if got := fields(t, l.await(spin).reply); got["ename"] != "Interrupted" {
		t.Errorf("reply = %v", got)
	}
	if got := l.await(queued).status(t); got != "aborted" {
		t.Errorf("the queued cell: %s", got)
	}
	l.request(wire.Control, "interrupt_request", map[string]any{}) // nothing runs
	if l.run("print x").status(t) != "ok" {
		t.Error("an interrupt of nothing hit the next cell")
	}
}

type recordingSession struct {
	mu    sync.Mutex
	calls []string
	err   error
}

func (s *recordingSession) record(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	return s.err
}

func (s *recordingSession) BeginCell(n int) { s.record("begin " + strconv.Itoa(n)) }
func (s *recordingSession) EndCell(end End) error {
	name := "ok"
	if end.Err != nil {
		name = end.Err.Name
	}
	return s.record(fmt.Sprintf("end %d %s", len(end.Globals), name))
}
func (s *recordingSession) Interrupt() { s.record("interrupt") }

func TestSessionIsToldOfCells(t *testing.T) {
	s := &recordingSession{}
	l := newLab(t, func(c *Config) { c.Session = s })
	l.run("set x")
	l.run("fail Kind text")
	s.mu.Lock()
	s.err = errors.New("a copy failed")
	s.mu.Unlock()
	if got := fields(t, l.run("print x").reply); got["ename"] != "DeviceError" || got["evalue"] != "a copy failed" {
		t.Errorf("what the session met must fail the cell: %v", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	want := "begin 1, end 1 ok, begin 2, end 1 Kind, begin 3, end 1 ok"
	if got := strings.Join(s.calls, ", "); got != want {
		t.Errorf("calls: %s, want %s", got, want)
	}
}

func TestExitLeavesAConsole(t *testing.T) {
	l := newLab(t, nil)
	for code, want := range map[string]int{"exit": 1, " quit\n": 1, "exit now": 0} {
		if got := fields(t, l.run(code).reply)["payload"].([]any); len(got) != want {
			t.Errorf("%q: payload %v", code, got)
		} else if want == 1 && got[0].(map[string]any)["source"] != "ask_exit" {
			t.Errorf("%q: payload %v", code, got)
		}
	}
	l.run("set exit")
	if got := fields(t, l.run("exit").reply)["payload"].([]any); len(got) != 0 {
		t.Errorf("a variable: payload %v", got)
	}
}
