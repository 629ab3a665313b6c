package assist

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gradbook/kernel/cell"
	"gradbook/kernel/symbols"
)

// library lets cells import what is embedded, without an interpreter.
type library struct{ *symbols.Importer }

func (library) Has(path, name string) bool                   { return true }
func (library) Source(path string) (map[string][]byte, bool) { return symbols.Source(path) }
func (library) Syntax(path string) *cell.Syntax              { return nil }

// scope is a session after the given cells.
func scope(t testing.TB, cells ...string) Scope {
	t.Helper()
	s := cell.NewSession(library{symbols.NewImporter()}, []string{"fmt", "strings", "gradbook/autograd/nn", "gradbook/tensor"})
	for i, src := range cells {
		c, err := s.Check(i+1, src)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Lower(c)
		if err != nil {
			t.Fatal(err)
		}
		p.Commit()
	}
	return Scope{Scope: s.Scope(), Paths: symbols.Paths(), Doc: symbols.Doc, Value: func(name string) string { return "value of " + name }}
}

// at cuts the cursor mark out of a cell.
func at(t testing.TB, src string) (string, int) {
	t.Helper()
	before, after, ok := strings.Cut(src, "|")
	if !ok {
		t.Fatalf("no cursor in %q", src)
	}
	return before + after, len(before)
}

const shapes = `
type Point struct { X, Y float64; label string }
func (p Point) Norm() float64 { return p.X + p.Y }
func (p *Point) Move(dx float64) { p.X += dx }
type Circle struct { Point; Radius float64 }
func area(c Circle) float64 { return c.Radius }
var circles []Circle
byName := map[string]*Circle{}
größe := 3
`

func TestComplete(t *testing.T) {
	sc := scope(t, shapes)
	for _, c := range []struct{ src, want, not string }{
		{"fmt.Printl|", "Println", "Printf"},
		{"fmt.|", "Println Sprintf Stringer", "println area"},
		{"x := fmt.Sp|\ny := 2", "Sprintf", ""},
		{"strings.Split(\"a\", \"b\")[0].|", "", "Println"},
		{"strings.NewReader(\"\").|", "Len ReadByte", ""},
		{"are|", "area", "byName"},
		{"cir|", "circles", ""},
		{"Cir|", "Circle circles", ""},
		{"var c Circle\nc.|", "Radius X Y label Norm Move Point", ""},
		{"circles[0].|", "Radius Norm", ""},
		{"byName[\"a\"].|", "Radius Move", ""},
		{"func f(c Circle) {\n\tlocal := 1\n\tif c.Radius > 0 {\n\t\tc.|", "Radius Norm", ""},
		{"func f(c Circle) {\n\tlocal := 1\n\tloc|\n}", "local", ""},
		{"func f() {\n\tlo|\n\tlocal := 1\n}", "", "local"},
		{"for i, c := range circles {\n\tc.|", "Radius", ""},
		{"for i := range circles[0].|", "Radius", ""},
		{"if circles[0].|", "Radius", ""},
		{"switch byName[\"a\"].|", "Radius", ""},
		{"Circle{|}", "Radius:  Point: ", ""},
		{"Circle{Radius: 1, |}", "Point: ", "Radius: "},
		{"c := Circle{Ra|", "Radius: ", ""},
		{"fmt.Println(area(circles[0]), circles[0].|", "Radius", ""},
		{"defer func() { circles[0].|", "Radius", ""},
		{"p := &Point{}\np.M|", "Move", "Norm"},
		{"größe + gr|", "größe", ""},
		{"s := \"äöü\"; strings.Ha|", "HasPrefix HasSuffix", ""},
		{"import \"str|\"", "strings strconv", "fmt"},
		{"import (\n\t\"fmt\"\n\t\"enc|", "encoding/json", "fmt"},
		{"import \"sort\"\nsort.Str|", "Strings", ""},
		{"retur|", "return", ""},
		{"nn.Lin|", "Linear", ""},
		{"l := nn.Linear(2, 3)\nl.For|", "Forward", ""},
		{"x := nn.Linear(2, 3).|\nx", "Forward Params", ""},
		{"tensor.Zeros(2).Sha|", "Shape", ""},
		{"f := func(c Circle) float64 { return c.|}", "Radius", ""},
		{"// fmt.|", "", "Println"},
		{"1.|", "", "Println"},
		{"a b c.|", "", "Println"},
		{"broken ( here\ncircles[0].|", "Radius", ""},
		{"x := circles[0]\nx.|", "Radius", ""},
		{"append(circles, |)", "circles area", ""},
		{"lab := func() int { return |", "area", ""},
	} {
		src, cursor := at(t, c.src)
		got := Complete(sc, src, cursor)
		var texts []string
		for _, it := range got.Items {
			texts = append(texts, it.Text)
		}
		for w := range strings.SplitSeq(c.want, " ") {
			if w = strings.TrimSpace(w); w != "" && !slices.ContainsFunc(texts, func(s string) bool { return strings.TrimSpace(s) == w }) {
				t.Errorf("%q: no %q among %d: %.200v", c.src, w, len(texts), texts)
			}
		}
		for w := range strings.SplitSeq(c.not, " ") {
			if w != "" && slices.Contains(texts, w) {
				t.Errorf("%q: has %q", c.src, w)
			}
		}
		if got.Start > cursor || got.End < cursor {
			t.Errorf("%q: replaces %d to %d, cursor at %d", c.src, got.Start, got.End, cursor)
		}
	}
}

