package export

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
)

// Docs reads the doc comments of the exported names of packages, by import path and then by name: "" for the package,
// "Name", "Type.Method" and "Type.Field". dir is any folder of the module.
func Docs(dir string, paths []string) (map[string]map[string]string, error) {
	args := append([]string{"list", "-e", "-f", "{{.ImportPath}}\t{{.Dir}}\t{{range .GoFiles}}{{.}} {{end}}{{range .CgoFiles}}{{.}} {{end}}"}, paths...)
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	all := map[string]map[string]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(f) != 3 || f[2] == "" {
			continue
		}
		d, err := packageDocs(f[0], f[1], strings.Fields(f[2]))
		if err != nil {
			return nil, err
		}
		all[f[0]] = d
	}
	return all, nil
}

func packageDocs(path, dir string, names []string) (map[string]string, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(fset, files, path)
	if err != nil {
		return nil, err
	}
	docs := map[string]string{}
	put := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			docs[name] = text
		}
	}
	values := func(vs []*doc.Value) {
		for _, v := range vs {
			for _, s := range v.Decl.Specs {
				s := s.(*ast.ValueSpec)
				for _, n := range s.Names {
					put(n.Name, firstText(s.Doc, s.Comment, v.Doc))
				}
			}
		}
	}
	funcs := func(prefix string, fs []*doc.Func) {
		for _, f := range fs {
			put(prefix+f.Name, f.Doc)
		}
	}
	put("", p.Doc)
	values(p.Consts)
	values(p.Vars)
	funcs("", p.Funcs)
	for _, t := range p.Types {
		put(t.Name, t.Doc)
		values(t.Consts)
		values(t.Vars)
		funcs("", t.Funcs)
		funcs(t.Name+".", t.Methods)
		for _, s := range t.Decl.Specs {
			members(s.(*ast.TypeSpec), put)
		}
	}
	return docs, nil
}

// members gives the comments of a struct's fields and an interface's methods.
func members(s *ast.TypeSpec, put func(name, text string)) {
	var list *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			if n.IsExported() {
				put(s.Name.Name+"."+n.Name, firstText(f.Doc, f.Comment, ""))
			}
		}
	}
}

func firstText(a, b *ast.CommentGroup, rest string) string {
	if t := a.Text(); t != "" {
		return t
	}
	if t := b.Text(); t != "" {
		return t
	}
	return rest
}

// docsFile is the archived form of a package's docs.
func docsFile(docs map[string]string) ([]byte, error) { return json.Marshal(docs) }
