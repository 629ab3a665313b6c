package session

import (
	"reflect"
	"strings"
	"sync"
)

// reachable caches leads. Types are never freed, so neither are the answers.
var reachable sync.Map // reflect.Type -> bool

// leads reports whether a value of type t can lead to a storage, so that the
// walk need not look at a million strings. An interface can hold anything.
func leads(t reflect.Type) bool {
	if known, ok := reachable.Load(t); ok {
		return known.(bool)
	}
	answer := search(t, map[reflect.Type]bool{})
	reachable.Store(t, answer)
	return answer
}

// search is leads without the cache: a type that is being searched answers no,
// which holds for the search that started there but must not be kept.
func search(t reflect.Type, within map[reflect.Type]bool) bool {
	if within[t] {
		return false
	}
	within[t] = true
	if t == storageType || t.Implements(holderType) {
		return true
	}
	switch t.Kind() {
	case reflect.Interface:
		return !foreign(t)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return search(t.Elem(), within)
	case reflect.Map:
		return search(t.Elem(), within)
	case reflect.Struct:
		if foreign(t) {
			return false
		}
		for i := range t.NumField() {
			f := t.Field(i)
			if search(f.Type, within) || f.Type == valueType {
				return true
			}
		}
	}
	return false
}

// foreign reports types that the walk keeps out of: the standard library's,
// but for containers, and the interpreter's own, but for its wrapper of
// interface values.
func foreign(t reflect.Type) bool {
	path := t.PkgPath()
	first, _, _ := strings.Cut(path, "/")
	switch {
	case path == "", first == "gradbook", first == "main", first == "container":
		return false
	case strings.HasPrefix(path, "github.com/traefik/yaegi/"):
		return t.Name() != "valueInterface"
	}
	return !strings.Contains(first, ".")
}
