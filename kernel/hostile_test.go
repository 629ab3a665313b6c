package kernel

import (
	"encoding/json"
	"testing"

	"gradbook/kernel/wire"
)

var requestTypes = []string{
	"execute_request", "complete_request", "inspect_request", "is_complete_request", "history_request",
	"kernel_info_request", "comm_info_request", "comm_open", "comm_msg", "comm_close", "interrupt_request",
	"input_reply", "create_subshell_request", "debug_request", "nonsense", "nonsense_request", "",
}

// hostileContents are well-formed JSON that no request should have.
var hostileContents = []string{
	`{}`, `{"code":5}`, `{"code":null}`, `{"code":{"a":1},"cursor_pos":"x"}`, `{"code":"x"}`, `{"code":"x","cursor_pos":1e99}`,
	`{"code":"x","cursor_pos":-3,"detail_level":-1}`, `{"code":"x","cursor_pos":4.5}`, `{"code":"print x","user_expressions":[1]}`,
	`{"code":"print x","user_expressions":{"a":1}}`, `{"code":"print x","silent":"yes"}`, `{"hist_access_type":3}`,
	`{"hist_access_type":"range","session":1e30}`, `{"hist_access_type":"tail","n":-1}`, `{"hist_access_type":"search","n":-9,"pattern":"["}`,
	`{"comm_id":[],"target_name":{}}`, `{"comm_id":"","target_name":"","data":7}`, `{"comm_id":"x","data":null}`, `{"value":{}}`, `{"value":null}`,
	`{"target_name":9}`, `{"restart":"maybe"}`,
}

// hit sends content as a request of that type on every channel.
func (l *lab) hit(msgType, content string) {
	for _, ch := range []wire.Channel{wire.Shell, wire.Control, wire.Stdin} {
		m := &wire.Message{Header: l.Codec.NewHeader(msgType), Content: json.RawMessage(content)}
		if _, err := l.SendMessage(ch, m); err != nil {
			l.t.Fatal(err)
		}
	}
}

// alive fails the test unless the kernel still runs cells.
func (l *lab) alive() {
	l.t.Helper()
	if r := l.run("print alive"); r.text(l.t, "stdout") != "alive\n" {
		l.t.Errorf("the kernel prints %q", r.text(l.t, "stdout"))
	}
	if got := l.request(wire.Control, "kernel_info_request", map[string]any{}); got["status"] != "ok" {
		l.t.Errorf("kernel_info: %v", got)
	}
}

func TestHostileContents(t *testing.T) {
	l := newLab(t, nil)
	for _, msgType := range requestTypes {
		for _, content := range hostileContents {
			l.hit(msgType, content)
		}
		l.alive()
	}
	l.hit("shutdown_request", `{"restart":"maybe"}`)
	l.alive()
	// Nothing wrong was run.
	l.fake.mu.Lock()
	defer l.fake.mu.Unlock()
	for _, src := range l.fake.runs {
		if src != "print alive" && src != "x" {
			t.Errorf("the kernel ran %q", src)
		}
	}
}

// harmless says whether content is an object that runs no code: a valid cell may be one that never ends.
func harmless(content []byte) bool {
	var req struct{ Code string }
	return json.Valid(content) && content[0] == '{' && (json.Unmarshal(content, &req) != nil || req.Code == "")
}

// FuzzContent sends any object as the content of every request.
func FuzzContent(f *testing.F) {
	for i, content := range hostileContents {
		if harmless([]byte(content)) {
			f.Add(i%len(requestTypes), []byte(content))
		}
	}
	f.Fuzz(func(t *testing.T, kind int, content []byte) {
		if !harmless(content) {
			t.Skip("not an object, or one with code to run")
		}
		l := newLab(t, nil)
		l.hit(requestTypes[uint(kind)%uint(len(requestTypes))], string(content))
		l.alive()
	})
}
