package live

import (
	"context"
	"io"
	"strings"
	"testing"

	"gradbook/kernel"
	"gradbook/session"
	"gradbook/viz/display"
)

func newTestEvaluator(t *testing.T, cells ...string) kernel.Evaluator {
	t.Helper()
	t.Cleanup(func() { session.Current().Close() })
	drop := func(int, []byte) {}
	e, err := newEvaluator(kernel.Streams{Stdout: drop, Stderr: drop, Stdin: io.Reader(strings.NewReader(""))})
	if err != nil {
		t.Fatal(err)
	}
	for i, src := range cells {
		session.Current().BeginCell(i + 1)
		if out := e.Run(context.Background(), i+1, src); out.Err != nil {
			t.Fatal(out.Err.Message)
		}
		end := session.End{}
		for _, g := range e.Globals() {
			end.Globals = append(end.Globals, session.Global(g))
		}
		if _, err := session.Current().EndCell(end); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func TestInspectionTellsWhereAValueIs(t *testing.T) {
	e := newTestEvaluator(t, "layer := nn.Linear(4, 2)\nx := 41\ntype loud struct{}\nfunc (loud) String() string { panic(\"called\") }\nnoisy := loud{}")
	for name, want := range map[string][]string{
		"x":      {"x int", "41", "declared in cell [1]"},
		"layer":  {"layer *nn.LinearLayer", "layer.W: 32 B on host", "parameter", "in cell [1]"},
		"noisy":  {"noisy loud"},
		"loud":   {"type loud struct{}"},
		"tensor": {`import "gradbook/tensor"`},
	} {
		b, ok := e.Inspect(name, len(name), 0)
		if !ok {
			t.Errorf("%s: nothing known", name)
			continue
		}
		for _, w := range want {
			if text := b.Data[display.MIMEText].(string); !strings.Contains(text, w) {
				t.Errorf("%s: no %q in:\n%s", name, w, text)
			}
		}
	}
}

func TestCompletionSeesTheSession(t *testing.T) {
	e := newTestEvaluator(t, "layer := nn.Linear(4, 2)")
	c := e.Complete("layer.For", 9)
	if len(c.Matches) != 1 || c.Matches[0].Text != "Forward" || c.Start != 6 || c.End != 9 {
		t.Errorf("%+v", c)
	}
}
