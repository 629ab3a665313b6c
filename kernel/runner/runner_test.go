package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gradbook/kernel"
	"gradbook/kernel/notebook"
	"gradbook/viz/display"
)

// script is an evaluator whose cells are commands, one a line.
type script struct{ kernel.Streams }

func (s script) Run(ctx context.Context, n int, src string) (out kernel.Outcome) {
	for line := range strings.SplitSeq(src, "\n") {
		verb, arg, _ := strings.Cut(line, " ")
		switch verb {
		case "print":
			s.Stdout(n, []byte(arg+"\n"))
		case "err":
			s.Stderr(n, []byte(arg+"\n"))
		case "value":
			b := display.Text(arg).With(display.MIMEHTML, "<i>"+arg+"</i>")
			out.Bundle = &b
		case "fail":
			out.Err = &kernel.Error{Name: "Panic", Message: arg, Traceback: []string{"cell[1]: " + arg}}
			return out
		case "spin":
			<-ctx.Done()
			out.Err = &kernel.Error{Name: "Interrupted", Message: "stopped"}
			return out
		case "show":
			display.ShowID(display.Text(arg), "spot")
		case "update":
			display.Update(display.Text(arg), "spot")
		case "clear":
			display.Clear(arg == "wait")
		}
	}
	return out
}

func (script) IsComplete(string) (string, string)                   { return "unknown", "" }
func (script) Complete(string, int) (c kernel.Completion)           { return c }
func (script) Inspect(string, int, int) (b display.Bundle, ok bool) { return b, false }
func (script) Globals() []kernel.Global                             { return nil }
func (script) Cell() int                                            { return 0 }
func (script) Background() bool                                     { return false }
func (script) Close()                                               {}
func (script) Reset() error                                         { return nil }
func (script) Get(context.Context, string) error                    { return nil }

type recorder struct {
	bytes.Buffer
	begun []int
	ended bool
}

func (r *recorder) Begin(i, n int, source string) { r.begun = append(r.begun, i) }
func (r *recorder) End()                          { r.ended = true }

