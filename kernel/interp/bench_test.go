package interp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"
)

// Each benchmark has plain yaegi beside it where yaegi can do the same.

func session(b testing.TB) *Interp {
	in, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(in.Close)
	return in
}

func must(b testing.TB, in *Interp, n int, src string) Outcome {
	b.Helper()
	out := in.Run(context.Background(), n, src)
	if out.Err != nil {
		b.Fatal(out.Err.Traceback)
	}
	return out
}

func plainYaegi(b *testing.B) *interp.Interpreter {
	i := interp.New(interp.Options{Stdout: io.Discard, Stderr: io.Discard})
	if err := i.Use(stdlib.Symbols); err != nil {
		b.Fatal(err)
	}
	return i
}

func yaegiEval(b *testing.B, i *interp.Interpreter, src string) {
	b.Helper()
	if _, err := i.Eval(src); err != nil {
		b.Fatal(err)
	}
}

// The start of a session.
func BenchmarkStart(b *testing.B) {
	b.Run("cells", func(b *testing.B) {
		for b.Loop() {
			in, err := New(Options{Prelude: []string{"fmt", "math", "time"}})
			if err != nil {
				b.Fatal(err)
			}
			in.Close()
		}
	})
	b.Run("yaegi", func(b *testing.B) {
		for b.Loop() {
			plainYaegi(b)
		}
	})
}

// A small cell whose text is new each time.
func BenchmarkSmallCell(b *testing.B) {
	b.Run("cells", func(b *testing.B) {
		in := session(b)
		must(b, in, 1, "x := 1")
		for i := 2; b.Loop(); i++ {
			must(b, in, i, fmt.Sprintf("x = %d\nx + 1", i))
		}
	})
	b.Run("yaegi", func(b *testing.B) {
		y := plainYaegi(b)
		yaegiEval(b, y, "x := 1")
		for i := 2; b.Loop(); i++ {
			yaegiEval(b, y, fmt.Sprintf("x = %d; x + 1", i))
		}
	})
}

// The same cell again.
func BenchmarkRerun(b *testing.B) {
	in := session(b)
	must(b, in, 1, "x := 1")
	for i := 2; b.Loop(); i++ {
		must(b, in, i, "x += 1\nx")
	}
}

// longCell is a cell of about 200 lines: types, methods, functions with loops and closures.
func longCell(tag string) string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, `type T%[2]s%[1]d struct {
	A int
	B []float64
}
func (t *T%[2]s%[1]d) Sum(k float64) (s float64) {
	for i, x := range t.B {
		s += x * k * float64(i+t.A)
	}
	return s
}
func f%[2]s%[1]d(n int) float64 { return (&T%[2]s%[1]d{A: n, B: []float64{1, 2, 3}}).Sum(0.5) }
`, i, tag)
	}
	return b.String()
}

// Check and lowering of a cell of 200 lines; the interpreter's own compilation is left out.
func BenchmarkCheckAndLower200Lines(b *testing.B) {
	in := session(b)
	src := longCell("")
	b.ReportMetric(float64(strings.Count(src, "\n")), "lines")
	for i := 1; b.Loop(); i++ {
		c, err := in.session.Check(i, src)
		if err != nil {
			b.Fatal(err)
		}
		p, err := in.session.Lower(c)
		if err != nil {
			b.Fatal(err)
		}
		p.Abandon()
	}
}

// A cell of 200 lines from text to result.
func BenchmarkCell200Lines(b *testing.B) {
	in := session(b)
	for i := 1; b.Loop(); i++ {
		must(b, in, i, longCell(fmt.Sprint(i)))
	}
}

const loopFunc = "func loop(n int) int { s := 0; for i := 0; i < n; i++ { s += i & 3 }; return s }"

// A loop of ten million iterations.
func BenchmarkLoop10M(b *testing.B) {
	b.Run("cells", func(b *testing.B) {
		in := session(b)
		must(b, in, 1, loopFunc)
		for i := 2; b.Loop(); i++ {
			must(b, in, i, "loop(10000000)")
		}
	})
	b.Run("yaegi", func(b *testing.B) {
		y := plainYaegi(b)
		yaegiEval(b, y, loopFunc)
		for b.Loop() {
			yaegiEval(b, y, "loop(10000000)")
		}
	})
}

func pair(b *testing.B, decl, call string) {
	b.Run("cells", func(b *testing.B) {
		in := session(b)
		must(b, in, 1, decl)
		for i := 2; b.Loop(); i++ {
			must(b, in, i, call)
		}
	})
	b.Run("yaegi", func(b *testing.B) {
		y := plainYaegi(b)
		yaegiEval(b, y, decl)
		for b.Loop() {
			yaegiEval(b, y, call)
		}
	})
}

// Calls of a recursive function.
func BenchmarkFib20(b *testing.B) {
	pair(b, "func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }", "fib(20)")
}

// Element loops with index expressions.
func BenchmarkMatmul50(b *testing.B) {
	pair(b, `func mm(n int) float64 {
	a, c := make([]float64, n*n), make([]float64, n*n)
	for i := range a { a[i] = float64(i) }
	for i := 0; i < n; i++ { for j := 0; j < n; j++ { s := 0.0; for k := 0; k < n; k++ { s += a[i*n+k] * a[k*n+j] }; c[i*n+j] = s } }
	return c[1]
}`, "mm(50)")
}

// Calls of methods of a cell's type, directly and through an interface.
func BenchmarkMethods(b *testing.B) {
	pair(b, `type P struct { a int }
func (p *P) Get() int { return p.a }
type G interface { Get() int }
func direct(n int) (s int) { p := &P{1}; for i := 0; i < n; i++ { s += p.Get() }; return s }
func through(n int) (s int) { var g G = &P{1}; for i := 0; i < n; i++ { s += g.Get() }; return s }`, "direct(10000) + through(10000)")
}

// A cell as the five hundredth of its session, beside BenchmarkSmallCell.
func BenchmarkCellAfter500(b *testing.B) {
	in := session(b)
	for i := range 500 {
		must(b, in, i, fmt.Sprintf("v%d := %d\nfunc g%d() int { return v%d }", i, i, i, i))
	}
	must(b, in, 501, "x := 1")
	for i := 502; b.Loop(); i++ {
		must(b, in, i, fmt.Sprintf("x = %d\nx + 1", i))
	}
}
