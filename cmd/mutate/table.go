package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A fault is one line of code made wrong, and the test that must notice.
type fault struct {
	name     string
	file     string // relative to the root of the tree
	old, new string
	pkg      string // as the go command takes it: ./gpu
	test     string // a top-level test function
	where    string // table file and line, for messages
}

// apply returns the source with the fault in it.
func (f fault) apply(source string) (string, error) {
	switch n := strings.Count(source, f.old); n {
	case 1:
		return strings.Replace(source, f.old, f.new, 1), nil
	default:
		return "", fmt.Errorf("%s: fault %s: the old text occurs %d times in %s, not once: %s", f.where, f.name, n, f.file, f.old)
	}
}

var testName = regexp.MustCompile(`^(Test|Fuzz)\w*$`)

// parseTable reads the faults of one table; file is its name in messages.
func parseTable(file, text string) ([]fault, error) {
	var faults []fault
	var current *fault
	var seen map[string]bool
	finish := func() error {
		if current == nil {
			return nil
		}
		for _, key := range []string{"file", "old", "new", "test"} {
			if !seen[key] {
				return fmt.Errorf("%s: fault %s has no %q line", current.where, current.name, key)
			}
		}
		if current.old == current.new {
			return fmt.Errorf("%s: fault %s changes nothing", current.where, current.name)
		}
		faults = append(faults, *current)
		current = nil
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		where := fmt.Sprintf("%s:%d", file, i+1)
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if line == "" {
			if err := finish(); err != nil {
				return nil, err
			}
			continue
		}
		key, value, _ := strings.Cut(line, " ")
		value = strings.TrimSpace(value)
		if key == "fault" {
			if err := finish(); err != nil {
				return nil, err
			}
			current, seen = &fault{name: value, where: where}, map[string]bool{}
		}
		if current == nil {
			return nil, fmt.Errorf("%s: a block starts with a \"fault\" line, not %q", where, line)
		}
		if seen[key] {
			return nil, fmt.Errorf("%s: a second %q line in fault %s", where, key, current.name)
		}
		seen[key] = true
		if value == "" && key != "new" {
			return nil, fmt.Errorf("%s: nothing after %q", where, key)
		}
		switch key {
		case "fault":
		case "file":
			current.file = value
		case "old":
			current.old = value
		case "new":
			current.new = value
		case "test":
			pkg, test, _ := strings.Cut(value, " ")
			current.pkg, current.test = pkg, strings.TrimSpace(test)
			if !strings.HasPrefix(pkg, "./") || !testName.MatchString(current.test) {
				return nil, fmt.Errorf("%s: a test reads \"./package TestName\", not %q", where, value)
			}
		default:
			return nil, fmt.Errorf("%s: unknown key %q", where, key)
		}
	}
	return faults, finish()
}

// loadTables reads every table in dir, in the order of their names.
func loadTables(dir string) ([]fault, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no fault tables in %s", dir)
	}
	var all []fault
	first := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		faults, err := parseTable(filepath.Base(file), string(text))
		if err != nil {
			return nil, err
		}
		for _, f := range faults {
			if where, taken := first[f.name]; taken {
				return nil, fmt.Errorf("%s: fault %s is also at %s", f.where, f.name, where)
			}
			first[f.name] = f.where
		}
		all = append(all, faults...)
	}
	return all, nil
}
