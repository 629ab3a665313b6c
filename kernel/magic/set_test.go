package magic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bench runs cells that have no Go in them.
type bench struct {
	set         *Set
	out, errOut bytes.Buffer
	ran         []string // Go code
	fail        bool     // of the Go code
	ctx         context.Context
}

func newBench(t *testing.T) *bench { return &bench{set: NewSet(), ctx: t.Context()} }

func (b *bench) run(cell string) error {
	c := &Context{
		Context: b.ctx,
		Stdout:  &b.out,
		Stderr:  &b.errOut,
		Run: func(src string) error {
			b.ran = append(b.ran, src)
			if b.fail {
				return ErrFailed
			}
			return nil
		},
		Names: func() []Name { return []Name{{"xs", "[]int", 3}, {"a", "string", 12}} },
		Reset: func() error { return errors.New("cannot forget") },
		Get:   func(m string) error { b.ran = append(b.ran, "get "+m); return nil },
	}
	parts := Split(cell)
	if err := b.set.Check(parts); err != nil {
		return err
	}
	for _, p := range parts {
		if err := b.set.Run(c, p); err != nil {
			return err
		}
	}
	return nil
}

func TestUnknownLinesSuggestTheNearest(t *testing.T) {
	b := newBench(t)
	for cell, want := range map[string]string{
		"%hlep":        "did you mean %help?",
		"%resets":      "did you mean %reset?",
		"%write":       "did you mean %%writefile?",
		"%%writfile x": "did you mean %%writefile?",
		"%WHO":         "did you mean %who?",
		"%%tiem":       "did you mean %%time?",
		"%tmie":        "did you mean %time?",
		"%zzzzzzzz":    "there is no %zzzzzzzz; %help lists what there is",
		"x\n%":         "line 2: there is no %",
		"!":            "! needs a command",
	} {
		var usage *UsageError
		if err := b.run(cell); !errors.As(err, &usage) || !strings.Contains(usage.Text, want) {
			t.Errorf("%s: %v, want %q", cell, err, want)
		}
	}
}

func TestHelpListsEveryCommand(t *testing.T) {
	b := newBench(t)
	if err := b.run("%help"); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range b.set.commands {
		if !strings.Contains(b.out.String(), cmd.mark()) || cmd.Help == "" {
			t.Errorf("%s is not explained", cmd.mark())
		}
	}
	if !strings.Contains(b.out.String(), "!COMMAND") {
		t.Error("! is not explained")
	}
}

func TestWho(t *testing.T) {
	b := newBench(t)
	if err := b.run("%who"); err != nil {
		t.Fatal(err)
	}
	want := "NAME  TYPE    CELL\na     string  [12]\nxs    []int   [3]\n"
	if b.out.String() != want {
		t.Errorf("got %q, want %q", b.out.String(), want)
	}
	b.out.Reset()
	if b.run("%who zz"); b.out.String() != "no names are defined\n" {
		t.Errorf("got %q", b.out.String())
	}
}

func TestTimeRunsGo(t *testing.T) {
	b := newBench(t)
	if err := b.run("%time f(1)"); err != nil || b.ran[0] != "f(1)" || !strings.HasPrefix(b.out.String(), "wall ") {
		t.Errorf("%v, ran %q, printed %q", err, b.ran, b.out.String())
	}
	if err := b.run("%%time\nx := 1"); err != nil || b.ran[1] != "\nx := 1" {
		t.Errorf("%v, ran %q", err, b.ran)
	}
	b.fail = true
	if err := b.run("%time f(1)"); !errors.Is(err, ErrFailed) {
		t.Errorf("code that fails: %v", err)
	}
	var usage *UsageError
	for _, cell := range []string{"%time", "%%time f()"} {
		if err := b.run(cell); !errors.As(err, &usage) {
			t.Errorf("%s: %v", cell, err)
		}
	}
}

func TestWriteFile(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "a file.txt")
	for _, cell := range []string{"%%writefile " + path + "\none\n\ttwo", "%%writefile -a " + path + "\n%three\n"} {
		if err := b.run(cell); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "one\n\ttwo\n%three\n" {
		t.Errorf("%q, %v", got, err)
	}
	if err := b.run("%%writefile\nx"); err == nil {
		t.Error("without a name")
	}
	if err := b.run("%%writefile /nowhere/at/all\nx"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into a folder that is not there: %v", err)
	}
}

func TestEnv(t *testing.T) {
	b := newBench(t)
	t.Setenv("GRADBOOK_TEST_A", "")
	for _, cell := range []string{"%env GRADBOOK_TEST_A=one two", "%env GRADBOOK_TEST_A", "%env"} {
		b.out.Reset()
		if err := b.run(cell); err != nil || !strings.Contains(b.out.String(), "one two") {
			t.Errorf("%s: %q, %v", cell, b.out.String(), err)
		}
	}
	if b.run("%env GRADBOOK_TEST_A other"); os.Getenv("GRADBOOK_TEST_A") != "other" {
		t.Error("a value after a space is not set")
	}
	if err := b.run("%env GRADBOOK_TEST_NONE"); err == nil || !strings.Contains(err.Error(), "is not set") {
		t.Errorf("a variable that is not set: %v", err)
	}
}

