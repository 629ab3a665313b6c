package live

import (
	"fmt"
	"io"
	"log"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gradbook/kernel"
	"gradbook/kernel/interp"
	"gradbook/kernel/notebook"
	"gradbook/kernel/runner"
	"gradbook/session"
	"gradbook/viz/display"
)

const notebooks = "../../notebooks"

// execute runs a notebook and returns its code cells.
func execute(t *testing.T, name string) []*notebook.Cell {
	t.Helper()
	nb, err := notebook.Read(filepath.Join(notebooks, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Current().Close() })
	config := Config("test", log.New(io.Discard, "", 0), nil)
	if err := runner.Run(t.Context(), nb, runner.Options{Kernel: config}); err != nil {
		t.Fatal(err)
	}
	var code []*notebook.Cell
	for _, c := range nb.Cells {
		if c.Type() == "code" {
			code = append(code, c)
		}
	}
	return code
}

// text is what a cell shows as text, streams and displays in order.
func text(c *notebook.Cell) string {
	var b strings.Builder
	for _, o := range c.Outputs() {
		switch o["output_type"] {
		case "stream":
			fmt.Fprint(&b, o["text"])
		case "display_data", "execute_result":
			fmt.Fprintln(&b, o["data"].(map[string]any)["text/plain"])
		}
	}
	return b.String()
}

// find returns the code cell that holds a line.
func find(t *testing.T, cells []*notebook.Cell, line string) *notebook.Cell {
	t.Helper()
	for _, c := range cells {
		if strings.Contains(c.Source(), line) {
			return c
		}
	}
	t.Fatalf("no cell holds %q", line)
	return nil
}

// pictured checks that a cell shows something in all three forms.
func pictured(t *testing.T, c *notebook.Cell) {
	t.Helper()
	for _, o := range c.Outputs() {
		data, ok := o["data"].(map[string]any)
		if !ok {
			continue
		}
		page, _ := data["text/html"].(string)
		picture, _ := data["image/svg+xml"].(string)
		if strings.Contains(page, "<img") && strings.HasPrefix(picture, "<svg") && data["text/plain"] != "" {
			return
		}
	}
	t.Errorf("no picture under %q", c.Source())
}

func contains(t *testing.T, got string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(got, w) {
			t.Errorf("%q is missing in:\n%s", w, got)
		}
	}
}

func TestQuickstart(t *testing.T) {
	cells := execute(t, "quickstart.ipynb")
	train := find(t, cells, "loss.Backward()")
	pictured(t, train)
	contains(t, text(train), "loss  ", "1,407 steps", "epoch 2: 9")
	residency := find(t, cells, "%residency")
	pictured(t, residency)
	contains(t, text(residency), "model.Layers[0].W", "model.Layers[2].B.Grad", "opt.m[0]", "opt.v[3]", "train.X", "test.Y")
	contains(t, text(find(t, cells, "%ledger")), "linear_param_bwd")
	last := strings.Split(strings.TrimSpace(text(cells[len(cells)-1])), "\n")
	found := regexp.MustCompile(`^test accuracy (\d+\.\d\d)%$`).FindStringSubmatch(last[len(last)-1])
	if found == nil {
		t.Fatalf("the last line is %q", last[len(last)-1])
	}
	if accuracy, _ := strconv.ParseFloat(found[1], 64); accuracy < 97 {
		t.Errorf("test accuracy %v%%", accuracy)
	}
}

