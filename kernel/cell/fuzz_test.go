package cell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seeds are cells of all kinds: those of the case files, and broken ones.
func seeds(f *testing.F) {
	files, _ := filepath.Glob("../interp/testdata/cases/*.txt")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i, part := range strings.Split(string(data), "\n---") {
			if _, src, ok := strings.Cut(part, "\n"); ok && i%7 == 0 {
				f.Add(src)
			}
		}
	}
	for _, src := range []string{"", "}", "func", "func (", "x :=", ":= 1", "import", "type T", "package", "/*", "`", "'", "\x00", "\xff\xfe", "if", "for {", "L:", "goto L", "x = func() {", "var x = x", "type T T", "type T [len(T{})]int", "func f[T any](", "switch {", "select {case", "a.b.c", "((((((", "//line x:1\ny", "import . \"fmt\"", "const x = x"} {
		f.Add(src)
	}
}

// Split places every token in at most one item, in order.
func FuzzSplit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		items := Split(src)
		end := 0
		for _, it := range items {
			if it.Start < end || it.End < it.Start || it.End > len(src) {
				t.Fatalf("item %v of %q", it, src)
			}
			end = it.End
		}
		if len(blank(src, items, true)) != len(src) {
			t.Fatal("blank changed the length")
		}
		Completeness(src)
	})
}

// Check neither panics nor keeps anything of a cell that fails; what checks can be lowered, or says why not.
func FuzzCheck(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		s := newTestSession("fmt")
		run(t, s, 1, "x := 1\ntype T struct{ A int }\nfunc (t T) M() int { return t.A }")
		c, err := s.Check(2, src)
		if err != nil {
			if len(s.scope) != 2 {
				t.Fatalf("a failed cell changed the scope: %q", src)
			}
			return
		}
		if _, err := s.Lower(c); err != nil {
			if _, ok := err.(*Errors); !ok {
				t.Fatalf("%q: %v", src, err)
			}
		}
	})
}