func TestCd(t *testing.T) {
	b := newBench(t)
	t.Chdir(t.TempDir())
	here, _ := os.Getwd()
	os.Mkdir("sub dir", 0o755)
	if err := b.run("%cd sub dir"); err != nil || b.out.String() != filepath.Join(here, "sub dir")+"\n" {
		t.Errorf("%q, %v", b.out.String(), err)
	}
	if err := b.run("%cd -"); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.Getwd(); now != here {
		t.Errorf("%%cd - went to %s", now)
	}
	if err := b.run("%cd nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := newBench(t).run("%cd -"); err == nil {
		t.Error("there is no earlier folder to go to")
	}
}

func TestShell(t *testing.T) {
	b := newBench(t)
	if err := b.run("!echo out; echo err >&2; exit 3"); err != nil {
		t.Errorf("an exit status must not fail the cell: %v", err)
	}
	if b.out.String() != "out\n" || b.errOut.String() != "err\nexit status 3\n" {
		t.Errorf("out %q, err %q", b.out.String(), b.errOut.String())
	}
	b.out.Reset()
	if err := b.run("%%bash a b\nset -e\nfor x in \"$@\"; do echo $x; done\nfalse\necho never"); !errors.Is(err, ErrFailed) {
		t.Errorf("%%%%bash of a script that fails: %v", err)
	}
	if b.out.String() != "a\nb\n" {
		t.Errorf("out %q", b.out.String())
	}
}

func TestInterruptEndsTheWholeCommand(t *testing.T) {
	b := newBench(t)
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	b.ctx = ctx
	pidFile := filepath.Join(t.TempDir(), "pid")
	go func() { // interrupt once the child is there
		for {
			if data, _ := os.ReadFile(pidFile); strings.HasSuffix(string(data), "\n") {
				cancel(stopped)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	// Deaf to SIGINT, and with a child that is, too.
	if err := b.run("!trap '' INT; sleep 300 & echo $! > " + pidFile + "; sleep 300"); !errors.Is(err, stopped) {
		t.Errorf("err = %v", err)
	}
	data, _ := os.ReadFile(pidFile)
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	for deadline := time.Now().Add(5 * time.Second); alive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a child of the command went on")
		}
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestBackgroundProcessDoesNotHoldTheCell(t *testing.T) {
	b := newBench(t)
	start := time.Now()
	if err := b.run("!sleep 20 & echo started"); err != nil || b.out.String() != "started\n" {
		t.Errorf("%q, %v", b.out.String(), err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	os.MkdirAll("data/train", 0o755)
	for _, name := range []string{"data/x.csv", "data/y.csv", "dates.txt", ".hidden"} {
		os.WriteFile(name, nil, 0o644)
	}
	set := NewSet(Command{Name: "device", Help: "x", Choices: func() []string { return []string{"host", "vulkan"} }})
	for src, want := range map[string]string{ // the cursor is at the end
		"%he":            "0 %help",
		"x\n  %wh":       "4 %who",
		"%%":             "0 %%bash %%time %%writefile",
		"%t":             "0 %time",
		"%device ":       "8 host vulkan",
		"%device  vu":    "9 vulkan",
		"%who x":         "5",
		"!cat da":        "5 data/ dates.txt",
		"!cat data/":     "5 data/train/ data/x.csv data/y.csv",
		"!d":             "1 data/ dates.txt",
		"!cat ":          "5 data/ dates.txt",
		"!cat .h":        "5 .hidden",
		"!cat none/":     "5",
		"%cd data/t":     "4 data/train/",
		"%%writefile da": "12 data/ dates.txt",
		"%%bash\nfor x":  "12",
		"x % y":          "Go",
		"f(\n!a":         "Go",
		"%time f":        "Go",
		"%%time\nfmt.P":  "Go",
		"%who\nfmt.P":    "Go",
		"":               "Go",
	} {
		start, matches, ok := set.Complete(src, len(src))
		got := strings.TrimSpace(fmt.Sprint(start) + " " + strings.Join(matches, " "))
		if !ok {
			got = "Go"
		}
		if got != want {
			t.Errorf("%q: %s; want %s", src, got, want)
		}
	}
}

func TestBlankKeepsOffsets(t *testing.T) {
	set := NewSet()
	for src, want := range map[string]string{
		"%who\nx := 1":     "    \nx := 1",
		"x := 1\n!żółw\ny": "x := 1\n        \ny",
		"%%bash\nls\n":     "      \n  \n",
		"%%time\nx := 1":   "      \nx := 1",
		" %time  f(1)":     "        f(1)",
		"%nosuch\nx":       "       \nx",
		"a % b":            "a % b",
		"s := `\n%who`":    "s := `\n%who`",
	} {
		if got := set.Blank(src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

func TestInspect(t *testing.T) {
	set := NewSet()
	if text, ok := set.Inspect("%%writefile x"); !ok || !strings.HasPrefix(text, "%%writefile [-a] FILE\n\nWrites") {
		t.Errorf("%q, %v", text, ok)
	}
	if _, ok := set.Inspect("fmt.Println"); ok {
		t.Error("Go code is no line")
	}
}
