package interp

import (
	"fmt"
	"go/types"
	"io"
	"reflect"
	"strings"
	"sync"
)

// shown prints a value as fmt would print it if the session's types were compiled: with their methods, names and fields.
type shown struct {
	s *support
	t types.Type // nil: as the Go type says
	v reflect.Value
}

// shownError is shown for a value that is an error, so that %w takes it.
type shownError struct {
	shown
	err error
}

func (e shownError) Error() string { return e.err.Error() }
func (e shownError) Unwrap() error { return e.err }

// Shown dresses a value for a package that prints it.
func (s *support) Shown(x any) any {
	if x == nil {
		return nil
	}
	v := reflect.ValueOf(x)
	t, u := s.types.of(v)
	if t == nil {
		if y := unwrap(x); !same(x, y) {
			return s.Shown(y)
		}
		if !s.mentions(v.Type()) {
			return x
		}
		if err, ok := x.(error); ok {
			return err
		}
		return shown{s, nil, v}
	}
	p := shown{s, t, u}
	if e, ok := s.to(x, errorType); ok {
		return shownError{p, e.Interface().(error)}
	}
	return p
}

func same(x, y any) bool {
	v, w := reflect.ValueOf(x), reflect.ValueOf(y)
	return v.Type() == w.Type()
}

// ShownAll is Shown for the values of a slice.
func (s *support) ShownAll(list []any) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = s.Shown(x)
	}
	return out
}

var mentionCache sync.Map // reflect.Type -> bool, for types without interfaces and session structs

// mentions says whether values of a Go type may hold values of the session.
func (s *support) mentions(t reflect.Type) bool {
	s.types.mu.RLock()
	_, own := s.types.dynamic[t]
	s.types.mu.RUnlock()
	if own {
		return true
	}
	if t.Name() != "" && t.PkgPath() != "" || t.Kind() < reflect.Array || t.Kind() == reflect.String {
		return false
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return s.mentions(t.Elem())
	case reflect.Map:
		return s.mentions(t.Key()) || s.mentions(t.Elem())
	case reflect.Struct:
		return true // an unnamed struct: its fields may be spelled otherwise
	}
	return false
}

// Format implements fmt.Formatter.
func (p shown) Format(f fmt.State, verb rune) {
	w := &printer{s: p.s, f: f, verb: verb, plus: f.Flag('+') && verb == 'v', sharp: f.Flag('#') && verb == 'v'}
	var text strings.Builder
	w.out = &text
	w.value(p.t, p.v, 0)
	io.WriteString(f, text.String())
}

// byFormat prints by the type's own Format.
func (w *printer) byFormat(t types.Type, v reflect.Value) bool {
	b, ok := w.s.bindIf(t, v, "Format")
	if !ok {
		return false
	}
	call, ok := b.Interface().(func(fmt.State, rune))
	if ok {
		call(state{w.f, w.out}, w.verb)
	}
	return ok
}

// state is the state of a verb whose output is collected.
type state struct {
	fmt.State
	out *strings.Builder
}

func (s state) Write(p []byte) (int, error) { return s.out.Write(p) }

// bindIf is bind for a method that the type may lack.
func (s *support) bindIf(t types.Type, v reflect.Value, name string) (reflect.Value, bool) {
	if t == nil || lookup(t, name) == nil {
		return reflect.Value{}, false
	}
	return s.bind(t, v, name)
}

type printer struct {
	s           *support
	f           fmt.State
	verb        rune
	plus, sharp bool
	out         *strings.Builder
}

// value prints a value whose type is t, or what its Go type says where t is nil.
func (w *printer) value(t types.Type, v reflect.Value, depth int) {
	if !v.IsValid() {
		w.out.WriteString("<nil>")
		return
	}
	if t == nil || types.IsInterface(t) || v.Kind() == reflect.Interface {
		if v.Kind() == reflect.Interface {
			if v.IsNil() {
				w.nilValue(t, v)
				return
			}
			v = reflect.ValueOf(unwrap(v.Elem().Interface()))
		}
		t, v = w.s.types.of(v)
	}
	if w.byFormat(t, v) || w.byMethod(t, v, depth) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		w.structure(t, v, depth)
	case reflect.Slice, reflect.Array:
		w.list(t, v, depth)
	case reflect.Map:
		w.mapping(t, v, depth)
	case reflect.Pointer:
		w.pointer(t, v, depth)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if v.IsNil() {
			w.nilValue(t, v)
			return
		}
		if w.verb == 'v' {
			fmt.Fprintf(w.out, "%#x", v.Pointer())
			return
		}
		fmt.Fprintf(w.out, w.format(), v.Pointer())
	default:
		w.leaf(t, v)
	}
}

func (w *printer) format() string { return fmt.FormatString(w.f, w.verb) }

func (w *printer) nilValue(t types.Type, v reflect.Value) {
	if w.sharp {
		name := "interface {}"
		if t != nil && !types.IsInterface(t) {
			name = goName(t)
		}
		if strings.HasPrefix(name, "*") || strings.HasPrefix(name, "func") {
			name = "(" + name + ")"
		}
		w.out.WriteString(name + "(nil)")
		return
	}
	w.out.WriteString("<nil>")
}

