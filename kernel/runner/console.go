package runner

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// NewConsole returns a console on a file: on a terminal with a progress bar
// below the output, else plain text.
func NewConsole(f *os.File, title string) Console {
	if !term.IsTerminal(int(f.Fd())) {
		return &plain{f: f}
	}
	return &terminal{f: f, title: title, fresh: true}
}

// plain is a log: a line that was drawn again and again, as progress bars do,
// appears once, as it was in the end.
type plain struct {
	f    *os.File
	line []byte // a line with a carriage return, not written yet
}

func (p *plain) Begin(int, int, string) {}

func (p *plain) Write(b []byte) (int, error) {
	n := len(b)
	if len(p.line) == 0 && !bytes.ContainsRune(b, '\r') {
		return p.f.Write(b)
	}
	p.line = append(p.line, b...)
	for {
		i := bytes.IndexByte(p.line, '\n')
		if i < 0 {
			if j := bytes.LastIndexByte(p.line, '\r'); j > 0 && j < len(p.line)-1 {
				p.line = p.line[j:]
			}
			return n, nil
		}
		if _, err := fmt.Fprintln(p.f, drawn(string(p.line[:i]))); err != nil {
			return 0, err
		}
		p.line = p.line[i+1:]
	}
}

// drawn returns what is left of a line that was drawn again after carriage
// returns.
func drawn(line string) string {
	line = strings.TrimRight(line, "\r")
	return line[strings.LastIndexByte(line, '\r')+1:]
}

func (p *plain) End() {
	if len(p.line) > 0 {
		fmt.Fprintln(p.f, drawn(string(p.line)))
		p.line = nil
	}
}

// terminal keeps a bar in the line below the output.
type terminal struct {
	f     *os.File
	title string
	bar   *progressbar.ProgressBar
	fresh bool // the cursor is at the start of a line
}

func (t *terminal) Begin(i, n int, source string) {
	if t.bar == nil {
		t.bar = progressbar.NewOptions(n,
			progressbar.OptionSetWriter(t.f),
			progressbar.OptionSetDescription(t.title),
			progressbar.OptionSetWidth(20),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetRenderBlankState(true))
	}
	t.clear()
	first, _, _ := strings.Cut(strings.TrimSpace(source), "\n")
	t.bar.Describe(fmt.Sprintf("%s  %.40s", t.title, first))
	t.bar.Set(i)
}

func (t *terminal) clear() {
	if t.bar != nil && t.fresh {
		t.bar.Clear()
	}
}

func (t *terminal) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	t.clear()
	n, err := t.f.Write(b)
	t.fresh = b[len(b)-1] == '\n'
	if t.bar != nil && t.fresh {
		t.bar.RenderBlank()
	}
	return n, err
}

func (t *terminal) End() {
	t.clear()
	if !t.fresh {
		fmt.Fprintln(t.f)
	}
}