func TestCompleteReplacesIdentifier(t *testing.T) {
	src, cursor := at(t, "s := \"äöü\"; strings.Has|Pre(s)")
	got := Complete(scope(t), src, cursor)
	if src[got.Start:got.End] != "HasPre" || got.Items[0].Text != "HasPrefix" || got.Items[0].Kind != "function" {
		t.Errorf("replaces %q by %+v", src[got.Start:got.End], got.Items)
	}
	if d := got.Items[0].Detail; d != "func(s string, prefix string) bool" {
		t.Errorf("detail %q", d)
	}
}

func TestCompleteFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, f := range []string{"data.csv", "dark.txt", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("deep", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("deep/x.go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{`os.Open("da|")`: "dark.txt data.csv", `x("|")`: "dark.txt data.csv deep/", `x("deep/|`: "deep/x.go"} {
		s, cursor := at(t, src)
		var texts []string
		for _, it := range Complete(scope(t), s, cursor).Items {
			texts = append(texts, it.Text)
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

func TestInspect(t *testing.T) {
	sc := scope(t, shapes)
	for _, c := range []struct{ src, signature, doc string }{
		{"fmt.Print|ln(1)", "func fmt.Println(a ...any) (n int, err error)", "default formats"},
		{"fmt.Println|", "func fmt.Println(a ...any) (n int, err error)", "default formats"},
		{"fm|t.Println", `package fmt // import "fmt"`, "formatted I/O"},
		{"fmt.Println(1, |)", "func fmt.Println(", "default formats"},
		{"fmt.Println(area(circles[0]), |", "func fmt.Println(", "default formats"},
		{"area(|)", "func area(c Circle) float64", ""},
		{"circ|les", "circles []Circle", ""},
		{"circles[0].Rad|ius", "field Radius float64", ""},
		{"circles[0].No|rm()", "func (Point).Norm() float64", ""},
		{"type|X", "", ""},
		{"Point|{}", "type Point struct{", ""},
		{"len|(circles)", "builtin len", ""},
		{"var b strings.Builder\nb.WriteStr|ing(\"\")", "func (*strings.Builder).WriteString(s string) (int, error)", "appends the contents"},
		{"größe|", "größe int", ""},
		{"nn.Lin|ear(1, 2)", "func nn.Linear(", ""},
	} {
		src, cursor := at(t, c.src)
		ins, ok := Inspect(sc, src, cursor)
		if ok != (c.signature != "") || !strings.HasPrefix(ins.Signature, c.signature) || !strings.Contains(ins.Doc, c.doc) {
			t.Errorf("%q: ok %v, signature %q, doc %.80q; want %q, %q", c.src, ok, ins.Signature, ins.Doc, c.signature, c.doc)
		}
	}
}

func TestInspectOfCell(t *testing.T) {
	sc := scope(t, "x := 1", shapes)
	for src, want := range map[string]Inspection{
		"x|":      {Name: "x", Signature: "x int", Value: "value of x", Cell: 1},
		"are|a":   {Name: "area", Signature: "func area(c Circle) float64", Source: "func area(c Circle) float64 { return c.Radius }", Cell: 2},
		"Circl|e": {Name: "Circle", Source: "type Circle struct {\n\tPoint\n\tRadius float64\n}", Cell: 2},
	} {
		s, cursor := at(t, src)
		got, ok := Inspect(sc, s, cursor)
		if want.Signature == "" {
			got.Signature = ""
		}
		if !ok || got != want {
			t.Errorf("%s: %+v, want %+v", src, got, want)
		}
	}
}

// Completion and inspection answer at every place of any text.
func FuzzAssist(f *testing.F) {
	for _, s := range []string{shapes, "fmt.", "for i := range x", "if x := f(", "\"", "import (", "type T struct {", "x := T{a: ", "func (r", "`", "a.b.c(", "/*", "switch y := x.(type) { case "} {
		f.Add(s)
	}
	sc := scope(f, shapes)
	f.Fuzz(func(t *testing.T, src string) {
		for i := 0; i <= len(src); i += 1 + len(src)/8 {
			c := Complete(sc, src, i)
			if c.Start < 0 || c.Start > i || c.End < i || c.End > len(src) {
				t.Fatalf("%q at %d: replaces %d to %d", src, i, c.Start, c.End)
			}
			Inspect(sc, src, i)
		}
	})
}

func BenchmarkComplete(b *testing.B) {
	sc := scope(b, shapes)
	src := strings.Repeat("fmt.Println(area(circles[0]))\n", 100) + "circles[0]."
	for b.Loop() {
		if len(Complete(sc, src, len(src)).Items) == 0 {
			b.Fatal("nothing")
		}
	}
}

func BenchmarkFirstComplete(b *testing.B) {
	for b.Loop() {
		Complete(scope(b), "fmt.", 4)
	}
}

func TestBundle(t *testing.T) {
	sc := scope(t, shapes)
	ins, _ := Inspect(sc, "area", 2)
	b := ins.Bundle(false)
	want := "func area(c Circle) float64\n\ndeclared in cell [1]"
	if b.Data["text/plain"] != want {
		t.Errorf("%q, want %q", b.Data["text/plain"], want)
	}
	if s := ins.Bundle(true).Data["text/html"].(string); !strings.Contains(s, "return c.Radius") {
		t.Errorf("no source in %q", s)
	}
	chans, _ := Inspect(sc, "strings.Map", 9)
	if s := chans.Bundle(false).Data["text/html"].(string); strings.Contains(s, "<rune") || !strings.Contains(s, "<b>func strings.Map(mapping func(rune) rune, s string) string</b>") {
		t.Errorf("page %q", s)
	}
}
