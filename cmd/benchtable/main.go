package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
)

//go:embed targets.txt
var targetTable string

func main() {
	if err := run(os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

// run copies what it reads to log as it comes, so that a long run can be watched, then writes the table to out.
func run(in io.Reader, out, log io.Writer) error {
	targets, err := parseTargets(targetTable)
	if err != nil {
		return err
	}
	var results []result
	var failed []string
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	pkg := ""
	for lines.Scan() {
		line := lines.Text()
		fmt.Fprintln(log, line)
		if name, ok := packageOf(line); ok {
			pkg = name
		}
		if r, ok := parseLine(line); ok {
			r.pkg = pkg
			results = append(results, r)
		}
		if isFailure(line) {
			failed = append(failed, line)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(results) == 0 {
		return fmt.Errorf("no benchmark among the lines read")
	}
	writeTable(out, results, targets)
	if len(failed) > 0 {
		return fmt.Errorf("%d benchmarks or packages failed: %q", len(failed), failed)
	}
	return nil
}
