package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A rule says what the packages of one room may import. Rooms and packages are named below the module; a
// room holds its package and all beneath it, unless a longer room does.
type rule struct {
	room    string
	imports []string // rooms, besides the room itself
	// never lists import paths that must not be reached even through others: what the room does not know.
	never []string
}

// The arrows of docs/architecture.md. A new room needs a line here.
var arrows = []rule{
	{room: "gpu"},
	{room: "tensor", imports: []string{"gpu"}},
	{room: "autograd", imports: []string{"gpu", "tensor"}},
	{room: "autograd/nn", imports: []string{"gpu", "tensor", "autograd"}},
	{room: "autograd/optim", imports: []string{"gpu", "tensor", "autograd"}},
	{room: "autograd/data", imports: []string{"gpu", "tensor", "autograd"}},
	{room: "session", imports: []string{"gpu", "tensor", "viz/display"}},
	{room: "viz", imports: []string{"gpu", "session", "viz/display"}},
	{room: "viz/display"},
	{room: "kernel", imports: []string{"session", "viz", "viz/display", "kernel/wire", "kernel/cell", "kernel/interp", "kernel/symbols"}},
	// The parts meet here; of gpu it uses plain data of snapshots.
	{room: "kernel/live", imports: []string{"kernel", "kernel/cell", "kernel/interp", "kernel/symbols", "session", "viz", "viz/display", "gpu"}},
	{room: "kernel/wire", imports: []string{"viz/display"}, never: []string{"go/ast", "go/types", "github.com/traefik/yaegi"}},
	{room: "kernel/cell", never: []string{"net", "github.com/go-zeromq/zmq4", "github.com/traefik/yaegi"}},
	{room: "kernel/interp", imports: []string{"kernel/cell", "kernel/symbols", "session", "viz", "viz/display"}, never: []string{"github.com/go-zeromq/zmq4"}},
	{room: "kernel/symbols", imports: []string{"gpu", "tensor", "autograd", "autograd/nn", "autograd/optim", "autograd/data", "session", "viz", "viz/display"}},
	{room: "cmd", imports: []string{"kernel", "kernel/wire", "kernel/live", "session", "viz", "viz/display", "gpu", "install"}},
	{room: "install"},
}

const module = "gradbook"

func roomOf(pkg string) *rule {
	var best *rule
	for i := range arrows {
		r := &arrows[i]
		if (pkg == r.room || strings.HasPrefix(pkg, r.room+"/")) && (best == nil || len(r.room) > len(best.room)) {
			best = r
		}
	}
	return best
}

type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Dir        string
	GoFiles    []string
	Export     string // file of type data
}

func TestArrows(t *testing.T) {
	for _, pkg := range listPackages(t, "-deps", module+"/...") {
		name, ours := strings.CutPrefix(pkg.ImportPath, module+"/")
		if !ours {
			continue
		}
		from := roomOf(name)
		if from == nil {
			t.Errorf("%s is in no room: give it a line in arrows", name)
			continue
		}
		for _, imported := range pkg.Imports {
			to, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			if room := roomOf(to); room == nil || room != from && !slices.Contains(from.imports, room.room) {
				t.Errorf("%s imports %s, which is no arrow of the design", name, to)
			}
		}
		for _, dep := range pkg.Deps {
			for _, never := range from.never {
				if dep == never || strings.HasPrefix(dep, never+"/") {
					t.Errorf("%s must not know %s", name, dep)
				}
			}
		}
	}
}

// What a test sees must not be so small that it cannot fail.
func TestArrowsCoverEveryPackage(t *testing.T) {
	seen := map[*rule]bool{}
	for _, pkg := range listPackages(t, module+"/...") {
		seen[roomOf(strings.TrimPrefix(pkg.ImportPath, module+"/"))] = true
	}
	for i := range arrows {
		if !seen[&arrows[i]] {
			t.Errorf("no package is in room %s", arrows[i].room)
		}
	}
}

func listPackages(t *testing.T, args ...string) []listed {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps,Dir,GoFiles,Export"}, args...)...).Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = errors.New(string(failed.Stderr))
		}
		t.Fatal("go list: ", err)
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg listed
		if err := decoder.Decode(&pkg); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, pkg)
	}
}

// What viz draws is plain data: of gpu and session it uses types, their fields and constants, never a
// function that could ask a device or change a session.
func TestVizUsesOnlySnapshots(t *testing.T) {
	exports := map[string]string{}
	var files []string
	for _, pkg := range listPackages(t, "-deps", "-export", module+"/viz") {
		exports[pkg.ImportPath] = pkg.Export
		if pkg.ImportPath == module+"/viz" {
			for _, file := range pkg.GoFiles {
				files = append(files, filepath.Join(pkg.Dir, file))
			}
		}
	}
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, file := range files {
		syntax, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, syntax)
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	uses := map[*ast.Ident]types.Object{}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	if _, err := config.Check(module+"/viz", fset, parsed, &types.Info{Uses: uses}); err != nil {
		t.Fatal(err)
	}
	for ident, object := range uses {
		pkg := object.Pkg()
		if pkg == nil || pkg.Path() != module+"/gpu" && pkg.Path() != module+"/session" {
			continue
		}
		if function, ok := object.(*types.Func); ok {
			t.Errorf("%s: viz calls %s", fset.Position(ident.Pos()), function.FullName())
		}
		if variable, ok := object.(*types.Var); ok && !variable.IsField() {
			t.Errorf("%s: viz uses the variable %s", fset.Position(ident.Pos()), object.Name())
		}
	}
}
