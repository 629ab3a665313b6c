package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"gradbook/kernel/wire"
	"strings"
	"testing"
	"time"
)

func TestReplyComesBetweenBusyAndIdle(t *testing.T) {
	l := newLab(t, nil)
	id, err := l.Send(wire.Control, "kernel_info_request", map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	r := l.await(id)
	info := fields(t, r.reply)
	if info["protocol_version"] != "5.5" || info["implementation"] != "gradbook" || info["status"] != "ok" {
		t.Errorf("kernel_info = %v", info)
	}
	if lang := info["language_info"].(map[string]any); lang["name"] != "go" || lang["file_extension"] != ".go" {
		t.Errorf("language_info = %v", lang)
	}
	if features, ok := info["supported_features"].([]any); !ok || len(features) != 0 {
		t.Errorf("supported_features = %v", info["supported_features"])
	}
	if r.types() != "status" || fields(t, r.iopub[0])["execution_state"] != "busy" {
		t.Errorf("iopub: %s", r.types())
	}
	if got := r.reply.ParentHeader(); got.MsgID != id || got.Session == "" {
		t.Errorf("parent header of the reply: %+v", got)
	}
}

func TestShutdown(t *testing.T) {
	for _, test := range []struct {
		name, code string
		channel    wire.Channel
	}{
		{"idle, control", "", wire.Control},
		{"idle, shell", "", wire.Shell},
		{"busy", "print on\nspin", wire.Control},
		{"busy and deaf", "print on\nstuck", wire.Control},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, nil)
			if test.code != "" {
				l.send(test.code)
				l.awaitText("on")
			}
			start := time.Now()
			got := l.request(test.channel, "shutdown_request", map[string]any{"restart": true})
			if got["status"] != "ok" || got["restart"] != true {
				t.Errorf("reply = %v", got)
			}
			select {
			case <-l.ended:
			case <-l.ctx.Done():
				t.Fatal("the kernel did not end")
			}
			// It takes 0.3 s for a cell that is deaf; more than ten times that is no
			// busy machine.
			took := time.Since(start)
			t.Logf("the kernel ended after %v", took)
			if took > 5*time.Second {
				t.Error("it waited for the cell")
			}
			for {
				select {
				case m := <-l.IOPub:
					if m.Header.MsgType != "shutdown_reply" {
						continue
					}
				case <-l.ctx.Done():
					t.Error("the shutdown was not published")
				}
				break
			}
		})
	}
}

func TestCompleteAndInspectCountCodePoints(t *testing.T) {
	l := newLab(t, nil)
	code := "%who\ns := \"żółw🐢\"; pri"
	got := l.request(wire.Shell, "complete_request", map[string]any{"code": code, "cursor_pos": len([]rune(code))})
	if m := got["matches"].([]any); len(m) != 1 || m[0] != "priing" {
		t.Errorf("matches = %v", m)
	}
	n := float64(len([]rune(code)))
	if got["cursor_start"] != n-3 || got["cursor_end"] != n {
		t.Errorf("cursor from %v to %v, want %v to %v", got["cursor_start"], got["cursor_end"], n-3, n)
	}
	got = l.request(wire.Shell, "inspect_request", map[string]any{"code": "🐢x", "cursor_pos": 1, "detail_level": 1})
	if got["found"] != true || got["data"].(map[string]any)["text/plain"] != `at "x" detail 1` {
		t.Errorf("inspect = %v", got)
	}
	got = l.request(wire.Shell, "inspect_request", map[string]any{"code": " ", "cursor_pos": 0})
	if got["status"] != "ok" || got["found"] != false {
		t.Errorf("inspect of nothing = %v", got)
	}
	for _, pos := range []int{-5, 1 << 30} {
		got = l.request(wire.Shell, "complete_request", map[string]any{"code": "é", "cursor_pos": pos})
		if got["status"] != "ok" {
			t.Errorf("cursor at %d: %v", pos, got)
		}
	}
}

func TestPercentLines(t *testing.T) {
	l := newLab(t, nil)
	got := l.request(wire.Shell, "complete_request", map[string]any{"code": "é\n%wh", "cursor_pos": 5})
	if m := got["matches"].([]any); len(m) != 1 || m[0] != "%who" || got["cursor_start"] != 2.0 {
		t.Errorf("complete = %v", got)
	}
	got = l.request(wire.Shell, "inspect_request", map[string]any{"code": "%reset", "cursor_pos": 3})
	if got["found"] != true {
		t.Errorf("inspect = %v", got)
	}
	l.run("set x\nset y")
	r := l.run("%who\nvalue 3")
	if out := r.text(t, "stdout"); !strings.Contains(out, "x     int   [1]") || !strings.Contains(out, "y  ") {
		t.Errorf("%%who printed %q", out)
	}
	if r.iopub[len(r.iopub)-1].Header.MsgType != "execute_result" {
		t.Errorf("iopub: %s", r.types())
	}
	r = l.run("print never\n%resett")
	if f := fields(t, r.reply); f["ename"] != "UsageError" || !strings.Contains(f["evalue"].(string), "did you mean %reset?") {
		t.Errorf("reply = %v", f)
	}
	if r.text(t, "stdout") != "" {
		t.Error("a cell with an unknown line ran halfway")
	}
	if l.run("%reset").status(t) != "ok" || len(l.fake.Globals()) != 0 {
		t.Error("%reset left names")
	}
	if f := fields(t, l.run("%get example.com/none").reply); !strings.Contains(f["evalue"].(string), "is not there") {
		t.Errorf("%%get: %v", f)
	}
	if f := fields(t, l.run("%time fail Kind text").reply); f["ename"] != "Kind" {
		t.Errorf("%%time of code that fails: %v", f)
	}
	if out := l.run("%%time\nprint x").text(t, "stdout"); !strings.HasPrefix(out, "x\nwall ") {
		t.Errorf("%%%%time printed %q", out)
	}
}

