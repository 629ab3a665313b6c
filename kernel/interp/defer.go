package interp

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// Defers is the deferred calls of one call of a lowered function. The interpreter's own defer deadlocks on some closures, and
// its recover loses the panic's value.
type Defers struct {
	Line   *int // the site that the function is at, 0 once it leaves normally
	Weight int  // what the call adds to the depth

	s         *support
	fns       []func()
	panicking bool
	exiting   bool // by runtime.Goexit
	val       any
}

// Add defers a call.
func (d *Defers) Add(f func()) { d.fns = append(d.fns, f) }

// Run runs a function's body and then its deferred calls.
func (s *support) Run(d *Defers, body func()) {
	d.s, d.exiting = s, true
	defer d.unwind()
	body()
	d.exiting = false
}

func (d *Defers) unwind() {
	if p := recover(); p != nil {
		d.panicking, d.val, d.exiting = true, p, false
	}
	noted := false
	if d.panicking || d.exiting {
		noted = d.s.note(d.Line, d.Weight)
	}
	if d.panicking {
		defer d.s.enterPanic(d)()
	}
	for len(d.fns) > 0 {
		f := d.fns[len(d.fns)-1]
		d.fns = d.fns[:len(d.fns)-1]
		d.one(f)
	}
	if d.panicking {
		panic(d.val)
	}
	if noted && !d.exiting {
		*d.s.depthVar += d.Weight // recovered: the function leaves normally, which counts down once more
	}
}

// one runs a deferred call; a panic in it replaces the one that is under way.
func (d *Defers) one(f func()) {
	defer func() {
		if p := recover(); p != nil {
			if !d.panicking {
				d.panicking = true
				d.s.pushPanic(d)
			}
			d.val = p
		}
	}()
	f()
}

// enterPanic makes d the innermost panicking function of the goroutine; the function it returns undoes that.
func (s *support) enterPanic(d *Defers) func() {
	s.pushPanic(d)
	return func() {
		st := s.strands.current()
		if st == nil {
			return
		}
		st.mu.Lock()
		defer st.mu.Unlock()
		if i := slices.Index(st.panics, d); i >= 0 {
			st.panics = st.panics[:i]
		}
	}
}

func (s *support) pushPanic(d *Defers) {
	if st := s.strands.current(); st != nil {
		st.mu.Lock()
		defer st.mu.Unlock()
		if !slices.Contains(st.panics, d) {
			st.panics = append(st.panics, d)
		}
	}
}

// Recover is what recover() becomes.
func (s *support) Recover() any {
	st := s.strands.current()
	if st == nil {
		return nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.panics) == 0 {
		return nil
	}
	d := st.panics[len(st.panics)-1]
	if !d.panicking {
		return nil
	}
	d.panicking = false
	st.trace = trace{}
	return s.recovered(d.val)
}

// Panic is what panic(x) becomes.
func (s *support) Panic(x any) {
	if x == nil {
		panic(new(runtime.PanicNilError))
	}
	panic(x)
}

// runtimeError is an error that the Go runtime would raise.
type runtimeError string

func (e runtimeError) Error() string { return string(e) }
func (runtimeError) RuntimeError()   {}

const nilDereference = runtimeError("runtime error: invalid memory address or nil pointer dereference")

// recovered turns what the interpreter raised into what Go would have raised.
func (s *support) recovered(p any) any {
	switch p := p.(type) {
	case *reflect.ValueError:
		return nilDereference
	case runtime.Error:
		return p
	case error:
		if strings.HasPrefix(p.Error(), "reflect: ") || strings.HasPrefix(p.Error(), "reflect.") {
			return s.fromReflect(p.Error())
		}
	case string:
		if strings.HasPrefix(p, "reflect: ") || strings.HasPrefix(p, "reflect.") {
			return s.fromReflect(p)
		}
	}
	return p
}

func (s *support) fromReflect(msg string) error {
	switch {
	case strings.Contains(msg, "index out of range"):
		return runtimeError("runtime error: index out of range")
	case strings.Contains(msg, "out of bounds"):
		return runtimeError("runtime error: slice bounds out of range")
	case strings.Contains(msg, "zero Value"), strings.Contains(msg, "nil pointer"), strings.Contains(msg, "nil interface value"), strings.Contains(msg, "call of nil function"), strings.Contains(msg, "function value using zero"):
		return nilDereference
	case strings.Contains(msg, "negative len"), strings.Contains(msg, "len out of range"):
		return runtimeError("runtime error: makeslice: len out of range")
	}
	return errors.New("interpreter: " + msg)
}

// BadIndex panics as an index out of range does.
func (s *support) BadIndex(i, n int) {
	if i < 0 {
		panic(runtimeError(fmt.Sprintf("runtime error: index out of range [%d]", i)))
	}
	panic(runtimeError(fmt.Sprintf("runtime error: index out of range [%d] with length %d", i, n)))
}

// Index returns i if it indexes n elements.
func (s *support) Index(i, n int) int {
	if uint(i) >= uint(n) {
		s.BadIndex(i, n)
	}
	return i
}

// High returns the upper bound of lo:hi if both are in range. A limit below 0 is that of a string of length -1-limit.
func (s *support) High(lo, hi, limit int) int {
	what := "capacity"
	if limit < 0 {
		what, limit = "length", -1-limit
	}
	switch {
	case hi < 0:
		panic(runtimeError(fmt.Sprintf("runtime error: slice bounds out of range [:%d]", hi)))
	case hi > limit:
		panic(runtimeError(fmt.Sprintf("runtime error: slice bounds out of range [:%d] with %s %d", hi, what, limit)))
	case lo < 0:
		panic(runtimeError(fmt.Sprintf("runtime error: slice bounds out of range [%d:]", lo)))
	case lo > hi:
		panic(runtimeError(fmt.Sprintf("runtime error: slice bounds out of range [%d:%d]", lo, hi)))
	}
	return hi
}

// Low returns the lower bound of lo: if it is in range.
func (s *support) Low(lo, n int) int {
	if lo < 0 {
		panic(runtimeError(fmt.Sprintf("runtime error: slice bounds out of range [%d:]", lo)))
	}
	if lo > n {
		panic(runtimeError(fmt.Sprintf("runtime error: slice bounds out of range [%d:%d]", lo, n)))
	}
	return lo
}

// ArrayLen checks the conversion of a slice to an array.
func (s *support) ArrayLen(have, want int) {
	if have < want {
		panic(runtimeError(fmt.Sprintf("runtime error: cannot convert slice with length %d to array or pointer to array with length %d", have, want)))
	}
}

// Size checks the size that make is given.
func (s *support) Size(n int) int {
	if n < 0 {
		panic(runtimeError("runtime error: makeslice: len out of range"))
	}
	return n
}

// IteratorDone is called when an iterator calls the loop body after the loop has ended.
func (s *support) IteratorDone() {
	panic(runtimeError("runtime error: range function continued iteration after function for loop body returned false"))
}