func book(t *testing.T, cells ...*notebook.Cell) *notebook.Notebook {
	t.Helper()
	nb, err := notebook.Parse([]byte(`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	nb.Cells = cells
	return nb
}

func code(source string, tags ...string) *notebook.Cell { return notebook.NewCode("", source, tags...) }

func execute(t *testing.T, nb *notebook.Notebook, o Options) (*recorder, error) {
	t.Helper()
	return runContext(t.Context(), nb, o)
}

func runContext(ctx context.Context, nb *notebook.Notebook, o Options) (*recorder, error) {
	console := &recorder{}
	o.Console = console
	o.Kernel.NewEvaluator = func(s kernel.Streams) (kernel.Evaluator, error) { return script{s}, nil }
	err := Run(ctx, nb, o)
	return console, err
}

// outputs describes the outputs of a cell in one line.
func outputs(c *notebook.Cell) string {
	var out []string
	for _, o := range c.Outputs() {
		switch o["output_type"] {
		case "stream":
			out = append(out, fmt.Sprintf("%v %q", o["name"], notebook.Text(o["text"])))
		case "error":
			out = append(out, fmt.Sprintf("error %v", o["evalue"]))
		default:
			data := o["data"].(map[string]any)
			out = append(out, fmt.Sprintf("%v %q", o["output_type"], notebook.Text(data["text/plain"])))
		}
	}
	return strings.Join(out, ", ")
}

func TestRun(t *testing.T) {
	nb := book(t, code("print a\nprint b\nerr c\nvalue 7"), code("  "), code("print no", "skip-execution"), code("print d"))
	console, err := execute(t, nb, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := outputs(nb.Cells[0]), `stdout "a\nb\n", stderr "c\n", execute_result "7"`; got != want {
		t.Errorf("outputs %s, want %s", got, want)
	}
	if got := nb.Cells[0].Outputs()[2]["execution_count"]; got != 1 {
		t.Errorf("the result has number %v", got)
	}
	if outputs(nb.Cells[2]) != "" || outputs(nb.Cells[3]) != `stdout "d\n"` || nb.Cells[3].ExecutionCount() != "2" {
		t.Errorf("skipped %s, last %s", outputs(nb.Cells[2]), outputs(nb.Cells[3]))
	}
	if got := console.String(); got != "a\nb\nc\n7\nd\n" || !console.ended || fmt.Sprint(console.begun) != "[0 3]" {
		t.Errorf("console %q, begun %v", got, console.begun)
	}
	if nb.Language() != "go" {
		t.Errorf("language %q", nb.Language())
	}
	if _, err := nb.Encode(); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	nb := book(t, code("print a"), code("print b\nfail no way"), code("print c"))
	nb.Cells[2].SetOutputs([]notebook.Output{{"output_type": "stream", "name": "stdout", "text": "old"}}, 9)
	console, err := execute(t, nb, Options{})
	var cell *CellError
	if !errors.As(err, &cell) || cell.Cell != 2 || cell.Name != "Panic" || err.Error() != "cell 2 failed: Panic: no way" {
		t.Errorf("err = %v", err)
	}
	if got := outputs(nb.Cells[1]); got != `stdout "b\n", error no way` {
		t.Errorf("outputs %s", got)
	}
	if outputs(nb.Cells[2]) != "" || nb.Cells[2].ExecutionCount() != "" {
		t.Error("a cell that did not run keeps old outputs")
	}
	if !strings.Contains(console.String(), "cell[1]: no way") {
		t.Errorf("console %q", console.String())
	}
	for name, change := range map[string]func(*notebook.Notebook, *Options){
		"allow errors": func(_ *notebook.Notebook, o *Options) { o.AllowErrors = true },
		"a tag":        func(nb *notebook.Notebook, _ *Options) { nb.Cells[1] = code("fail no way", "raises-exception") },
	} {
		o := Options{}
		change(nb, &o)
		if _, err := execute(t, nb, o); err != nil || outputs(nb.Cells[2]) != `stdout "c\n"` {
			t.Errorf("%s: %v, %s", name, err, outputs(nb.Cells[2]))
		}
	}
}

func TestTimeout(t *testing.T) {
	nb := book(t, code("print a\nspin"), code("print b"))
	_, err := execute(t, nb, Options{Timeout: 50 * time.Millisecond})
	if err == nil || err.Error() != "cell 1 took longer than 50ms" {
		t.Errorf("err = %v", err)
	}
	if got := outputs(nb.Cells[0]); got != `stdout "a\n", error stopped` {
		t.Errorf("outputs %s", got)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop it")
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
	nb := book(t, code("print a\nspin"))
	if _, err := runContext(ctx, nb, Options{}); !errors.Is(err, stop) {
		t.Errorf("err = %v", err)
	}
	if got := outputs(nb.Cells[0]); got != `stdout "a\n", error stopped` {
		t.Errorf("outputs %s", got)
	}
}

func TestDisplays(t *testing.T) {
	nb := book(t, code("show one\nshow two\nprint x"), code("update three"), code("print a\nclear\nprint b"), code("print a\nclear wait\nprint b"), code("print a\nclear wait"))
	if _, err := execute(t, nb, Options{}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`display_data "three", display_data "three", stdout "x\n"`, "", `stdout "b\n"`, `stdout "b\n"`, `stdout "a\n"`,
	} {
		if got := outputs(nb.Cells[i]); got != want {
			t.Errorf("cell %d: %s, want %s", i+1, got, want)
		}
	}
}

func TestTheConsoleShowsTheLastState(t *testing.T) {
	nb := book(t, code("show one\nupdate two\nupdate three\nprint x"), code("print y"))
	console, err := execute(t, nb, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := console.String(), "one\nx\nthree\ny\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestForeignNotebook(t *testing.T) {
	nb := book(t, code("print a"))
	nb.SetMetadata("language_info", map[string]any{"name": "python"})
	if _, err := execute(t, nb, Options{}); err == nil || !strings.Contains(err.Error(), "written in python") {
		t.Errorf("err = %v", err)
	}
}

func TestParameterize(t *testing.T) {
	defaults := "steps := 3 // how many\nrate := 0.5\nvar name = \"a\"\nvar scale float64 = 2\nfast := false"
	nb := book(t, code("print first"), code(defaults, "parameters"), code("stale", "injected-parameters"), code("rest"))
	undeclared, err := Parameterize(nb, []Parameter{
		{"steps", "10", false}, {"rate", "2", false}, {"scale", "3", false}, {"name", "7", false}, {"fast", "true", false},
		{"extra", "q\"uote", false}, {"text", "12", true}, {"none", "null", false}, {"small", "1e-3", false},
	})
	if err != nil || strings.Join(undeclared, " ") != "extra text none small" {
		t.Errorf("undeclared %v, %v", undeclared, err)
	}
	want := "// Parameters\nsteps := 10\nrate := 2.0\nscale := 3.0\nname := \"7\"\nfast := true\nextra := \"q\\\"uote\"\ntext := \"12\"\nnone := any(nil)\nsmall := 0.001"
	if len(nb.Cells) != 4 || nb.Cells[2].Source() != want || !nb.Cells[2].HasTag("injected-parameters") {
		t.Errorf("%d cells, injected\n%s", len(nb.Cells), nb.Cells[2].Source())
	}
	nb = book(t, code("rest"))
	if _, err := Parameterize(nb, []Parameter{{"x", "1", false}}); err != nil || nb.Cells[0].Source() != "// Parameters\nx := 1" {
		t.Errorf("without a parameters cell: %v", err)
	}
	if _, err := Parameterize(nb, []Parameter{{"x y", "1", false}}); err == nil {
		t.Error("a name with a space")
	}
}

func TestPage(t *testing.T) {
	nb := book(t, code("fmt.Println(\"<hi>\")\nvalue 7\nprint <b>\nfail <script>"))
	raw, _ := notebook.Parse([]byte(`{"nbformat":4,"cells":[{"cell_type":"markdown","source":"# Title *here*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"}]}`))
	nb.Cells = append(raw.Cells, nb.Cells...)
	execute(t, nb, Options{})
	page, err := Page(nb, "window.echarts = 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h1>Title <em>here</em></h1>", "<td>1</td>", "[1]", "&lt;hi&gt;", "&lt;b&gt;", "cell[1]: &lt;script&gt;", `<span class="s">&#34;&lt;hi&gt;&#34;</span>`} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if bytes.Contains(page, []byte("window.echarts")) {
		t.Error("the chart library is in a page without charts")
	}
	if bytes.Contains(page, []byte("http://")) || bytes.Contains(page, []byte("https://")) {
		t.Error("the page refers to another place")
	}
	nb.Cells[1].SetOutputs([]notebook.Output{{"output_type": "display_data", "data": map[string]any{"text/html": "<div id=c></div><script>echarts.init(c)</script>", "text/plain": "no"}}}, 1)
	if page, err = Page(nb, "window.echarts = 1"); err != nil || !bytes.Contains(page, []byte("<script>window.echarts = 1\nwindow.__gradbookCharts")) {
		t.Errorf("the chart library is missing: %v", err)
	}
}
