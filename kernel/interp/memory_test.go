package interp

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Running an unchanged cell again keeps nothing: neither code nor values.
func TestRerunsKeepNothing(t *testing.T) {
	for name, src := range map[string]string{
		"loop":      "s := 0\nfor i := range 50 { tmp := make([]int, 100); s += len(tmp) + i }\ns",
		"closure":   "fs := []func() int{}\nfor i := range 10 { fs = append(fs, func() int { return i }) }\nfs[3]()",
		"type":      "type P struct{ xs []int }\nfunc (p P) Len() int { return len(p.xs) }\nP{make([]int, 1000)}",
		"goroutine": "c := make(chan []int)\ngo func() { c <- make([]int, 1000) }()\nlen(<-c)",
		"print":     "import \"fmt\"\nfmt.Sprint(make([]int, 1000))",
	} {
		t.Run(name, func(t *testing.T) {
			in := session(t)
			for i := range 20 {
				must(t, in, i, src)
			}
			before := heap()
			for i := range 500 {
				must(t, in, 20+i, src)
			}
			if grown := heap() - before; grown > 2<<20 {
				t.Errorf("500 re-runs keep %d KB", grown>>10)
			}
		})
	}
}

// The result of a cell is not held once it is shown.
func TestResultIsReleased(t *testing.T) {
	in := session(t)
	must(t, in, 1, "func big() []byte { return make([]byte, 64<<20) }")
	must(t, in, 2, "len(big())")
	before := heap()
	must(t, in, 3, "big()[:3]")
	if grown := heap() - before; grown > 8<<20 {
		t.Errorf("a result of 64 MB is still held: %d MB", grown>>20)
	}
}

// Output keeps the number of the cell that started the goroutine that writes.
func TestOutputBelongsToItsCell(t *testing.T) {
	var got strings.Builder
	in, err := New(Options{Stdout: func(cell int, p []byte) { fmt.Fprintf(&got, "%d:%s", cell, p) }})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	must(t, in, 3, "import \"fmt\"\nnext, said := make(chan int), make(chan int)\ngo func() { for range next { fmt.Println(\"from the goroutine\"); said <- 1 } }()")
	must(t, in, 4, "fmt.Println(\"a\")\nnext <- 1\n<-said\nfmt.Println(\"b\")")
	if want := "4:a\n3:from the goroutine\n4:b\n"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

// Ten thousand prints arrive whole and in order, by fmt and by os.Stdout in turn.
func TestPrintsInOrder(t *testing.T) {
	var got strings.Builder
	in, err := New(Options{Stdout: func(_ int, p []byte) { got.Write(p) }})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	must(t, in, 1, "import (\"fmt\"; \"os\")\nfor i := range 1000 { fmt.Println(i); os.Stdout.WriteString(fmt.Sprintln(i)) }")
	var want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&want, "%d\n%d\n", i, i)
	}
	if got.String() != want.String() {
		t.Errorf("got %d bytes, want %d", got.Len(), want.Len())
	}
}

func TestGlobalsAreLive(t *testing.T) {
	in := session(t)
	must(t, in, 5, "type P struct{ X int }\np := &P{1}\nname := \"a\"")
	byName := map[string]Global{}
	for _, g := range in.Globals() {
		byName[g.Name] = g
	}
	if g := byName["p"]; g.Type != "*P" || g.Cell != 5 || g.Value.Elem().Field(0).Int() != 1 {
		t.Errorf("p is %+v", g)
	}
	must(t, in, 6, "p.X = 7\nname = \"b\"")
	if byName["p"].Value.Elem().Field(0).Int() != 7 || byName["name"].Value.String() != "b" {
		t.Error("a global does not follow its variable")
	}
}

func TestReset(t *testing.T) {
	in := session(t)
	must(t, in, 1, "x := 1\ntype T struct{}")
	if err := in.Reset(); err != nil {
		t.Fatal(err)
	}
	if out := in.Run(context.Background(), 2, "x"); out.Err == nil || out.Err.Name != "CompileError" {
		t.Errorf("x survived: %v", out.Err)
	}
	must(t, in, 3, "x := \"new\"\nx")
}

// Deferred calls of an interrupted cell run, but not for ever.
func TestInterruptEndsEndlessDefer(t *testing.T) {
	in := session(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	out := in.Run(ctx, 1, "func() { defer func() { for {} }(); for {} }()")
	if out.Err == nil || out.Err.Name != "Interrupted" {
		t.Errorf("got %+v", out.Err)
	}
	must(t, in, 2, "1")
}

// Cells that use os.Stdout itself do not use up files.
func TestStdoutIsOneFile(t *testing.T) {
	in := session(t)
	must(t, in, 1, "import \"os\"\nos.Stdout.WriteString(\"x\")")
	before := openFiles(t)
	for i := range 50 {
		must(t, in, 2+i, fmt.Sprintf("os.Stdout.WriteString(\"%d\")", i))
	}
	if n := openFiles(t); n > before {
		t.Errorf("%d files, %d before", n, before)
	}
}

func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(list)
}

// Input is asked for as it is read, by fmt and through os.Stdin alike.
func TestStdin(t *testing.T) {
	in, err := New(Options{Stdin: strings.NewReader("ann\n42\nrest of line\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out := must(t, in, 1, "import (\"fmt\"; \"bufio\"; \"os\")\nvar name string\nvar n int\nfmt.Scanln(&name)\nfmt.Fscanln(os.Stdin, &n)\nsc := bufio.NewScanner(os.Stdin)\nsc.Scan()\nfmt.Sprint(name, n, sc.Text())")
	if got := out.Bundle.Plain(); got != "ann42rest of line" {
		t.Errorf("got %q", got)
	}
}
