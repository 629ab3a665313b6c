// Package export makes the files of package symbols: tables of compiled values and archives of type data.
package export

import (
	"go/types"
	"os"
	"path/filepath"
	"runtime"

	"github.com/traefik/yaegi/stdlib"
)

// File is one generated file of package symbols.
type File struct {
	Name string
	Data []byte
}

// ProjectFiles makes what depends on this module's packages. dir is any folder of the module.
func ProjectFiles(dir string) ([]File, error) {
	pkgs, err := Load(dir, Project)
	if err != nil {
		return nil, err
	}
	table, err := Table("symbols", "projectTable", pkgs, nil)
	if err != nil {
		return nil, err
	}
	docs, err := Docs(dir, Project)
	if err != nil {
		return nil, err
	}
	archive, err := Archive(pkgs, docs, nil)
	if err != nil {
		return nil, err
	}
	return []File{{"project_table.go", table}, {"project.zip", archive}}, nil
}

// StdFiles makes what depends on the Go release alone.
func StdFiles(dir string) ([]File, error) {
	pkgs, err := Load(dir, Std())
	if err != nil {
		return nil, err
	}
	table, err := Table("symbols", "stdTable", pkgs, func(p *types.Package, name string) bool {
		_, ok := stdlib.Symbols[p.Path()+"/"+p.Name()][name]
		return ok
	})
	if err != nil {
		return nil, err
	}
	docs, err := Docs(dir, Std())
	if err != nil {
		return nil, err
	}
	archive, err := Archive(pkgs, docs, Sources)
	if err != nil {
		return nil, err
	}
	return []File{{"std_table.go", table}, {"std.zip", archive}, {"std.version", []byte(runtime.Version() + "\n")}}, nil
}

// Write writes files into dir.
func Write(dir string, files []File) error {
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
