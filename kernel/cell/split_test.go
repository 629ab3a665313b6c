package cell

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	src := `import "fmt"
x := 1; y := 2
func f() int { return 1 }
func (t T) M() { }
type T struct {
	A int // ; not an end
}
for i := range 3 { fmt.Println(i); x++ }
func() { y++ }()
s := "a;b" + ` + "`c\n;d`" + `
f() + x // trailing`
	var kinds []Kind
	for _, it := range Split(src) {
		kinds = append(kinds, it.Kind)
	}
	want := []Kind{Import, Stmt, Stmt, Func, Method, Type, Stmt, Expr, Stmt, Expr}
	if !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
}

// Blanking keeps each token's line and column.
func TestBlankKeepsPlaces(t *testing.T) {
	src := "x := 1\nfunc f() {}\ny := é\n"
	items := Split(src)
	d, s := blank(src, items, true), blank(src, items, false)
	if len(d) != len(src) || len(s) != len(src) {
		t.Fatal("length changed")
	}
	for i := range src {
		if d[i] != ' ' && d[i] != src[i] || s[i] != ' ' && s[i] != src[i] {
			t.Fatalf("byte %d moved", i)
		}
		if d[i] != ' ' && s[i] != ' ' && src[i] != '\n' {
			t.Fatalf("byte %d is in both", i)
		}
	}
}

func TestCompleteness(t *testing.T) {
	for _, c := range []struct {
		src    string
		status Status
		indent string
	}{
		{"x := 1", Complete, ""},
		{"", Complete, ""},
		{"// only a comment", Complete, ""},
		{"func f() {", Incomplete, "\t"},
		{"for i := range 3 {\n\tif i > 1 {", Incomplete, "\t\t"},
		{"f(1,", Incomplete, "\t"},
		{"x := `raw", Incomplete, ""},
		{"/* open", Incomplete, ""},
		{"a +", Incomplete, ""},
		{"x := := 1", Invalid, ""},
		{"}", Invalid, ""},
		{"x := \"open", Invalid, ""},
		{"x := 1\nimport \"fmt\"\nfmt.Println(x)", Complete, ""},
		{"type T struct {\n\tA int\n}", Complete, ""},
	} {
		if st, in := Completeness(c.src); st != c.status || in != c.indent {
			t.Errorf("%q: got %v %q, want %v %q", c.src, st, in, c.status, c.indent)
		}
	}
}
