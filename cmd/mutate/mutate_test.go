package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The tables must not rot: each fault still finds its line, and its test still exists.
func TestEveryFaultApplies(t *testing.T) {
	root := "../.."
	faults, err := loadTables("faults")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		source, err := os.ReadFile(filepath.Join(root, f.file))
		if err != nil {
			t.Errorf("%s: fault %s: %v", f.where, f.name, err)
			continue
		}
		if _, err := f.apply(string(source)); err != nil {
			t.Error(err)
		}
		if !declared(t, filepath.Join(root, f.pkg), f.test) {
			t.Errorf("%s: fault %s: no %s in %s", f.where, f.name, f.test, f.pkg)
		}
	}
}

func declared(t *testing.T, dir, test string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+test+"(") {
			return true
		}
	}
	return false
}

func TestParseTable(t *testing.T) {
	good := "# about\nfault a\nfile x.go\nold  i++\nnew  i--\ntest ./x TestX\n\nfault b\nfile x.go\nold  return\nnew\ntest ./x/y TestY\n"
	faults, err := parseTable("t.txt", good)
	if err != nil {
		t.Fatal(err)
	}
	want := []fault{
		{"a", "x.go", "i++", "i--", "./x", "TestX", "t.txt:2"},
		{"b", "x.go", "return", "", "./x/y", "TestY", "t.txt:8"},
	}
	if len(faults) != 2 || faults[0] != want[0] || faults[1] != want[1] {
		t.Errorf("got %+v, want %+v", faults, want)
	}
	for _, bad := range []struct{ text, want string }{
		{"file x.go\n", `starts with a "fault" line`},
		{"fault a\nfile x.go\nold i++\nnew i--\n", `no "test" line`},
		{"fault a\nfile x.go\nfile y.go\n", `second "file" line`},
		{"fault a\nold\n", `nothing after "old"`},
		{"fault a\nlines 3\n", `unknown key "lines"`},
		{"fault a\ntest x TestX\n", `"./package TestName"`},
		{"fault a\nfile x.go\nold i\nnew i\ntest ./x TestX\n", "changes nothing"},
	} {
		if _, err := parseTable("t.txt", bad.text); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%q: got %v, want an error with %q", bad.text, err, bad.want)
		}
	}
}

// A small module with one good test, one that notices nothing, and faults of every kind.
func TestMutate(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	source := "package p\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"
	write("go.mod", "module p\n\ngo 1.26\n")
	write("p.go", source)
	write("p_test.go", `package p

import "testing"

func TestAdd(t *testing.T) {
	if Add(2, 3) != 5 {
		t.Fail()
	}
}
func TestBlind(t *testing.T)   { Add(2, 3) }
func TestSkipped(t *testing.T) { t.Skip() }
func TestFails(t *testing.T)   { t.Fail() }
`)
	block := func(name, new, test string) string {
		return "fault " + name + "\nfile p.go\nold return a + b\nnew " + new + "\ntest ./. " + test + "\n\n"
	}
	write("faults/p.txt", block("good", "return a - b", "TestAdd")+
		block("blind", "return a - b", "TestBlind")+
		block("syntax", "return a -", "TestAdd")+
		block("absent", "return 1", "TestNowhere")+
		block("skipped", "return 1", "TestSkipped")+
		block("red", "return 1", "TestFails"))
	git := exec.Command("git", "init", "-q", root)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	var log bytes.Buffer
	for name, want := range map[string]bool{
		"good": true, "blind": false, "syntax": false, "absent": false, "skipped": false, "red": false,
	} {
		ok, err := mutate(&log, root, filepath.Join(root, "faults"), []string{name}, false)
		if err != nil || ok != want {
			t.Errorf("fault %s: noticed %v, %v; want %v\n%s", name, ok, err, want, &log)
		}
	}
	if _, err := mutate(&log, root, filepath.Join(root, "faults"), []string{"typo"}, false); err == nil {
		t.Error("an unknown fault is no error")
	}
	if after, _ := os.ReadFile(filepath.Join(root, "p.go")); string(after) != source {
		t.Error("the tree was changed")
	}
}
