package interp

import (
	"errors"
	"fmt"
	"go/types"
	"io"
	"reflect"
)

// Errors of the session are asked for more than Error: each combination has a wrapper. They format as their type says.

type errorPlain struct {
	IValue any
	WError func() string
}

type errorUnwrap struct {
	IValue  any
	WError  func() string
	WUnwrap func() error
}

type errorJoin struct {
	IValue  any
	WError  func() string
	WUnwrap func() []error
}

type errorIs struct {
	IValue any
	WError func() string
	WIs    func(error) bool
}

type errorIsUnwrap struct {
	IValue  any
	WError  func() string
	WIs     func(error) bool
	WUnwrap func() error
}

type errorTimeout struct {
	IValue     any
	WError     func() string
	WTimeout   func() bool
	WTemporary func() bool
}

func (e *errorPlain) Error() string      { return e.WError() }
func (e *errorUnwrap) Error() string     { return e.WError() }
func (e *errorUnwrap) Unwrap() error     { return e.WUnwrap() }
func (e *errorJoin) Error() string       { return e.WError() }
func (e *errorJoin) Unwrap() []error     { return e.WUnwrap() }
func (e *errorIs) Error() string         { return e.WError() }
func (e *errorIs) Is(t error) bool       { return e.WIs(t) }
func (e *errorIsUnwrap) Error() string   { return e.WError() }
func (e *errorIsUnwrap) Is(t error) bool { return e.WIs(t) }
func (e *errorIsUnwrap) Unwrap() error   { return e.WUnwrap() }
func (e *errorTimeout) Error() string    { return e.WError() }
func (e *errorTimeout) Timeout() bool    { return e.WTimeout() }
func (e *errorTimeout) Temporary() bool  { return e.WTemporary() }

var errorWrappers = []reflect.Type{
	reflect.TypeFor[errorPlain](), reflect.TypeFor[errorUnwrap](), reflect.TypeFor[errorJoin](), reflect.TypeFor[errorIs](),
	reflect.TypeFor[errorIsUnwrap](), reflect.TypeFor[errorTimeout](),
}

// A type that both encodes and decodes itself.

type jsonBoth struct {
	IValue         any
	WMarshalJSON   func() ([]byte, error)
	WUnmarshalJSON func([]byte) error
}

type textBoth struct {
	IValue         any
	WMarshalText   func() ([]byte, error)
	WUnmarshalText func([]byte) error
}

func (e *jsonBoth) MarshalJSON() ([]byte, error) { return e.WMarshalJSON() }
func (e *jsonBoth) UnmarshalJSON(b []byte) error { return e.WUnmarshalJSON(b) }
func (e *textBoth) MarshalText() ([]byte, error) { return e.WMarshalText() }
func (e *textBoth) UnmarshalText(b []byte) error { return e.WUnmarshalText(b) }

// A reader or writer that io.Copy treats as more than that.

type readerWriterTo struct {
	IValue   any
	WRead    func([]byte) (int, error)
	WWriteTo func(io.Writer) (int64, error)
}

type writerReaderFrom struct {
	IValue    any
	WWrite    func([]byte) (int, error)
	WReadFrom func(io.Reader) (int64, error)
}

func (r *readerWriterTo) Read(p []byte) (int, error)            { return r.WRead(p) }
func (r *readerWriterTo) WriteTo(w io.Writer) (int64, error)    { return r.WWriteTo(w) }
func (w *writerReaderFrom) Write(p []byte) (int, error)         { return w.WWrite(p) }
func (w *writerReaderFrom) ReadFrom(r io.Reader) (int64, error) { return w.WReadFrom(r) }

// ErrorsIs is errors.Is where either side may be a wrapper: two wrappers of one value are equal.
func (s *support) ErrorsIs(err, target error) bool {
	if err == nil || target == nil {
		return err == nil && target == nil
	}
	to := unwrap(target)
	comparable := reflect.TypeOf(to).Comparable()
	return walkErrors(err, func(e error) bool {
		if have := unwrap(e); comparable && reflect.TypeOf(have) == reflect.TypeOf(to) && have == to {
			return true
		}
		x, ok := e.(interface{ Is(error) bool })
		return ok && x.Is(target)
	})
}

// walkErrors visits an error and those it wraps, depth first, until f says yes.
func walkErrors(err error, f func(error) bool) bool {
	if err == nil {
		return false
	}
	if f(err) {
		return true
	}
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		return walkErrors(x.Unwrap(), f)
	case interface{ Unwrap() []error }:
		for _, e := range x.Unwrap() {
			if walkErrors(e, f) {
				return true
			}
		}
	}
	return false
}

// ErrorsAs is errors.As where the target may point to a type of the session.
func (s *support) ErrorsAs(err error, target any) bool {
	p := reflect.ValueOf(target)
	var want types.Type // what the target points to, if a box says so
	if t, v := s.types.of(p); t != nil {
		p = v
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			want = ptr.Elem()
		}
	}
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return errors.As(err, target)
	}
	to := p.Elem()
	return walkErrors(err, func(e error) bool {
		if x, ok := s.takeAs(e, to, want); ok {
			to.Set(x)
			return true
		}
		as, ok := e.(interface{ As(any) bool })
		return ok && as.As(target)
	})
}

// takeAs finds the form of an error that can be assigned to a variable. want is the variable's type where the Go type does not
// tell it.
func (s *support) takeAs(e error, to reflect.Value, want types.Type) (x reflect.Value, ok bool) {
	v := reflect.ValueOf(unwrap(e))
	t, bare := s.types.of(v)
	switch {
	case want != nil && types.IsInterface(want):
		return v, t != nil && types.Implements(t, want.Underlying().(*types.Interface))
	case want != nil:
		return bare, t != nil && types.Identical(t, want)
	case to.Kind() == reflect.Interface && to.NumMethod() > 0:
		return s.to(e, to.Type())
	}
	return v, v.Type() == to.Type()
}

// Errorf is fmt.Errorf. What %w wraps is an error again.
func (s *support) Errorf(format string, args ...any) error {
	return fmt.Errorf(s.typeVerbs(format, args), args...)
}
