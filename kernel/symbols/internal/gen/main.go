// Command gen writes the generated files of package symbols; go generate runs it in that package's folder.
// With -std it writes the standard library's files too; they change with the Go release only.
package main

import (
	"flag"
	"log"
	"os"
	"runtime"
	"strings"

	"gradbook/kernel/symbols/internal/export"
)

func main() {
	log.SetFlags(0)
	std := flag.Bool("std", false, "write the standard library's files even if this Go release wrote them")
	dir := flag.String("dir", ".", "folder of package symbols")
	one := flag.String("table", "", "write the table of this package alone, to -out, for package -package")
	out := flag.String("out", "", "")
	pkg := flag.String("package", "interp", "")
	flag.Parse()
	if *one != "" {
		if err := writeTable(*one, *out, *pkg); err != nil {
			log.Fatal("symbols: ", err)
		}
		return
	}
	if err := run(*dir, *std); err != nil {
		log.Fatal("symbols: ", err)
	}
}

func run(dir string, std bool) error {
	if have, _ := os.ReadFile(dir + "/std.version"); std || strings.TrimSpace(string(have)) != runtime.Version() {
		files, err := export.StdFiles(dir)
		if err != nil {
			return err
		}
		if err := export.Write(dir, files); err != nil {
			return err
		}
	}
	files, err := export.ProjectFiles(dir)
	if err != nil {
		return err
	}
	return export.Write(dir, files)
}

func writeTable(path, out, pkg string) error {
	pkgs, err := export.Load(".", []string{path})
	if err != nil {
		return err
	}
	data, err := export.Table(pkg, "tensorTable", pkgs, nil)
	if err != nil {
		return err
	}
	return os.WriteFile(out, data, 0o644)
}
