package interp

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gradbook/kernel/interp/testdata/tensor"
)

//go:generate go run ../symbols/internal/gen -table gradbook/kernel/interp/testdata/tensor -out tensor_table_test.go

var (
	caseDir  = flag.String("cases", "testdata/cases", "folder of case files for TestCaseFiles")
	caseOnly = flag.String("case", "", "run the case of this name alone")
	dumpCode = flag.Bool("dump", false, "print lowered code")
)

// testCell is one cell of a case, with what it must come to.
type testCell struct {
	src   string
	wants []string
}

type testCase struct {
	file, name string
	cells      []testCell
}

// loadCases reads a case file:
//
//	=== case-name [| note]
//	--- [want ;; want ...]     starts a cell
//	cell source
//
// wants: ok | err | err~SUB | val:TEXT | val~SUB | out:TEXT (\n escaped) | out~SUB | serr~SUB | panic | any, and
// html~SUB, trace~SUB, mime:TYPE, warn~SUB.
func loadCases(t *testing.T, path string) (cases []testCase) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "=== "):
			name, _, _ := strings.Cut(line[4:], "|")
			cases = append(cases, testCase{file: filepath.Base(path), name: strings.TrimSpace(name)})
		case len(cases) == 0:
		case line == "---" || strings.HasPrefix(line, "--- "):
			c := testCell{}
			for _, w := range strings.Split(strings.TrimPrefix(line, "---"), ";;") {
				if w = strings.TrimSpace(w); w != "" {
					c.wants = append(c.wants, w)
				}
			}
			last := &cases[len(cases)-1]
			last.cells = append(last.cells, c)
		default:
			if last := &cases[len(cases)-1]; len(last.cells) > 0 {
				last.cells[len(last.cells)-1].src += line + "\n"
			}
		}
	}
	for i := range cases {
		for j := range cases[i].cells {
			cases[i].cells[j].src = strings.TrimSpace(cases[i].cells[j].src)
		}
	}
	return cases
}

// output collects what cells write.
type output struct {
	mu  sync.Mutex
	out [2]strings.Builder
}

func (o *output) take() (out, err string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out, err = o.out[0].String(), o.out[1].String()
	o.out[0].Reset()
	o.out[1].Reset()
	return out, err
}

func (o *output) options() Options {
	write := func(i int) func(int, []byte) {
		return func(_ int, p []byte) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.out[i].Write(p)
		}
	}
	return Options{Stdout: write(0), Stderr: write(1), packages: addTensor}
}

// addTensor makes the stand-in package importable, as "yaegiharness/tensor".
func addTensor(l *library) {
	tensor.DefaultLR, tensor.Hook = 0.01, nil // cases set them
	const path, file = "yaegiharness/tensor", "testdata/tensor/tensor.go"
	src, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	fset := tensorFset
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	conf := types.Config{Importer: l}
	pkg, err := conf.Check(path, fset, []*ast.File{f}, nil)
	if err != nil {
		panic(err)
	}
	for _, syms := range tensorTable {
		l.add(pkg, syms)
	}
	l.sources[path] = map[string][]byte{"tensor.go": src}
}

// How long a cell may take before it is interrupted: one that is expected to run on, and any other.
const (
	stopAfter = 700 * time.Millisecond
	cellLimit = 30 * time.Second
)

// mayRunOn says whether a cell may need an interrupt to end.
func mayRunOn(wants []string) bool {
	for _, w := range wants {
		if w == "any" || strings.HasPrefix(w, "err~") && (strings.Contains(w, "deadline") || strings.Contains(w, "interrupted")) {
			return true
		}
	}
	return false
}

