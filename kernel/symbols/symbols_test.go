package symbols

import (
	"bytes"
	"go/types"
	"os"
	"runtime"
	"strings"
	"testing"

	"gradbook/kernel/symbols/internal/export"
)

// The generated files must say what the packages say now.
func TestNotStale(t *testing.T) {
	files, err := export.ProjectFiles(".")
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := os.ReadFile("std.version"); strings.TrimSpace(string(v)) == runtime.Version() {
		std, err := export.StdFiles(".")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, std...)
	} else {
		t.Logf("std files are of %s, this is %s; not compared", bytes.TrimSpace(v), runtime.Version())
	}
	for _, f := range files {
		have, err := os.ReadFile(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, f.Data) {
			t.Errorf("%s is stale: run go generate ./kernel/symbols", f.Name)
		}
	}
}

// Every embedded package can be imported, and types that packages share are one.
func TestImportAll(t *testing.T) {
	im := NewImporter()
	for _, path := range Paths() {
		p, err := im.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Complete() || len(p.Scope().Names()) == 0 && path != "unsafe" && !strings.HasPrefix(path, "crypto") && !strings.Contains(path, "pprof") {
			t.Errorf("%s is empty", path)
		}
	}
	reader := lookup(t, im, "io", "Reader")
	f := lookup(t, im, "bufio", "NewReader").(*types.Signature)
	if !types.Identical(f.Params().At(0).Type(), reader) {
		t.Error("bufio.NewReader does not take io.Reader")
	}
}

// Every exported function, variable and plain type of every package has a compiled value.
func TestTableIsWhole(t *testing.T) {
	im, table := NewImporter(), Exports()
	for _, path := range Paths() {
		p, err := im.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			f, ok := o.(*types.Func)
			if !ok || !o.Exported() || f.Signature().TypeParams().Len() > 0 {
				continue
			}
			if !table[path+"/"+p.Name()][name].IsValid() {
				t.Errorf("%s.%s has no compiled value", path, name)
			}
		}
	}
}

func lookup(t *testing.T, im *Importer, path, name string) types.Type {
	t.Helper()
	p, err := im.Import(path)
	if err != nil {
		t.Fatal(err)
	}
	return p.Scope().Lookup(name).Type()
}

func BenchmarkImportFmt(b *testing.B) {
	for b.Loop() {
		if _, err := NewImporter().Import("fmt"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestDoc(t *testing.T) {
	for _, c := range []struct{ path, name, want string }{
		{"fmt", "", "formatted I/O"},
		{"fmt", "Println", "default formats"},
		{"strings", "Builder.WriteString", "appends the contents"},
		{"net/http", "Request.Method", "HTTP method"},
		{"io", "EOF", "no more input"},
		{"gradbook/gpu", "Device.Run", "launches a kernel"},
	} {
		if d := Doc(c.path, c.name); !strings.Contains(d, c.want) {
			t.Errorf("Doc(%s, %s) = %q, want %q in it", c.path, c.name, d, c.want)
		}
	}
	if d := Doc("fmt", "nosuch") + Doc("no/such", "Name"); d != "" {
		t.Errorf("docs of nothing: %q", d)
	}
}
