package kernel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"gradbook/viz/display"
)

// fake is an evaluator that runs one command a line:
//
//	print TEXT, err TEXT    to stdout, stderr
//	prints N                N lines "line I", each a print of its own
//	bytes HEX...            raw bytes to stdout
//	value TEXT              a result
//	fail NAME TEXT          an error
//	panic                   the evaluator itself panics
//	spin                    until interrupted
//	stuck                   heeds no interrupt, for 30 s
//	sleep MS
//	scan                    reads a word and prints it
//	ask PROMPT, secret PROMPT
//	later MS TEXT           a goroutine prints TEXT after the cell
//	show ID TEXT, update ID TEXT, clear
//	set NAME
type fake struct {
	streams Streams
	ask     func(prompt string, password bool) (string, error)

	mu   sync.Mutex
	vars map[string]int
	runs []string
}

func newFake(s Streams) *fake { return &fake{streams: s, vars: map[string]int{}} }

func (f *fake) Run(ctx context.Context, n int, src string) (out Outcome) {
	f.mu.Lock()
	f.runs = append(f.runs, src)
	f.mu.Unlock()
	for line := range strings.SplitSeq(src, "\n") {
		verb, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		first, rest, _ := strings.Cut(arg, " ")
		ms := func(s string) (d time.Duration) {
			fmt.Sscan(s, &d)
			return d * time.Millisecond
		}
		print := func(format string, args ...any) { f.streams.Stdout(n, fmt.Appendf(nil, format, args...)) }
		switch verb {
		case "print":
			print("%s\n", arg)
		case "err":
			f.streams.Stderr(n, []byte(arg+"\n"))
		case "prints":
			var count int
			fmt.Sscan(arg, &count)
			for i := range count {
				print("line %d\n", i)
			}
		case "bytes":
			var b []byte
			for h := range strings.FieldsSeq(arg) {
				var x byte
				fmt.Sscanf(h, "%x", &x)
				b = append(b, x)
			}
			f.streams.Stdout(n, b)
		case "value":
			b := display.Text(arg)
			out.Bundle = &b
		case "fail":
			out.Err = &Error{Name: first, Message: rest, Traceback: []string{"cell line 1: " + rest}}
			return out
		case "panic":
			panic("the evaluator is broken")
		case "spin":
			<-ctx.Done()
			out.Err = &Error{Name: "Interrupted", Message: "interrupted"}
			return out
		case "stuck":
			time.Sleep(30 * time.Second)
		case "sleep":
			select {
			case <-time.After(ms(arg)):
			case <-ctx.Done():
				out.Err = &Error{Name: "Interrupted", Message: "interrupted"}
				return out
			}
		case "scan":
			line, err := bufio.NewReader(f.streams.Stdin).ReadString('\n')
			if err != nil {
				out.Err = &Error{Name: "ReadError", Message: err.Error()}
				return out
			}
			print("got %s", line)
		case "ask", "secret":
			line, err := f.ask(arg, verb == "secret")
			if err != nil {
				out.Err = &Error{Name: "ReadError", Message: err.Error()}
				return out
			}
			print("got %s\n", line)
		case "later":
			time.AfterFunc(ms(first), func() { print("%s\n", rest) })
		case "show":
			display.ShowID(display.Text(rest), first)
		case "update":
			display.Update(display.Text(rest), first)
		case "clear":
			display.Clear(true)
		case "set":
			f.mu.Lock()
			f.vars[arg] = n
			f.mu.Unlock()
		}
	}
	return out
}

func (f *fake) IsComplete(src string) (string, string) {
	if strings.HasSuffix(strings.TrimSpace(src), "{") {
		return "incomplete", "    "
	}
	return "complete", ""
}

func (f *fake) Complete(src string, cursor int) Completion {
	start := strings.LastIndexAny(src[:cursor], " \n.(") + 1
	word := src[start:cursor]
	return Completion{Start: start, End: cursor, Matches: []Match{{Text: word + "ing", Kind: "function"}}}
}

func (f *fake) Inspect(src string, cursor int, detail int) (display.Bundle, bool) {
	if cursor >= len(src) || src[cursor] == ' ' {
		return display.Bundle{}, false
	}
	return display.Text(fmt.Sprintf("at %q detail %d", src[cursor:cursor+1], detail)), true
}

func (f *fake) Globals() []Global {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Global
	for name, cell := range f.vars {
		out = append(out, Global{Name: name, Type: "int", Cell: cell, Value: reflect.ValueOf(0)})
	}
	return out
}

func (f *fake) Reset() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.vars)
	return nil
}

func (f *fake) Get(_ context.Context, module string) error {
	if module == "example.com/none" {
		return errors.New("module example.com/none is not there")
	}
	return nil
}

func (*fake) Cell() int        { return 0 }
func (*fake) Background() bool { return false }
func (*fake) Close()           {}