func TestIsComplete(t *testing.T) {
	l := newLab(t, nil)
	for code, want := range map[string]string{
		"x := 1": "complete", "func f() {": "incomplete", "%who": "complete", "!ls": "complete", "": "complete",
		"%%bash\nls\n": "incomplete", "%%bash\nls\n\n": "complete", "%who\nfunc f() {": "incomplete",
	} {
		got := l.request(wire.Shell, "is_complete_request", map[string]any{"code": code})
		if got["status"] != want {
			t.Errorf("%q is %v, want %s", code, got["status"], want)
		}
		if _, ok := got["indent"]; ok != (want == "incomplete") {
			t.Errorf("%q: indent = %v", code, got["indent"])
		}
	}
}

func TestHistoryRequests(t *testing.T) {
	l := newLab(t, nil)
	for _, code := range []string{"value 1", "print a", "value 1", "value 22"} {
		l.run(code)
	}
	inputs := func(content map[string]any) string {
		var out []string
		for _, e := range l.request(wire.Shell, "history_request", content)["history"].([]any) {
			out = append(out, fmt.Sprint(e.([]any)[1:]))
		}
		return strings.Join(out, " ")
	}
	for _, test := range []struct {
		content map[string]any
		want    string
	}{
		{map[string]any{"hist_access_type": "tail", "n": 2}, "[3 value 1] [4 value 22]"},
		{map[string]any{"hist_access_type": "tail", "n": 2, "output": true}, "[3 [value 1 1]] [4 [value 22 22]]"},
		{map[string]any{"hist_access_type": "range", "session": 0, "start": 2, "stop": 4}, "[2 print a] [3 value 1]"},
		{map[string]any{"hist_access_type": "range", "session": 0, "start": 3, "stop": nil}, "[3 value 1] [4 value 22]"},
		{map[string]any{"hist_access_type": "search", "pattern": "value*", "n": 0}, "[1 value 1] [3 value 1] [4 value 22]"},
		{map[string]any{"hist_access_type": "search", "pattern": "value ?", "n": 9, "unique": true}, "[3 value 1]"},
	} {
		if got := inputs(test.content); got != test.want {
			t.Errorf("%v: %s, want %s", test.content, got, test.want)
		}
	}
	got := l.request(wire.Shell, "history_request", map[string]any{"hist_access_type": "sideways"})
	if got["status"] != "error" {
		t.Errorf("an unknown access type: %v", got)
	}
}

func TestUnsupportedRequestsAreAnswered(t *testing.T) {
	l := newLab(t, nil)
	for _, msgType := range []string{"create_subshell_request", "list_subshell_request", "debug_request", "usage_request"} {
		if got := l.request(wire.Control, msgType, map[string]any{}); got["status"] != "error" || got["ename"] != "UnsupportedRequest" {
			t.Errorf("%s: %v", msgType, got)
		}
	}
	sub := "some-subshell"
	m := &wire.Message{Header: l.Codec.NewHeader("execute_request"), Content: json.RawMessage(`{"code":"print x"}`)}
	m.Header.SubshellID = &sub
	id, err := l.SendMessage(wire.Shell, m)
	if err != nil {
		t.Fatal(err)
	}
	if got := fields(t, l.await(id).reply); got["ename"] != "SubshellNotFound" {
		t.Errorf("a request for a subshell: %v", got)
	}
}

func TestHeartbeat(t *testing.T) {
	l := newLab(t, nil)
	l.send("stuck")
	for _, data := range []string{"ping", "", "a longer one " + strings.Repeat("x", 1000)} {
		got, err := l.Ping([]byte(data))
		if err != nil || string(got) != data {
			t.Errorf("ping %q: %q, %v", data, got, err)
		}
	}
}

func TestAnEvaluatorThatDoesNotStart(t *testing.T) {
	var l *lab
	l = newLab(t, func(c *Config) {
		start := c.NewEvaluator
		c.NewEvaluator = func(s Streams) (Evaluator, error) {
			start(s)
			return nil, errors.New("no interpreter today")
		}
	})
	if got := fields(t, l.run("print x").reply); got["ename"] != "StartError" || got["evalue"] != "no interpreter today" {
		t.Errorf("reply = %v", got)
	}
	if l.request(wire.Shell, "complete_request", map[string]any{"code": "x", "cursor_pos": 1})["status"] != "ok" {
		t.Error("a completion without an interpreter must be empty, not a failure")
	}
}