// The notebook's text says what each map shows; here the maps say it.
func TestMemoryNotebook(t *testing.T) {
	cells := execute(t, "memory.ipynb")
	var maps []string
	for _, c := range cells {
		if c.Source() == "%residency" {
			maps = append(maps, text(c))
		}
	}
	row := func(m, owner string) string {
		for line := range strings.Lines(m) {
			if strings.HasPrefix(line, owner+"  ") || strings.HasPrefix(line, owner+" ×") {
				return line
			}
		}
		return ""
	}
	for i, c := range []struct {
		present []string // "owner: what its row holds"
		absent  []string
	}{
		{present: []string{"x: 1.0 MiB", "x: device", "random state: generator"}},
		{present: []string{"x: 1.0 MiB", "y: both"}, absent: []string{"view"}},
		{present: []string{"y: 256 B", "pool, free for reuse: 1.0 MiB"}},
		{present: []string{"(unnamed): activation", "model.Layers[0].W: parameter"}, absent: []string{"model.Layers[0].W.Grad"}},
		{present: []string{"model.Layers[0].W.Grad: linear_param_bwd"}},
		{present: []string{"opt.m[0]: optimizer state", "opt.v[3]: optimizer state"}},
		{present: []string{"(unnamed): 4.0 MiB"}},
		{absent: []string{"(unnamed)", "x", "pool, free for reuse"}},
	} {
		for _, p := range c.present {
			owner, what, _ := strings.Cut(p, ": ")
			if !strings.Contains(row(maps[i], owner), what) {
				t.Errorf("map %d: %q has no %q:\n%s", i+1, owner, what, maps[i])
			}
		}
		for _, owner := range c.absent {
			if row(maps[i], owner) != "" {
				t.Errorf("map %d still shows %q:\n%s", i+1, owner, maps[i])
			}
		}
	}
	for line := range strings.Lines(maps[4]) {
		if strings.HasPrefix(line, "(unnamed)") && !strings.Contains(line, "  20.0 KiB") && !strings.Contains(line, "  40.0 KiB") {
			t.Errorf("Backward left what only the tape could see: %s", line)
		}
	}
	contains(t, text(find(t, cells, "try(func()")), "storage was freed (x")
	pictured(t, find(t, cells, "viz.TapeGraph"))
}

func TestNotebooksAreCommittedClean(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(notebooks, "*.ipynb"))
	if err != nil || len(files) < 2 {
		t.Fatal("no notebooks", err)
	}
	for _, f := range files {
		nb, err := notebook.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range nb.Cells {
			if c.Type() == "code" && len(c.Outputs()) > 0 {
				t.Errorf("%s: cell %d has outputs", f, i+1)
			}
		}
	}
}

type nowhere struct{}

func (nowhere) Display(display.Bundle, string) {}
func (nowhere) Update(display.Bundle, string)  {}
func (nowhere) Clear(bool)                     {}

// A training cell run again and again leaves nothing behind: no byte on the
// device, and no Go memory beyond the noise of the runtime.
func TestTrainingCell200Times(t *testing.T) {
	s := session.Current()
	t.Cleanup(func() { s.Close() })
	display.SetSink(nowhere{})
	t.Cleanup(func() { display.SetSink(nil) })
	in, err := interp.New(interp.Options{Prelude: Prelude})
	if err != nil {
		t.Fatal(err)
	}
	c := cells{s}
	n := 0
	run := func(src string) {
		n++
		c.BeginCell(n)
		out := in.Run(t.Context(), n, src)
		if out.Err != nil {
			t.Fatalf("cell %d: %v", n, out.Err)
		}
		var globals []kernel.Global
		for _, g := range in.Globals() {
			globals = append(globals, kernel.Global(g))
		}
		if err := c.EndCell(kernel.End{Globals: globals}); err != nil {
			t.Fatal(err)
		}
	}
	run("x, labels := autograd.Const(tensor.Randn(64, 256)), make([]int, 64)\ny := autograd.Const(tensor.FromInts(labels))")
	const train = `model := nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
opt := optim.Adam(model.Params(), 1e-3)
curve := viz.NewCurve("loss")
for range 5 {
	loss := nn.CrossEntropy(model.Forward(x), y)
	loss.Backward()
	opt.Step()
	curve.Add(loss)
}
nn.CrossEntropy(model.Forward(x), y)`
	measure := func() (device int64, heap uint64) {
		d, err := s.Device()
		if err != nil {
			t.Fatal(err)
		}
		d.Collect()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return d.Snapshot().InUse, m.HeapAlloc
	}
	run(train)
	run(train)
	device, heap := measure()
	most := int64(0)
	for range 198 {
		run(train)
		most = max(most, s.Snapshot().Devices[0].InUse)
	}
	deviceAfter, heapAfter := measure()
	runtime.KeepAlive(in)
	if deviceAfter != device {
		t.Errorf("%d device bytes after the second run, %d after 200", device, deviceAfter)
	}
	if grown := int64(heapAfter) - int64(heap); grown > 1<<20 {
		t.Errorf("the Go heap grew by %d KiB", grown>>10)
	}
	// In between, at most what is not worth a collection lies about.
	if limit := device + 3<<20; most > limit {
		t.Errorf("%d device bytes in use between collections, more than %d", most, limit)
	}
}

