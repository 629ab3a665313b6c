package cell

import (
	"strings"
	"testing"
)

func TestErrorsInTheCompilersWords(t *testing.T) {
	s := newTestSession("fmt")
	_, err := s.Check(7, "x := 1\nvar y int = \"s\"\nfmt.Printn(x)\nz := é\u00fc + undefinedName")
	if err == nil {
		t.Fatal("it checks")
	}
	want := `cell [7], line 2: cannot use "s" (untyped string constant) as int value in variable declaration
    var y int = "s"
                ^
cell [7], line 3: undefined: fmt.Printn
    fmt.Printn(x)
        ^
cell [7], line 4: undefined: éü
    z := éü + undefinedName
         ^
cell [7], line 4: undefined: undefinedName
    z := éü + undefinedName
              ^`
	if got := err.Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestCaretFollowsTabs(t *testing.T) {
	_, err := newTestSession().Check(1, "if true {\n\t\tnosuch()\n}")
	if err == nil || !strings.Contains(err.Error(), "\n    \t\tnosuch()\n    \t\t^") {
		t.Errorf("%v", err)
	}
}

// A cell that does not check, or is not committed, leaves the session as it was.
func TestNothingIsKept(t *testing.T) {
	s := newTestSession()
	run(t, s, 1, "x := 1\ntype T struct{ A int }\nfunc f() int { return x }")
	before := len(s.scope)
	for _, src := range []string{"y := nosuch", "x := \"s\"\nnosuch()", "type T struct{}\nnosuch()", "func (T) M() { nosuch() }", "func f() string { return 1 }"} {
		if _, err := s.Check(2, src); err == nil {
			t.Fatalf("%q checks", src)
		}
	}
	c, err := s.Check(3, "x := \"s\"\nq := 3")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Lower(c)
	if err != nil {
		t.Fatal(err)
	}
	p.Abandon()
	if len(s.scope) != before || s.scope["x"].Type().String() != "int" {
		t.Error("the session has changed")
	}
	if _, err := s.Check(4, "T{}.M()"); err == nil {
		t.Error("a method of a failed cell is there")
	}
	run(t, s, 5, "func (T) M() int { return f() }\nT{}.M() + x")
}

// Lowering the same cells gives the same text: maps leave no trace.
func TestLoweringIsDeterministic(t *testing.T) {
	cells := []string{
		"import (\"strings\"; \"sort\"; \"errors\")\ntype A struct{ n int }\ntype B float64\nfunc (a A) M() int { return a.n }\nfunc (b B) M() int { return int(b) }\ntype I interface{ M() int }",
		"func sum(xs ...I) (s int) { for _, x := range xs { s += x.M() }; return }\nx, y, z := 1, B(2), A{3}\nsum(y, z) + x",
		"func sum(xs ...I) (s int) { defer func() { recover() }(); for _, x := range xs { s += 2 * x.M() }; return }\nstrings.ToUpper(\"a\")\nsort.Ints(nil)\nerrors.New(\"e\")",
	}
	var first string
	for range 5 {
		s := newTestSession()
		var all strings.Builder
		for i, src := range cells {
			all.WriteString(run(t, s, i, src).Code)
		}
		if first == "" {
			first = all.String()
		} else if all.String() != first {
			t.Fatal("two lowerings differ")
		}
	}
}

func TestScopeView(t *testing.T) {
	s := newTestSession("fmt")
	run(t, s, 3, "import \"strings\"\ntotal := 1.5\nfunc half(x float64) float64 { return x / 2 }")
	v := s.Scope()
	if o := v.Names()["total"]; o == nil || o.Type().String() != "float64" || v.Cell(o) != 3 {
		t.Errorf("total is %v", o)
	}
	if v.Imports()["strings"] != "strings" || v.Imports()["fmt"] != "fmt" {
		t.Errorf("imports are %v", v.Imports())
	}
	p := v.CheckPartial("y := half(total)\nz := y.\n")
	found := false
	for id, o := range p.Info.Defs {
		found = found || id.Name == "y" && o != nil && o.Type().String() == "float64"
	}
	if !found {
		t.Error("a partial cell does not know its own y")
	}
	if len(v.Names()) != 2 {
		t.Error("a partial check was kept")
	}
}
