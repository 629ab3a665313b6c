package kernel

import (
	"encoding/json"
	"gradbook/kernel/wire"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestStdin(t *testing.T) {
	for _, test := range []struct {
		code, prompt string
		password     bool
	}{
		{"print before\nscan", "", false},
		{"ask name? ", "name?", false},
		{"secret key: ", "key:", true},
	} {
		l := newLab(t, nil)
		id := l.send(test.code)
		select {
		case m := <-l.Stdin:
			f := fields(t, m)
			if m.Header.MsgType != "input_request" || f["prompt"] != test.prompt || f["password"] != test.password {
				t.Errorf("%s: request %v", test.code, f)
			}
			if m.ParentHeader().MsgID != id {
				t.Errorf("%s: the request is not a child of the cell", test.code)
			}
		case <-l.ctx.Done():
			t.Fatal("no input request")
		}
		if _, err := l.Send(wire.Stdin, "input_reply", map[string]any{"value": "żółw", "status": "ok"}); err != nil {
			t.Fatal(err)
		}
		if got := l.await(id).text(t, "stdout"); !strings.HasSuffix(got, "got żółw\n") {
			t.Errorf("%s: stdout = %q", test.code, got)
		}
	}
}

func TestStdinThatNobodyAnswers(t *testing.T) {
	l := newLab(t, nil)
	r := l.run("scan", func(c map[string]any) { c["allow_stdin"] = false })
	if got := fields(t, r.reply); got["status"] != "error" || !strings.Contains(got["evalue"].(string), "does not answer input requests") {
		t.Errorf("reply = %v", got)
	}
	id := l.send("scan")
	<-l.Stdin
	l.request(wire.Control, "interrupt_request", map[string]any{})
	if got := l.await(id).status(t); got != "error" {
		t.Errorf("an interrupted question: %s", got)
	}
	// What was typed for the cell that is gone is not for this one.
	l.Send(wire.Stdin, "input_reply", map[string]any{"value": "late"})
	time.Sleep(20 * time.Millisecond)
	id = l.send("scan")
	<-l.Stdin
	l.Send(wire.Stdin, "input_reply", map[string]any{"value": "now"})
	if got := l.await(id).text(t, "stdout"); got != "got now\n" {
		t.Errorf("stdout = %q", got)
	}
}

func TestOutputOfAGoroutineGoesToItsCell(t *testing.T) {
	l := newLab(t, nil)
	first := l.run("later 60 late")
	second := l.send("print second\nsleep 150\nprint end")
	got := map[string]string{}
	for got[first.id] == "" || got[second] != "second\nend\n" {
		select {
		case m := <-l.IOPub:
			if m.Header.MsgType == "stream" {
				got[m.ParentHeader().MsgID] += fields(t, m)["text"].(string)
			}
		case <-l.ctx.Done():
			t.Fatalf("got %q", got)
		}
	}
	if got[first.id] != "late\n" {
		t.Errorf("output by cell: %q", got)
	}
}

func TestManyPrintsAreFewMessagesInOrder(t *testing.T) {
	l := newLab(t, nil)
	r := l.run("prints 10000\nerr between\nprint end")
	var want strings.Builder
	for i := range 10000 {
		want.WriteString("line " + strconv.Itoa(i) + "\n")
	}
	want.WriteString("end\n")
	if got := r.text(t, "stdout"); got != want.String() {
		t.Errorf("stdout is not what was printed: %d bytes, want %d", len(got), want.Len())
	}
	if n := len(r.iopub); n > 100 {
		t.Errorf("%d messages on iopub", n)
	}
	last := r.iopub[len(r.iopub)-2:]
	if fields(t, last[0])["name"] != "stderr" || fields(t, last[1])["text"] != "end\n" {
		t.Error("stderr and stdout are out of order")
	}
}

func TestCharactersAreNotCut(t *testing.T) {
	l := newLab(t, nil)
	// The two bytes of é come 40 ms apart, which is more than the outbox waits.
	r := l.run("bytes 61 c3\nsleep 40\nbytes a9 62")
	if got := r.text(t, "stdout"); got != "aéb" {
		t.Errorf("stdout = %q", got)
	}
	if r = l.run("bytes 61 c3"); r.text(t, "stdout") != "a\ufffd" {
		t.Errorf("a cut character at the end: %q", r.text(t, "stdout"))
	}
}

func TestDisplay(t *testing.T) {
	l := newLab(t, nil)
	r := l.run("show spot one\nupdate spot two\nclear\nprint x")
	if got, want := r.types(), "status execute_input display_data update_display_data clear_output stream"; got != want {
		t.Errorf("iopub: %s, want %s", got, want)
	}
	for i, text := range []string{"one", "two"} {
		f := fields(t, r.iopub[2+i])
		if f["data"].(map[string]any)["text/plain"] != text || f["transient"].(map[string]any)["display_id"] != "spot" {
			t.Errorf("message %d: %v", i, f)
		}
	}
	if fields(t, r.iopub[4])["wait"] != true {
		t.Error("clear_output lost its wait")
	}
}

func TestCommandOutputIsLiveAndInterruptible(t *testing.T) {
	l := newLab(t, nil)
	id := l.send("!echo first; sleep 20; echo second")
	l.awaitText("first")
	start := time.Now()
	l.request(wire.Control, "interrupt_request", map[string]any{})
	if got := fields(t, l.await(id).reply); got["ename"] != "Interrupted" {
		t.Errorf("reply = %v", got)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the command went on for %v", took)
	}
}

func TestComms(t *testing.T) {
	l := newLab(t, nil)
	open := func(id, target string) ran {
		msg, err := l.Send(wire.Shell, "comm_open", map[string]any{"comm_id": id, "target_name": target, "data": map[string]any{"n": 1}})
		if err != nil {
			t.Fatal(err)
		}
		iopub, err := l.UntilIdle(l.ctx, msg)
		if err != nil {
			t.Fatal(err)
		}
		return ran{id: msg, iopub: iopub}
	}
	r := open("a", "nobody")
	if r.types() != "status comm_close" || fields(t, r.iopub[1])["comm_id"] != "a" {
		t.Errorf("a comm to nobody: iopub %s", r.types())
	}
	l.kernel.RegisterComm("echo", func(c *Comm, data json.RawMessage) func(json.RawMessage, [][]byte) {
		return func(data json.RawMessage, buffers [][]byte) { c.Send(data, buffers...) }
	})
	if r = open("b", "echo"); r.types() != "status" {
		t.Errorf("a comm to echo: iopub %s", r.types())
	}
	info := func(target string) int {
		return len(l.request(wire.Shell, "comm_info_request", map[string]any{"target_name": target})["comms"].(map[string]any))
	}
	if info("") != 1 || info("echo") != 1 || info("other") != 0 {
		t.Errorf("comm_info: %d, %d, %d", info(""), info("echo"), info("other"))
	}
	m := &wire.Message{Header: l.Codec.NewHeader("comm_msg"), Content: json.RawMessage(`{"comm_id":"b","data":{"k":5}}`), Buffers: [][]byte{{1, 2, 3}}}
	id, err := l.SendMessage(wire.Shell, m)
	if err != nil {
		t.Fatal(err)
	}
	_ = id
	for {
		got := <-l.IOPub
		if got.Header.MsgType != "comm_msg" {
			continue
		}
		f := fields(t, got)
		if f["comm_id"] != "b" || f["data"].(map[string]any)["k"] != 5.0 || len(got.Buffers) != 1 || string(got.Buffers[0]) != "\x01\x02\x03" {
			t.Errorf("echo = %v, %v", f, got.Buffers)
		}
		break
	}
	l.Send(wire.Shell, "comm_close", map[string]any{"comm_id": "b", "data": map[string]any{}})
	if info("") != 0 {
		t.Error("the comm is still open")
	}
}
