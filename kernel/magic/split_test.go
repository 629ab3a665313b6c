package magic

import (
	"fmt"
	"strings"
	"testing"
)

func describe(parts []Part) string {
	var out []string
	for _, p := range parts {
		switch p.Kind {
		case Go:
			out = append(out, fmt.Sprintf("go@%d %q", p.Row, p.Text))
		case Line:
			out = append(out, fmt.Sprintf("line@%d %s(%s)", p.Row, p.Name, p.Arg))
		case Shell:
			out = append(out, fmt.Sprintf("shell@%d %s", p.Row, p.Arg))
		case Whole:
			out = append(out, fmt.Sprintf("whole@%d %s(%s) %q", p.Row, p.Name, p.Arg, p.Text))
		}
	}
	return strings.Join(out, "; ")
}

func TestSplit(t *testing.T) {
	for src, want := range map[string]string{
		"":                           `go@1 ""`,
		"x := 1":                     `go@1 "x := 1"`,
		"%who":                       `line@1 who()`,
		"  %cd  /tmp  ":              `line@1 cd(/tmp)`,
		"!ls -l | wc":                `shell@1 ls -l | wc`,
		"%device vulkan\n\nx := 1\n": `line@1 device(vulkan); go@2 "\n\nx := 1\n"`,
		"x := 1\n%who\ny := 2":       `go@1 "x := 1\n"; line@2 who(); go@3 "\n\ny := 2"`,
		"%time f()\n!ls":             `line@1 time(f()); shell@2 ls`,
		"%%bash\nls\n%who":           `whole@1 bash() "\nls\n%who"`,
		"\n%%writefile a.txt\nx\n":   `whole@2 writefile(a.txt) "\n\nx\n"`,
		"%%time":                     `whole@1 time() "\n"`,
		"s := `\n%who\n!ls`":         `go@1 "s := ` + "`" + `\n%who\n!ls` + "`" + `"`,
		"/*\n%who\n*/":               `go@1 "/*\n%who\n*/"`,
		"f(\n!ok,\n)":                `go@1 "f(\n!ok,\n)"`,
		"x = a &&\n!b":               `go@1 "x = a &&\n!b"`,
		"func f() bool {\n!x\n}":     `go@1 "func f() bool {\n!x\n}"`,
		"x := 7 // a\n%who // b":     `go@1 "x := 7 // a\n"; line@2 who(// b)`,
		"x := '%'\n% who":            `go@1 "x := '%'\n"; line@2 who()`,
		"if x {\n}\n!ls":             `go@1 "if x {\n}\n"; shell@3 ls`,
		"a := 9 %\n4":                `go@1 "a := 9 %\n4"`,
	} {
		if got := describe(Split(src)); got != want {
			t.Errorf("%q:\n got %s\nwant %s", src, got, want)
		}
	}
}

// FuzzSplit checks that the Go parts are the cell's own lines, where they were.
func FuzzSplit(f *testing.F) {
	for _, src := range []string{"%who\nx\n!ls", "%%bash\nx", "`\n%x", "f(\n!a)", "\n\n%", "!", "{\n%a\n}\n%b"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		set := NewSet()
		if len(set.Blank(src)) != len(src) {
			t.Errorf("Blank changed the length of %q", src)
		}
		for i := range src {
			if start, _, ok := set.Complete(src, i); ok && (start < 0 || start > i) {
				t.Errorf("%q: completion at %d starts at %d", src, i, start)
			}
		}
		lines := strings.SplitAfter(src, "\n")
		for _, p := range Split(src) {
			if p.Kind != Go {
				continue
			}
			for i, line := range strings.SplitAfter(p.Text, "\n") {
				if i >= p.Row-1 && (i >= len(lines) || line != lines[i]) && strings.TrimSpace(line) != "" {
					t.Errorf("%q: line %d became %q", src, i+1, line)
				}
			}
		}
	})
}