func TestAutogradNotebook(t *testing.T) {
	cells := execute(t, "autograd.ipynb")
	byHand := text(find(t, cells, "byHand :="))
	numbers := regexp.MustCompile(`(?m)^\[.*\]$`).FindAllString(byHand, -1)
	if len(numbers) != 2 || numbers[0] != numbers[1] {
		t.Errorf("the gradient by tape and by hand:\n%s", byHand)
	}
	contains(t, text(find(t, cells, "both.Backward()")), "16")
	contains(t, text(find(t, cells, "GradCheck")), "softsign: <nil>", "but central differences give")
	contains(t, text(find(t, cells, "height.Backward()")), "p = 1.000, q = 1.000")
	for _, c := range cells {
		if strings.Contains(c.Source(), "viz.TapeGraph") {
			pictured(t, c)
		}
	}
}

func TestCustomNotebook(t *testing.T) {
	cells := execute(t, "custom.ipynb")
	found := regexp.MustCompile(`test accuracy (\d+\.\d\d)%`).FindStringSubmatch(text(find(t, cells, "NewLion(model.Params()")))
	if found == nil {
		t.Fatal("no accuracy")
	}
	if accuracy, _ := strconv.ParseFloat(found[1], 64); accuracy < 97 {
		t.Errorf("test accuracy %v%%", accuracy)
	}
	contains(t, text(find(t, cells, "%residency")), "model.Layers[1].In.W ", "model.Layers[2].Out.B.Grad ", "opt.m[0] ")
}

func TestBackendsNotebook(t *testing.T) {
	cells := execute(t, "backends.ipynb")
	first := find(t, cells, `"host:1"`)
	pictured(t, first)
	for _, device := range []string{"host", "host:1"} {
		row := regexp.MustCompile(`(?m)^` + device + ` .*$`).FindString(text(first))
		fields := strings.Fields(row)
		if len(fields) < 2 || strings.HasSuffix(row, "–") {
			t.Fatalf("%s was not measured:\n%s", device, text(first))
		}
		if differs, err := strconv.ParseFloat(fields[len(fields)-1], 64); err != nil || differs > 1e-2 {
			t.Errorf("weights of %s differ by %s", device, fields[len(fields)-1])
		}
	}
	for _, device := range []string{"vulkan", "cuda"} {
		// A device that is absent has a row and a reason.
		if row := regexp.MustCompile(`(?m)^` + device + ` .*$`).FindString(text(first)); strings.HasSuffix(row, "–") {
			contains(t, text(first), "\n"+device+": ")
		} else if row == "" {
			t.Errorf("no row for %s", device)
		}
	}
}

func TestPhasesNotebook(t *testing.T) {
	cells := execute(t, "phases.ipynb")
	var detours []int
	for _, c := range cells {
		for _, found := range regexp.MustCompile(`(\d+) launches through the host`).FindAllStringSubmatch(text(c), -1) {
			n, _ := strconv.Atoi(found[1])
			detours = append(detours, n)
		}
	}
	if len(detours) != 4 || !slices.IsSortedFunc(detours, func(a, b int) int { return b - a }) || detours[3] != 0 || detours[2] == 0 {
		t.Errorf("%d launches through the host, want fewer with each part that moves, and none in the end", detours)
	}
}
