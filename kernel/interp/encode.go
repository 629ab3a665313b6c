package interp

import (
	"go/types"
	"reflect"
	"strings"
)

// encodes says whether values of a type hold, below the top, values of the session whose types encode themselves.
func (s *support) encodes(t types.Type, seen map[types.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() != "main" {
		return false
	}
	if s.encodesItself(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if s.encodes(f.Type(), seen) {
				return true
			}
		}
	case *types.Map:
		return s.encodes(u.Key(), seen) || s.encodes(u.Elem(), seen)
	case *types.Interface:
		return true
	case interface{ Elem() types.Type }:
		return s.encodes(u.Elem(), seen)
	}
	return false
}

func (s *support) encodesItself(t types.Type) bool {
	if n := receiverOf(t); n != nil {
		if named, ok := types.Unalias(n).(*types.Named); !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != "main" {
			return false
		}
	}
	for _, m := range []string{"MarshalJSON", "MarshalText", "MarshalXML", "MarshalBinary", "GobEncode"} {
		if lookup(t, m) != nil {
			return true
		}
	}
	return false
}

// mirrored returns a copy of a value in which what encodes itself is in a wrapper that the encoder finds.
func (s *support) mirrored(t types.Type, v reflect.Value, pkg string) reflect.Value {
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			return v
		}
		v = reflect.ValueOf(unwrap(v.Elem().Interface()))
		t = nil
	}
	x := v
	if t == nil {
		t, v = s.types.of(v)
	}
	if t == nil {
		return s.mirrorParts(nil, v, pkg)
	}
	if s.encodesItself(t) && !(v.Kind() == reflect.Pointer && v.IsNil()) {
		if w := s.choose(choice{typ: t, pkg: pkg}); w != nil {
			return s.wrap(w, x.Interface(), t, v)
		}
	}
	if !s.encodes(t, map[types.Type]bool{}) {
		return s.seen(t, v)
	}
	return s.mirrorParts(t, v, pkg)
}

func (s *support) mirrorParts(t types.Type, v reflect.Value, pkg string) reflect.Value {
	anyType := reflect.TypeFor[any]()
	set := func(to, from reflect.Value) {
		if from.IsValid() {
			to.Set(from)
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		st, ok := underlying(t).(*types.Struct)
		if !ok {
			return v
		}
		var fields []reflect.StructField
		var vals []reflect.Value
		for i := range st.NumFields() {
			f := st.Field(i)
			if !f.Exported() && !f.Embedded() {
				continue
			}
			m := s.mirrored(f.Type(), v.Field(i), pkg)
			fields = append(fields, reflect.StructField{Name: strings.ToUpper(f.Name()[:1]) + f.Name()[1:], Type: m.Type(), Tag: reflect.StructTag(st.Tag(i)),
				Anonymous: f.Embedded() && embeds(m.Type())})
			vals = append(vals, m)
		}
		p := reflect.New(reflect.StructOf(fields)).Elem()
		for i, m := range vals {
			p.Field(i).Set(m)
		}
		return p
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return v
		}
		out := reflect.MakeSlice(reflect.SliceOf(anyType), v.Len(), v.Len())
		for i := range v.Len() {
			set(out.Index(i), s.mirrored(elemOf(t), v.Index(i), pkg))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMap(reflect.MapOf(v.Type().Key(), anyType))
		for it := v.MapRange(); it.Next(); {
			e := reflect.New(anyType).Elem()
			set(e, s.mirrored(elemOf(t), it.Value(), pkg))
			out.SetMapIndex(it.Key(), e)
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		e := s.mirrored(elemOf(t), v.Elem(), pkg)
		p := reflect.New(e.Type())
		p.Elem().Set(e)
		return p
	}
	return v
}
