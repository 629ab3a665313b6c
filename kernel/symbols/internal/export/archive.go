package export

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"go/build"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/gcexportdata"
)

// Archive packs the type data of packages, their docs, and the source of those in sources, into a zip file: "types/PATH",
// "docs/PATH" and "src/PATH/FILE". Positions are left out, so the bytes depend on the exported names and their comments alone.
func Archive(pkgs []*types.Package, docs map[string]map[string]string, sources []string) ([]byte, error) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	add := func(name string, data []byte) error {
		f, err := w.Create(name)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return err
	}
	for _, p := range pkgs {
		var b bytes.Buffer
		if err := gcexportdata.Write(&b, token.NewFileSet(), p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Path(), err)
		}
		if err := add("types/"+p.Path(), b.Bytes()); err != nil {
			return nil, err
		}
		d, err := docsFile(docs[p.Path()])
		if err != nil {
			return nil, err
		}
		if err := add("docs/"+p.Path(), d); err != nil {
			return nil, err
		}
	}
	for _, path := range sources {
		dir := filepath.Join(build.Default.GOROOT, "src", path)
		bp, err := build.ImportDir(dir, 0)
		if err != nil {
			return nil, err
		}
		for _, name := range bp.GoFiles {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			if err := add("src/"+path+"/"+name, data); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
