package session

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// SetOutput sets where text such as progress bars goes, and that it redraws a
// line after a carriage return, as front ends do; nil restores the process's
// standard output.
func (s *Session) SetOutput(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = w
}

// Bar shows how far work is. It is one line of text that is drawn again in
// place, at most five times a second, where the output can do that: in
// JupyterLab, a console, a terminal. A plain log gets one line for each tenth.
//
//	bar := session.Progress(len(files), "reading")
//	for _, f := range files {
//		read(f)
//		bar.Add(1)
//	}
type Bar struct {
	mu      sync.Mutex
	session *Session
	out     io.Writer
	redraws bool
	clock   func() time.Time

	n, done int
	label   string
	start   time.Time
	drawn   time.Time // last drawing
	tenth   int       // last tenth that a log got
	width   int       // of the last drawing, in characters
	ended   bool
}

const redrawEvery = 200 * time.Millisecond

// Progress starts a bar over n steps.
func (s *Session) Progress(n int, label string) *Bar {
	s.mu.Lock()
	out := s.out
	s.mu.Unlock()
	redraws := true
	if out == nil {
		out, redraws = os.Stdout, term.IsTerminal(int(os.Stdout.Fd()))
	}
	return newBar(s, out, redraws, time.Now, n, label)
}

func newBar(s *Session, out io.Writer, redraws bool, clock func() time.Time, n int, label string) *Bar {
	b := &Bar{session: s, out: out, redraws: redraws, clock: clock, n: n, label: label, start: clock()}
	b.mu.Lock()
	defer b.mu.Unlock()
	if redraws {
		b.redraw()
	}
	if n <= 0 {
		b.end()
	}
	return b
}

// Add tells that k more steps are done; the n-th ends the bar. It panics when
// the cell was interrupted, so that a loop which only computes ends too.
func (b *Bar) Add(k int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session.Stopped() {
		b.end()
		panic(&Interrupted{b.label})
	}
	b.done += k
	switch {
	case b.ended:
	case b.done >= b.n:
		b.end()
	case b.redraws:
		if b.clock().Sub(b.drawn) >= redrawEvery {
			b.redraw()
		}
	default:
		if tenth := 10 * b.done / b.n; tenth > b.tenth {
			b.tenth = tenth
			fmt.Fprintln(b.out, b.line())
		}
	}
}

// Label changes the text before the bar.
func (b *Bar) Label(label string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.label = label
}

// Done ends the bar where it is, for work that stops early.
func (b *Bar) Done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end()
}

// Each counts from 0 to n-1 and moves the bar after each step:
//
//	for i := range session.Progress(100, "steps").Each() {
func (b *Bar) Each() func(yield func(int) bool) {
	return func(yield func(int) bool) {
		defer b.Done()
		for i := range b.n {
			if !yield(i) {
				return
			}
			b.Add(1)
		}
	}
}

func (b *Bar) end() {
	if b.ended {
		return
	}
	b.ended = true
	if b.redraws {
		b.redraw()
		fmt.Fprintln(b.out)
	} else {
		fmt.Fprintln(b.out, b.line())
	}
}

func (b *Bar) redraw() {
	line := b.line()
	width := utf8.RuneCountInString(line)
	// A shorter line must not leave the end of a longer one.
	fmt.Fprint(b.out, "\r", line, strings.Repeat(" ", max(0, b.width-width)))
	b.width = width
	b.drawn = b.clock()
}

// barWidth is in characters; each has eight parts.
const barWidth = 24

func (b *Bar) line() string {
	share := 1.0
	if b.n > 0 {
		share = min(1, float64(b.done)/float64(b.n))
	}
	spent := b.clock().Sub(b.start)
	var s strings.Builder
	if b.label != "" {
		s.WriteString(b.label + " ")
	}
	digits := len(fmt.Sprint(b.n))
	fmt.Fprintf(&s, "%3.0f%% |%s| %*d/%d  %s", 100*share, cells(share), digits, b.done, b.n, clockTime(spent))
	if b.done > 0 && !b.ended && b.done < b.n {
		left := time.Duration(float64(spent) * (1 - share) / share)
		fmt.Fprintf(&s, ", %s left", clockTime(left))
	}
	return s.String()
}

func cells(share float64) string {
	eighths := int(share * barWidth * 8)
	full := eighths / 8
	s := strings.Repeat("█", full)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune(" ▏▎▍▌▋▊▉")[rest])
		full++
	}
	return s + strings.Repeat(" ", barWidth-full)
}

func clockTime(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
}
