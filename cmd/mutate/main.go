package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	verbose := flag.Bool("v", false, "print what each test printed")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./cmd/mutate [-v] [FAULT...]   (in the root of the tree)")
		flag.PrintDefaults()
	}
	flag.Parse()
	ok, err := mutate(os.Stdout, ".", "cmd/mutate/faults", flag.Args(), *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// mutate tries the named faults of the tables, or all of them, on a copy of the tree at root. It writes a
// line for each to w and reports whether every fault was noticed.
func mutate(w io.Writer, root, tables string, names []string, verbose bool) (bool, error) {
	faults, err := loadTables(tables)
	if err != nil {
		return false, err
	}
	if len(names) > 0 {
		known := faults
		faults = nil
		for _, name := range names {
			i := slices.IndexFunc(known, func(f fault) bool { return f.name == name })
			if i < 0 {
				return false, fmt.Errorf("no fault %s in %s", name, tables)
			}
			faults = append(faults, known[i])
		}
	}
	s, err := newScratch(root)
	if err != nil {
		return false, err
	}
	defer s.remove()

	sound := map[string]verdict{} // of the tests, with nothing broken
	missed := 0
	for _, f := range faults {
		target := f.pkg + " " + f.test
		if sound[target] == "" {
			v, out := s.runTest(f.pkg, f.test)
			sound[target] = v
			if v != passed {
				fmt.Fprint(w, indent(out))
			}
		}
		word, detail := "noticed", ""
		if v := sound[target]; v != passed {
			word, detail = "UNSOUND", "without the fault: "+string(v)
		} else {
			var v verdict
			var out string
			if err := s.with(f, func() { v, out = s.runTest(f.pkg, f.test) }); err != nil {
				word, detail = "UNSOUND", err.Error()
			} else if v != failed {
				word, detail = "MISSED", string(v)
			}
			if verbose || v == unbuilt {
				detail += "\n" + indent(out)
			}
		}
		if word != "noticed" {
			missed++
		}
		fmt.Fprintf(w, "%-8s %-40s %s  %s\n", word, f.name, target, detail)
	}
	fmt.Fprintf(w, "%d of %d faults noticed\n", len(faults)-missed, len(faults))
	return missed == 0, nil
}

func indent(text string) string {
	return "    | " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    | ") + "\n"
}
