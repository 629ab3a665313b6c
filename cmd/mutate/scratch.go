package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// testLimit bounds one test: a fault may make it hang, which counts as noticed.
const testLimit = 2 * time.Minute

// A scratch is a copy of the tree in which faults are tried.
type scratch struct{ dir string }

// newScratch copies what git tracks, and what it neither tracks nor ignores, from root.
func newScratch(root string) (*scratch, error) {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	dir, err := os.MkdirTemp("", "gradbook-mutate-")
	if err != nil {
		return nil, err
	}
	s := &scratch{dir}
	for _, name := range strings.Split(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			s.remove()
			return nil, err
		}
	}
	return s, nil
}

// copyFile copies a regular file; one that git lists but that was deleted is left out.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

func (s *scratch) remove() { os.RemoveAll(s.dir) }

// A verdict says how a test took the tree as it stood.
type verdict string

const (
	passed   verdict = "passed"
	failed   verdict = "failed"
	unbuilt  verdict = "did not compile"
	notFound verdict = "no such test"
	skipped  verdict = "skipped"
)

// runTest runs one test in the copy and returns its verdict and what it printed.
func (s *scratch) runTest(pkg, test string) (verdict, string) {
	cmd := exec.Command("go", "test", "-v", "-count=1", "-vet=off", "-timeout", testLimit.String(), "-run", "^"+test+"$", pkg)
	cmd.Dir = s.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return judge(test, out.String(), err == nil), out.String()
}

var unbuiltLine = regexp.MustCompile(`(?m)^FAIL\t.*\[(build|setup) failed\]$`)

// judge reads what go test -v printed for one test.
func judge(test, out string, ok bool) verdict {
	ran := strings.Contains(out, "=== RUN   "+test+"\n")
	switch {
	case unbuiltLine.MatchString(out):
		return unbuilt
	case !ran:
		return notFound
	case !ok:
		return failed
	case strings.Contains(out, "--- SKIP: "+test+" "):
		return skipped
	default:
		return passed
	}
}

// with applies the fault, calls do, and puts the file back as it was.
func (s *scratch) with(f fault, do func()) error {
	path := filepath.Join(s.dir, f.file)
	source, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: fault %s: %w", f.where, f.name, err)
	}
	broken, err := f.apply(string(source))
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(broken), 0o644); err != nil {
		return err
	}
	do()
	return os.WriteFile(path, source, 0o644)
}