// byMethod prints by Error or String, as fmt does for verbs that print text.
func (w *printer) byMethod(t types.Type, v reflect.Value, depth int) bool {
	if w.sharp {
		return w.text(t, v, "GoString", false)
	}
	switch w.verb {
	case 'v', 's', 'x', 'X', 'q':
	default:
		return false
	}
	if t == nil {
		if v.CanInterface() {
			switch v.Interface().(type) {
			case error, fmt.Stringer:
				fmt.Fprintf(w.out, w.format(), v.Interface())
				return true
			}
		}
		return false
	}
	return w.text(t, v, "Error", true) || w.text(t, v, "String", true)
}

func (w *printer) text(t types.Type, v reflect.Value, name string, formatted bool) bool {
	if t == nil || lookup(t, name) == nil {
		return false
	}
	m, ok := w.s.bind(t, v, name)
	if !ok || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 || m.Type().Out(0).Kind() != reflect.String {
		return false
	}
	s := w.call(m, name, v.Kind() == reflect.Pointer && v.IsNil())
	if formatted {
		s = fmt.Sprintf(w.format(), s)
	}
	w.out.WriteString(s)
	return true
}

// call calls a String or Error method; like fmt it prints a panic in it.
func (w *printer) call(m reflect.Value, name string, isNil bool) (s string) {
	const weight = 10 // calls of the session's functions take as much stack
	if *w.s.depthVar += weight; *w.s.depthVar > deepest {
		w.s.TooDeep()
	}
	defer func() { *w.s.depthVar -= weight }()
	defer func() {
		if p := recover(); p != nil {
			w.s.takeTrace()
			if isNil {
				s = "<nil>"
				return
			}
			s = fmt.Sprintf("%%!%c(PANIC=%s method: %s)", w.verb, name, w.s.panicText(w.s.recovered(p)))
		}
	}()
	return m.Call(nil)[0].String()
}

func elemOf(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if e, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
		return e.Elem()
	}
	return nil
}

func (w *printer) typeName(t types.Type, v reflect.Value) string {
	if t != nil {
		return goName(t)
	}
	return w.s.goTypeName(v.Type())
}

func (w *printer) structure(t types.Type, v reflect.Value, depth int) {
	if t == nil && v.Type().Name() != "" {
		w.leaf(t, v)
		return
	}
	if w.sharp {
		w.out.WriteString(w.typeName(t, v))
	}
	w.out.WriteString("{")
	var st *types.Struct
	n := v.NumField()
	if t != nil {
		st, _ = t.Underlying().(*types.Struct)
		n = st.NumFields()
	}
	for i := range n {
		if i > 0 {
			if w.sharp {
				w.out.WriteString(", ")
			} else {
				w.out.WriteString(" ")
			}
		}
		var ft types.Type
		name := v.Type().Field(i).Name
		if st != nil {
			ft, name = st.Field(i).Type(), st.Field(i).Name()
		}
		if w.plus || w.sharp {
			w.out.WriteString(name + ":")
		}
		w.value(ft, v.Field(i), depth+1)
	}
	w.out.WriteString("}")
}

func (w *printer) list(t types.Type, v reflect.Value, depth int) {
	elem := elemOf(t)
	if v.Type().Elem().Kind() == reflect.Uint8 && (w.verb == 's' || w.verb == 'x' || w.verb == 'X' || w.verb == 'q') {
		w.leaf(t, v)
		return
	}
	w.parts(t, v, "[", v.Len(), func(i int) { w.value(elem, v.Index(i), depth+1) })
}

// parts prints the n parts of a list or map in brackets.
func (w *printer) parts(t types.Type, v reflect.Value, open string, n int, part func(i int)) {
	shut, between := "]", " "
	if w.sharp {
		name := w.typeName(t, v)
		if v.Kind() != reflect.Array && v.IsNil() {
			w.out.WriteString(name + "(nil)")
			return
		}
		open, shut, between = name+"{", "}", ", "
	}
	w.out.WriteString(open)
	for i := range n {
		if i > 0 {
			w.out.WriteString(between)
		}
		part(i)
	}
	w.out.WriteString(shut)
}

func (w *printer) mapping(t types.Type, v reflect.Value, depth int) {
	var kt, et types.Type
	if t != nil {
		if m, ok := t.Underlying().(*types.Map); ok {
			kt, et = m.Key(), m.Elem()
		}
	}
	keys := sortedMapKeys(v)
	w.parts(t, v, "map[", len(keys), func(i int) {
		w.value(kt, keys[i], depth+1)
		w.out.WriteString(":")
		w.value(et, v.MapIndex(keys[i]), depth+1)
	})
}

func (w *printer) pointer(t types.Type, v reflect.Value, depth int) {
	if v.IsNil() {
		w.nilValue(t, v)
		return
	}
	if depth == 0 && w.verb != 'p' {
		switch e := v.Elem(); e.Kind() {
		case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
			w.out.WriteString("&")
			w.value(elemOf(t), e, depth+1)
			return
		}
	}
	if w.sharp {
		fmt.Fprintf(w.out, "(%s)(%#x)", w.typeName(t, v), v.Pointer())
		return
	}
	if w.verb == 'v' {
		fmt.Fprintf(w.out, "%#x", v.Pointer())
		return
	}
	fmt.Fprintf(w.out, w.format(), v.Pointer())
}

// leaf prints a value that has no parts of the session's types.
func (w *printer) leaf(t types.Type, v reflect.Value) {
	x := v
	if !x.CanInterface() {
		fmt.Fprint(w.out, x)
		return
	}
	if w.sharp && t != nil && v.Kind() != reflect.Struct {
		fmt.Fprintf(w.out, "%#v", x.Interface())
		return
	}
	fmt.Fprintf(w.out, w.format(), x.Interface())
}
