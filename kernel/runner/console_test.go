package runner

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// A log gets a line that is drawn again and again once.
func TestPlainConsole(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := NewConsole(w, "x")
	if _, ok := c.(*plain); !ok {
		t.Fatalf("a pipe is no terminal: %T", c)
	}
	c.Begin(0, 1, "")
	for _, text := range []string{"a\n", "no end", " yet\n", "\r10%", "\r50", "%\r100%\nb\n", "\rlast"} {
		io.WriteString(c, text)
	}
	c.End()
	w.Close()
	got, err := io.ReadAll(r)
	if err != nil || string(got) != "a\nno end yet\n100%\nb\nlast\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// screen returns what a terminal would show: a carriage return goes back to the
// start of the line, and what follows overwrites.
func screen(data []byte) string {
	var lines [][]rune
	line, at := []rune(nil), 0
	for _, r := range string(data) {
		switch r {
		case '\n':
			lines = append(lines, line)
			line, at = nil, 0
		case '\r':
			at = 0
		default:
			if at < len(line) {
				line[at] = r
			} else {
				line = append(line, r)
			}
			at++
		}
	}
	var b strings.Builder
	for _, l := range append(lines, line) {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// On a terminal the bar is below the output, and gone in the end.
func TestTerminalConsole(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &terminal{f: w, title: "n.ipynb", fresh: true}
	c.Begin(0, 2, "first := 1\nmore")
	io.WriteString(c, "a\n")
	io.WriteString(c, "half")
	io.WriteString(c, " line\n")
	buf := make([]byte, 1<<16)
	n, err := r.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	during := bytes.Clone(buf[:n])
	if got := screen(during); !strings.HasPrefix(got, "a\nhalf line\nn.ipynb  first := 1") || !strings.Contains(got, "(0/2)") {
		t.Errorf("while it runs:\n%s", got)
	}
	c.Begin(1, 2, "second")
	io.WriteString(c, "end")
	c.End()
	w.Close()
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := screen(append(during, rest...)); got != "a\nhalf line\nend" {
		t.Errorf("in the end:\n%s", got)
	}
}
