package runner

import (
	"io"
	"os"
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
