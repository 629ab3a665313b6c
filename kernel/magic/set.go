package magic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gradbook/viz/display"
)

// A Context is what the kernel gives to a line that runs.
type Context struct {
	context.Context                           // cancelled by an interrupt
	Stdout, Stderr  io.Writer                 // of the cell
	Show            func(display.Bundle)      // shows under the cell
	Run             func(src string) error    // runs Go code as a part of the cell
	Names           func() []Name             // what cells have defined
	Reset           func() error              // forgets all of them
	Get             func(module string) error // makes a module importable
}

// A Name is a global of the session.
type Name struct {
	Name, Type string
	Cell       int
}

// A Command is one % line, or with Whole one %% cell.
type Command struct {
	Name string
	Args string // how the arguments are written, as in "[NAME]"
	Help string // one sentence
	// Run does it; body is the rest of the cell for a Whole command.
	Run func(c *Context, arg, body string) error
	// Choices, if set, are values that arg may have, for completion.
	Choices func() []string
	Paths   bool // arg is the name of a file
	Go      bool // what follows, on the line or in the rest of the cell, is Go
	Whole   bool
}

// ErrFailed is returned by Run for code or a process that has already told
// the user what went wrong.
var ErrFailed = errors.New("failed")

// A UsageError says that a line was not written as it must be.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

func usage(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// A Set is the commands that a kernel knows.
type Set struct {
	commands []Command
	previous string // directory before the last %cd
}

// NewSet returns the commands of this package and the given ones.
func NewSet(more ...Command) *Set {
	s := &Set{}
	s.commands = append(s.builtin(), more...)
	slices.SortStableFunc(s.commands, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// Check returns an error for the first part that names an unknown command, so
// that a cell with a typing error does not run halfway.
func (s *Set) Check(parts []Part) error {
	for _, p := range parts {
		if p.Kind == Line || p.Kind == Whole {
			if _, err := s.find(p); err != nil {
				return err
			}
		}
		if p.Kind == Shell && p.Arg == "" {
			return usage("line %d: ! needs a command, as in !ls", p.Row)
		}
	}
	return nil
}

// Run runs a part that is not Go.
func (s *Set) Run(c *Context, p Part) error {
	if p.Kind == Shell {
		err := shell(c, p.Arg)
		if errors.Is(err, ErrFailed) {
			return nil // a command's exit status is told, and does not fail the cell
		}
		return err
	}
	cmd, err := s.find(p)
	if err != nil {
		return err
	}
	return cmd.Run(c, p.Arg, p.Text)
}

func (s *Set) find(p Part) (Command, error) {
	mark := "%"
	if p.Kind == Whole {
		mark = "%%"
	}
	for _, cmd := range s.commands {
		if cmd.Name == p.Name && cmd.Whole == (p.Kind == Whole) {
			return cmd, nil
		}
	}
	if near := s.nearest(p.Name, p.Kind == Whole); near != "" {
		return Command{}, usage("line %d: there is no %s%s; did you mean %s? %%help lists them all", p.Row, mark, p.Name, near)
	}
	return Command{}, usage("line %d: there is no %s%s; %%help lists what there is", p.Row, mark, p.Name)
}

// nearest returns the command whose name is closest to what was typed, if it
// is close enough to be meant; of two as close, one with the same mark.
func (s *Set) nearest(name string, whole bool) string {
	best, bestCost := "", 2*max(2, len(name)/3)+2
	for _, cmd := range s.commands {
		d := distance(strings.ToLower(name), cmd.Name)
		if name != "" && strings.HasPrefix(cmd.Name, name) {
			d = 1
		}
		cost := 2 * d
		if cmd.Whole != whole {
			cost++
		}
		if cost < bestCost {
			best, bestCost = cmd.mark(), cost
		}
	}
	return best
}

func (c Command) mark() string {
	if c.Whole {
		return "%%" + c.Name
	}
	return "%" + c.Name
}

// distance is the Levenshtein distance, with neighbours swapped counted once.
func distance(a, b string) int {
	prev2, prev := []int(nil), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev = prev, row
	}
	return prev[len(b)]
}

func elapsed(since time.Time) string {
	d := time.Since(since)
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond / 10).String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}