// runCase runs the cells of a case in an interpreter of its own.
func runCase(t *testing.T, c testCase) (bad []string) {
	var o output
	opt := o.options()
	if *dumpCode {
		opt.trace = func(code string) { fmt.Println(code) }
	}
	in, err := New(opt)
	if err != nil {
		return []string{err.Error()}
	}
	defer in.Close()
	for i, cl := range c.cells {
		limit := cellLimit
		if mayRunOn(cl.wants) {
			limit = stopAfter
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		start := time.Now()
		out := in.Run(ctx, i, cl.src)
		took := time.Since(start)
		late := ctx.Err() != nil
		cancel()
		std, serr := o.take()
		for _, b := range checkWants(cl.wants, out, std, serr) {
			bad = append(bad, fmt.Sprintf("cell %d: %s", i, b))
		}
		if late && took > limit+time.Second {
			bad = append(bad, fmt.Sprintf("cell %d: took %v to stop", i, took-limit))
		}
	}
	return bad
}

func checkWants(wants []string, o Outcome, std, serr string) (bad []string) {
	val, page := "", ""
	if o.Bundle != nil {
		val = o.Bundle.Plain()
		page, _ = o.Bundle.Data["text/html"].(string)
	}
	msg, trace := "", ""
	if o.Err != nil {
		trace = strings.Join(o.Err.Traceback, "\n")
		msg = o.Err.Message + "\n" + trace
		if o.Err.Name == "Interrupted" {
			msg += " context deadline exceeded"
		}
	}
	wantErr := false
	for _, w := range wants {
		wantErr = wantErr || strings.HasPrefix(w, "err") || w == "panic" || w == "any" || strings.HasPrefix(w, "trace")
	}
	if !wantErr && o.Err != nil {
		bad = append(bad, "unexpected "+o.Err.Name+": "+firstLine(msg))
	}
	if o.Err != nil && o.Err.Name == "InternalError" {
		bad = append(bad, "internal: "+firstLine(msg))
	}
	has := func(what, s, v string) {
		if !strings.Contains(s, v) {
			bad = append(bad, fmt.Sprintf("want %s with %q, got %q", what, v, firstLine(s)))
		}
	}
	for _, w := range wants {
		k, v := w, ""
		if i := strings.IndexAny(w, ":~"); i > 0 {
			k, v = w[:i+1], strings.ReplaceAll(w[i+1:], `\n`, "\n")
		}
		switch k {
		case "ok", "any":
		case "err":
			if o.Err == nil {
				bad = append(bad, "want an error")
			}
		case "panic":
			if o.Err == nil || o.Err.Name != "Panic" {
				bad = append(bad, fmt.Sprintf("want a panic, got %v", o.Err))
			}
		case "err~":
			has("error", msg, v)
		case "trace~":
			has("traceback", trace, v)
		case "val:":
			if val != v {
				bad = append(bad, fmt.Sprintf("want value %q, got %q", v, firstLine(val)))
			}
		case "val~":
			has("value", val, v)
		case "html~":
			has("html", page, v)
		case "mime:":
			if o.Bundle == nil || o.Bundle.Data[v] == nil {
				bad = append(bad, "want a result of type "+v)
			}
		case "warn~":
			has("warning", strings.Join(o.Warnings, "\n"), v)
		case "out:":
			if strings.TrimSuffix(std, "\n") != strings.TrimSuffix(v, "\n") {
				bad = append(bad, fmt.Sprintf("want output %q, got %q", v, std))
			}
		case "out~":
			has("output", std, v)
		case "serr~":
			has("stderr", serr, v)
		default:
			bad = append(bad, "unknown want "+w)
		}
	}
	return bad
}

func firstLine(s string) string {
	s = strings.ReplaceAll(s, "\n", "⏎")
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}

// TestCaseFiles runs every case of every file in -cases, each in a fresh interpreter.
func TestCaseFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*caseDir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no case files in %s", *caseDir)
	}
	passed, failed := 0, 0
	for _, file := range files {
		for _, c := range loadCases(t, file) {
			if *caseOnly != "" && c.name != *caseOnly {
				continue
			}
			if why := impossible[c.name]; why != "" {
				fmt.Printf("listed %s: %s\n", c.name, why)
				failed++
				continue
			}
			bad := runCase(t, c)
			if len(bad) == 0 {
				passed++
				continue
			}
			failed++
			t.Errorf("%s %s\n\t%s", c.file, c.name, strings.Join(bad, "\n\t"))
		}
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
}

// impossible names the cases that cannot pass, with the reason; docs/cells.md says more.
var impossible = map[string]string{
	"x-goroutine-panic-compiled": "a panic on a goroutine that compiled code starts ends the process; no other goroutine can recover it",
	"l-template":                 "text/template finds methods by reflection, and reflect cannot make a type with methods",
	"l-reflect":                  "reflect.StructOf makes types without a name, and yaegi makes its types by it",
	"x-map-race":                 "the runtime ends the process on concurrent map writes; it cannot be recovered",
}
