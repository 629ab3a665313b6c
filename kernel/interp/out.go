package interp

import (
	"go/types"
	"reflect"
	"strings"

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
		if !treatsStructure(pkg) {
			return x
		}
		if y := unwrap(x); !same(x, y) {
			return s.Out(y, pkg)
		}
		if strings.HasPrefix(pkg, "encoding/") && v.Kind() != reflect.Pointer && s.mentions(v.Type()) {
			return s.mirrored(nil, v, pkg).Interface()
		}
		return s.seen(nil, v).Interface()
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
	if strings.HasPrefix(pkg, "encoding/") && u.Kind() != reflect.Pointer && s.encodes(t, map[types.Type]bool{}) {
		return s.mirrored(t, u, pkg).Interface()
	}
	if treatsStructure(pkg) {
		u = s.seen(t, u)
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

// view returns the Go type that reads the memory of a lowered struct as its author wrote it: embedded fields are embedded, names
// and tags are the source's. Encoders look at that. ok is false for a type that contains itself, which reflect cannot make.
func (s *support) view(t types.Type, rt reflect.Type, open map[types.Type]bool) (vt reflect.Type, ok bool) {
	if t == nil {
		if k, own := s.known(rt); own && !k.box {
			t = k.typ
		}
	}
	switch rt.Kind() {
	case reflect.Struct:
		if t == nil || rt.Name() != "" {
			return rt, true
		}
		st, is := t.Underlying().(*types.Struct)
		if !is || open[t] {
			return rt, is && !open[t]
		}
		open[t] = true
		defer delete(open, t)
		var fields []reflect.StructField
		for i := range st.NumFields() {
			f := st.Field(i)
			ft, ok := s.view(f.Type(), rt.Field(i).Type, open)
			if !ok {
				return rt, false
			}
			sf := reflect.StructField{Name: f.Name(), Type: ft, Tag: reflect.StructTag(st.Tag(i))}
			if !f.Exported() {
				sf.PkgPath = "main"
			}
			sf.Anonymous = f.Embedded() && embeds(ft)
			fields = append(fields, sf)
		}
		return reflect.StructOf(fields), true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		if rt.Name() != "" {
			return rt, true
		}
		et, ok := s.view(elemOf(t), rt.Elem(), open)
		if !ok || et == rt.Elem() {
			return rt, ok
		}
		switch rt.Kind() {
		case reflect.Pointer:
			return reflect.PointerTo(et), true
		case reflect.Slice:
			return reflect.SliceOf(et), true
		case reflect.Array:
			return reflect.ArrayOf(rt.Len(), et), true
		}
		return reflect.MapOf(rt.Key(), et), true
	}
	return rt, true
}

// embeds says whether reflect can make a struct that embeds a type.
func embeds(t reflect.Type) bool {
	if t.NumMethod() > 0 {
		return false
	}
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && t.Elem().NumMethod() == 0
}

// seen returns a value as its view; a pointer leads to the same memory.
func (s *support) seen(t types.Type, v reflect.Value) reflect.Value {
	vt, ok := s.view(t, v.Type(), map[types.Type]bool{})
	if !ok || vt == v.Type() {
		return v
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return reflect.NewAt(vt, p.UnsafePointer()).Elem()
}

func (s *support) known(rt reflect.Type) (known, bool) {
	s.types.mu.RLock()
	defer s.types.mu.RUnlock()
	k, ok := s.types.dynamic[rt]
	return k, ok
}
