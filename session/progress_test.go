package session

import (
	"strings"
	"testing"
	"time"
)

type testClock struct{ now time.Time }

func (c *testClock) read() time.Time { return c.now }

func TestProgressInALog(t *testing.T) {
	var out strings.Builder
	clock := &testClock{}
	bar := newBar(New(), &out, false, clock.read, 40, "rows")
	for range 40 {
		clock.now = clock.now.Add(time.Second)
		bar.Add(1)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 10 {
		t.Fatalf("%d lines, want one for each tenth:\n%s", len(lines), out.String())
	}
	if want := "rows  50% |" + strings.Repeat("█", 12) + strings.Repeat(" ", 12) + "| 20/40  0:20, 0:20 left"; lines[4] != want {
		t.Errorf("got  %q\nwant %q", lines[4], want)
	}
	if !strings.Contains(lines[9], "100%") || strings.Contains(lines[9], "left") {
		t.Errorf("last line %q", lines[9])
	}
}

func TestProgressRedraws(t *testing.T) {
	var out strings.Builder
	clock := &testClock{}
	bar := newBar(New(), &out, true, clock.read, 1000, "")
	for range 1000 {
		clock.now = clock.now.Add(10 * time.Millisecond)
		bar.Add(1)
	}
	text := out.String()
	if n := strings.Count(text, "\r"); n < 45 || n > 52 {
		t.Errorf("%d drawings in 10 s, want five a second", n)
	}
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		t.Error("the line must end once, at the end")
	}
	width := 0
	for i, drawing := range strings.Split(strings.TrimSuffix(text, "\n"), "\r")[1:] {
		if n := len([]rune(drawing)); n < width {
			t.Fatalf("drawing %d is %d wide and leaves the end of one of %d", i, n, width)
		} else {
			width = len([]rune(strings.TrimRight(drawing, " ")))
		}
	}
}

func TestProgressEachAndEarlyEnd(t *testing.T) {
	var out strings.Builder
	clock := &testClock{}
	sum := 0
	for i := range newBar(New(), &out, false, clock.read, 10, "").Each() {
		if i == 5 {
			break
		}
		sum += i
	}
	if sum != 10 || !strings.Contains(out.String(), " 50% ") {
		t.Errorf("sum %d, output %q", sum, out.String())
	}
	out.Reset()
	newBar(New(), &out, false, clock.read, 0, "none").Done()
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("a bar over nothing: %q", out.String())
	}
}

func TestProgressStops(t *testing.T) {
	s := New()
	var out strings.Builder
	bar := newBar(s, &out, true, time.Now, 10, "work")
	s.Interrupt()
	defer func() {
		e, ok := recover().(interface{ Interrupted() bool })
		if !ok || !e.Interrupted() {
			t.Error("Add must panic with an interrupt")
		}
	}()
	bar.Add(1)
}
