package interp

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proxy makes a module proxy of files: each module at v1.0.0.
func proxy(t *testing.T, modules map[string]map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for mod, files := range modules {
		at := filepath.Join(dir, mod, "@v")
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		write := func(name, data string) {
			if err := os.WriteFile(filepath.Join(at, name), []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("list", "v1.0.0\n")
		write("v1.0.0.info", `{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}`)
		write("v1.0.0.mod", files["go.mod"])
		f, err := os.Create(filepath.Join(at, "v1.0.0.zip"))
		if err != nil {
			t.Fatal(err)
		}
		w := zip.NewWriter(f)
		for name, data := range files {
			e, err := w.Create(mod + "@v1.0.0/" + name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(e, data)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	t.Setenv("GOPROXY", "file://"+dir)
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())
}

func TestGet(t *testing.T) {
	proxy(t, map[string]map[string]string{
		"example.com/greet": {
			"go.mod": "module example.com/greet\n\ngo 1.20\n\nrequire example.com/words v1.0.0\n",
			"greet.go": `package greet

import (
	"fmt"
	"strings"

	"example.com/words"
)

// Count is how many greetings there were.
var Count = start()
var table, ok = words.Table(), true

func start() int { return 40 }
func init()      { Count += 2 }

type Greeter struct {
	name string
	mood words.Mood
}

func New(name string) *Greeter { return &Greeter{name: name, mood: words.Happy} }

func (g *Greeter) Greet() string {
	Count++
	return fmt.Sprintf("%s, %s (%v)", table["hi"], strings.ToUpper(g.name), g.mood)
}

type Named interface{ Greet() string }

func All(gs ...Named) (out []string) {
	for _, g := range gs {
		out = append(out, g.Greet())
	}
	return out
}

func Map[T, U any](xs []T, f func(T) U) (out []U) {
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}
`,
			"danger/danger.go": "package danger\n\nimport \"unsafe\"\n\nfunc Size() uintptr { return unsafe.Sizeof(0) }\n",
		},
		"example.com/words": {
			"go.mod":   "module example.com/words\n\ngo 1.20\n",
			"words.go": "package words\n\ntype Mood int\n\nconst (\n\tSad Mood = iota\n\tHappy\n)\n\nfunc (m Mood) String() string { return [...]string{\"sad\", \"happy\"}[m] }\n\nfunc Table() map[string]string { return map[string]string{\"hi\": \"Hello\"} }\n",
		},
		"example.com/withc": {
			"go.mod": "module example.com/withc\n\ngo 1.20\n",
			"c.go":   "package withc\n\n// int one() { return 1; }\nimport \"C\"\n\nfunc One() int { return int(C.one()) }\n",
		},
	})
	in := session(t)
	ctx := context.Background()
	if err := in.Get(ctx, "example.com/greet@v1.0.0"); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ src, want string }{
		{"import \"example.com/greet\"\ng := greet.New(\"ann\")\ng.Greet()", "Hello, ANN (happy)"},
		{"greet.Count", "43"},
		{"greet.Count = 7\ng.Greet()\ngreet.Count", "8"},
		{"type Mine struct{}\nfunc (Mine) Greet() string { return \"mine\" }\ngreet.All(g, Mine{})", "[Hello, ANN (happy) mine]"},
		{"greet.Map([]int{1, 2}, func(i int) string { return fmt.Sprint(i * 2) })\nimport \"fmt\"", ""},
		{"greet.Map([]int{1, 2}, func(i int) int { return i * 2 })", "[2 4]"},
		{"fmt.Sprintf(\"%T\", g)", "*greet.Greeter"},
	} {
		out := must(t, in, i, c.src)
		if c.want != "" && (out.Bundle == nil || out.Bundle.Plain() != c.want) {
			t.Errorf("%s: got %v, want %s", c.src, out.Bundle, c.want)
		}
	}
	out := in.Run(ctx, 9, "import \"example.com/greet/danger\"")
	if out.Err == nil || !strings.Contains(out.Err.Message, "uses unsafe") {
		t.Errorf("danger: %v", out.Err)
	}
	if err := in.Get(ctx, "example.com/withc@v1.0.0"); err == nil || !strings.Contains(err.Error(), "uses cgo") {
		t.Errorf("withc: %v", err)
	}
	if err := in.Get(ctx, "example.com/nosuch@v1.0.0"); err == nil || !strings.Contains(err.Error(), "example.com/nosuch") {
		t.Errorf("nosuch: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := in.Get(ctx, "example.com/greet"); err == nil || !strings.Contains(err.Error(), "needs a Go toolchain") {
		t.Errorf("without go: %v", err)
	}
}
