package interp

import (
	"reflect"

	"gradbook/viz/display"
)

// Out readies a value of the session for a compiled function that takes an empty interface: in a wrapper, if the type
// implements an interface that the package may ask for, else bare. What is not the session's passes as it is.
func (s *support) Out(x any, pkg string) any {
	if x == nil {
		return nil
	}
	v := reflect.ValueOf(x)
	t, u := s.types.of(v)
	if t == nil {
		if y := unwrap(x); !same(x, y) && treatsStructure(pkg) {
			return s.Out(y, pkg)
		}
		return x
	}
	if pkg == "gradbook/viz/display" {
		if b, ok := s.rich(t, u); ok {
			return b
		}
		return display.Text(s.plain(t, u))
	}
	if w := s.choose(choice{typ: t, pkg: pkg}); w != nil {
		return s.wrap(w, x, t, u).Interface()
	}
	if !u.CanInterface() {
		return x
	}
	return u.Interface()
}

// OutAll is Out for the values of a slice.
func (s *support) OutAll(list []any, pkg string) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = s.Out(x, pkg)
	}
	return out
}

// DeepEqual is reflect.DeepEqual: values of different session types are not equal, however alike they look.
func (s *support) DeepEqual(a, b any) bool {
	return reflect.DeepEqual(unwrap(a), unwrap(b))
}
