package interp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gradbook/kernel/cell"
)

// modules is the modules that were got: packages that cells run from source.
type modules struct {
	dir  string // of the module that requires them
	pkgs map[string]listed
	syn  map[string]*cell.Syntax
	errs map[string]error
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Name, Dir            string
	GoFiles, IgnoredGoFiles, Imports []string
	Standard                         bool
	Module                           *struct{ Path string }
	Error                            *struct{ Err string }
}

func (m *modules) has(path string) bool { _, ok := m.pkgs[path]; return ok }

// forget drops what was checked: a new session has types of its own.
func (m *modules) forget() { m.syn, m.errs = map[string]*cell.Syntax{}, map[string]error{} }

func (m *modules) get(ctx context.Context, module string) error {
	path, version, _ := strings.Cut(strings.TrimSpace(module), "@")
	if path == "" || strings.HasPrefix(path, "-") || strings.ContainsAny(module, " \t\n") {
		return fmt.Errorf("%%get wants one module, as in %%get github.com/owner/name@v1.2.3; got %q", module)
	}
	if version == "" {
		version = "latest"
	}
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("%get needs a Go toolchain on this machine, and there is no go command in PATH; install Go from https://go.dev/dl, or use the packages that are built in")
	}
	if m.dir == "" {
		dir, err := os.MkdirTemp("", "gradbook-modules-")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module cells\n\ngo 1.26\n"), 0o644); err != nil {
			return err
		}
		m.dir = dir
	}
	if _, err := m.goCommand(ctx, "get", path+"@"+version); err != nil {
		return fmt.Errorf("%%get %s@%s: %w", path, version, err)
	}
	out, err := m.goCommand(ctx, "list", "-e", "-deps", "-tags", "purego,noasm,appengine", "-json=ImportPath,Name,Dir,GoFiles,IgnoredGoFiles,Imports,Standard,Module,Error", path, path+"/...")
	if err != nil {
		return fmt.Errorf("%%get %s: %w", path, err)
	}
	if m.pkgs == nil {
		m.pkgs = map[string]listed{}
	}
	usable := false
	var why error
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("%%get %s: go list: %w", path, err)
		}
		if p.Standard || p.Module == nil {
			continue
		}
		m.pkgs[p.ImportPath] = p
		if p.ImportPath == path || strings.HasPrefix(p.ImportPath, path+"/") {
			if err := p.reason(); err != nil {
				why = err
			} else {
				usable = true
			}
		}
	}
	switch {
	case usable:
		return nil
	case why != nil:
		return why
	}
	return fmt.Errorf("%%get %s: the module has no package that can be imported", path)
}

func (m *modules) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s", strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// reason says why cells cannot run a package, nil if they can.
func (p listed) reason() error {
	switch {
	case slices.Contains(p.Imports, "C"):
		return fmt.Errorf("package %s uses cgo: cells run a module's Go source, and C is not part of it", p.ImportPath)
	case slices.Contains(p.Imports, "unsafe"):
		return fmt.Errorf("package %s uses unsafe: cells run a module's source in an interpreter, where unsafe memory does not look as it expects", p.ImportPath)
	case len(p.GoFiles) == 0 && p.hasCgo():
		return fmt.Errorf("package %s uses cgo: cells run a module's Go source, and C is not part of it", p.ImportPath)
	case len(p.GoFiles) == 0:
		return fmt.Errorf("package %s has no Go files for this system", p.ImportPath)
	case p.Name == "main":
		return fmt.Errorf("package %s is a program, not an importable package", p.ImportPath)
	}
	return nil
}

func (p listed) hasCgo() bool {
	for _, name := range p.IgnoredGoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, imp := range f.Imports {
			if imp.Path.Value == `"C"` {
				return true
			}
		}
	}
	return false
}

// check parses and checks a package, once a session.
func (m *modules) check(path string, imp types.Importer) (*cell.Syntax, error) {
	if syn := m.syn[path]; syn != nil {
		return syn, nil
	}
	if err := m.errs[path]; err != nil {
		return nil, err
	}
	syn, err := m.load(path, imp)
	if err != nil {
		m.errs[path] = err
		return nil, err
	}
	m.syn[path] = syn
	return syn, nil
}

func (m *modules) load(path string, imp types.Importer) (*cell.Syntax, error) {
	p := m.pkgs[path]
	if err := p.reason(); err != nil {
		return nil, err
	}
	syn := &cell.Syntax{Info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
	}}
	fset := token.NewFileSet()
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", path, err)
		}
		syn.Files = append(syn.Files, f)
	}
	conf := types.Config{Importer: imp}
	pkg, err := conf.Check(path, fset, syn.Files, syn.Info)
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", path, err)
	}
	syn.Pkg = pkg
	return syn, nil
}
