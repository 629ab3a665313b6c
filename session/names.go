package session

import (
	"fmt"
	"reflect"
	"sort"
	"weak"

	"gradbook/gpu"
)

// Global is a named variable of the cells.
type Global struct {
	Name  string
	Type  string // as the cell would write it
	Value reflect.Value
	Cell  int // execution count of the cell that declared it
}

// Holder is a value that stands for storages: a tensor, a variable. The walk
// asks it instead of looking at its fields. Part is "" for the value itself,
// else what it is to the value: "Grad".
type Holder interface {
	Storages(visit func(part string, s *gpu.Storage))
}

// The walk is bounded: what is found later or deeper stays without a name. A
// visit costs some 50 ns and follows each cell.
const (
	maxVisits = 200_000
	maxDepth  = 48
)

// namer gives storages the names of the variables that lead to them. Of
// several names a storage has the one of the oldest variable, and there the
// shortest.
type namer struct {
	named []weak.Pointer[gpu.Storage]
}

// apply names what the globals lead to, takes the name from what they do not,
// and returns the former.
func (n *namer) apply(globals []Global) map[*gpu.Storage]string {
	w := &walk{names: map[*gpu.Storage]string{}, seen: map[visit]bool{}}
	globals = append([]Global(nil), globals...)
	sort.SliceStable(globals, func(i, j int) bool { return globals[i].Cell < globals[j].Cell })
	for _, g := range globals {
		if g.Value.IsValid() {
			w.from(g.Name, g.Value)
		}
	}
	for _, p := range n.named {
		if s := p.Value(); s != nil && w.names[s] == "" {
			s.SetName("")
		}
	}
	n.named = n.named[:0]
	for s, name := range w.names {
		s.SetName(name)
		// Only weakly: a name must not keep a storage alive.
		n.named = append(n.named, weak.Make(s))
	}
	return w.names
}

// held is a holder that a walk came to, and the first storage it stands for.
type held struct {
	path    string
	value   Holder
	storage *gpu.Storage
}

// holders finds the tensors and variables that a value leads to, through
// pointers, structs, slices, maps and interfaces, unexported fields too, in
// the order of a breadth-first walk.
func holders(name string, v any) []held {
	w := &walk{names: map[*gpu.Storage]string{}, seen: map[visit]bool{}}
	w.from(name, reflect.ValueOf(v))
	return w.holders
}

type visit struct {
	p uintptr
	n int // length of a slice: shorter ones may start at the same element
	t reflect.Type
}

// walk goes breadth first, so that the first path to a storage is a shortest.
// Values in the queue were got without flagRO: their fields can be opened.
type walk struct {
	names   map[*gpu.Storage]string
	holders []held
	seen    map[visit]bool
	queue   []step
	visits  int
}

type step struct {
	path  string
	v     reflect.Value
	depth int
}

func (w *walk) from(name string, v reflect.Value) {
	w.queue = append(w.queue[:0], step{name, v, 0})
	for i := 0; i < len(w.queue) && w.visits < maxVisits; i++ {
		at := w.queue[i]
		w.queue[i] = step{}
		if at.depth < maxDepth && w.worth(at.v) {
			w.look(at)
		}
	}
}

// worth counts a visit, and tells before a path is spelled out whether v can
// lead anywhere.
func (w *walk) worth(v reflect.Value) bool {
	w.visits++
	if v.Kind() == reflect.Interface {
		return !v.IsNil() && leads(v.Elem().Type())
	}
	return leads(v.Type())
}

var (
	storageType = reflect.TypeFor[*gpu.Storage]()
	holderType  = reflect.TypeFor[Holder]()
	valueType   = reflect.TypeFor[reflect.Value]()
)

func (w *walk) look(at step) {
	path, v, t := at.path, at.v, at.v.Type()
	push := func(path string, v reflect.Value) { w.queue = append(w.queue, step{path, v, at.depth + 1}) }
	if t.Implements(holderType) && t.Kind() != reflect.Interface {
		if t.Kind() != reflect.Pointer || !v.IsNil() {
			w.hold(path, v.Interface().(Holder))
		}
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		if v.IsNil() || w.again(v) {
			return
		}
		if t == storageType {
			w.found(path, v.Interface().(*gpu.Storage))
			return
		}
		push(path, v.Elem())
	case reflect.Interface:
		push(path, v.Elem())
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && w.again(v) {
			return
		}
		for i := 0; i < v.Len() && w.visits < maxVisits; i++ {
			if e := v.Index(i); w.worth(e) {
				push(fmt.Sprintf("%s[%d]", path, i), e)
			}
		}
	case reflect.Map:
		// A map too large to walk is not worth sorting.
		if v.Len() > maxVisits-w.visits || w.again(v) {
			return
		}
		for _, key := range sortedKeys(v) {
			if e := v.MapIndex(key); w.worth(e) {
				push(fmt.Sprintf("%s[%s]", path, keyLabel(key)), e)
			}
		}
	case reflect.Struct:
		fields(path, v, push)
	}
}

func (w *walk) hold(path string, h Holder) {
	h.Storages(func(part string, s *gpu.Storage) {
		if part == "" && s != nil && w.names[s] == "" {
			w.holders = append(w.holders, held{path, h, s})
		}
		w.found(join(path, part), s)
	})
}

func (w *walk) found(path string, s *gpu.Storage) {
	if s != nil && w.names[s] == "" {
		w.names[s] = path
	}
}

// again reports whether the pointer, slice or map was seen before. A slice and
// its first element have one address but not one type.
func (w *walk) again(v reflect.Value) bool {
	at := visit{p: v.Pointer(), t: v.Type()}
	if v.Kind() == reflect.Slice {
		at.n = v.Len()
	}
	if w.seen[at] {
		return true
	}
	w.seen[at] = true
	return false
}

func fields(path string, v reflect.Value, push func(string, reflect.Value)) {
	if !v.CanAddr() {
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		v = copied
	}
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !leads(f.Type) && f.Type != valueType {
			continue
		}
		// The same memory without the mark of an unexported field.
		opened := reflect.NewAt(f.Type, v.Field(i).Addr().UnsafePointer()).Elem()
		if f.Type == valueType {
			if inner := opened.Interface().(reflect.Value); inner.IsValid() && inner.CanInterface() {
				push(path, inner)
			}
			continue
		}
		push(join(path, fieldName(t, f)), opened)
	}
}

func join(path, part string) string {
	if part == "" {
		return path
	}
	return path + "." + part
}

// fieldName is what the cell calls the field; "" for those it does not see:
// embedded ones, and the one in which the interpreter wraps a cell's value
// that compiled code is to take for an interface.
func fieldName(t reflect.Type, f reflect.StructField) string {
	switch {
	case f.Anonymous, f.Name == "IValue":
		return ""
	case t.Name() == "" && len(f.Name) > 1 && f.Name[0] == 'X' && (f.Name[1] == '_' || f.Name[1] >= 'a' && f.Name[1] <= 'z'):
		// The interpreter builds struct types at run time, which can have
		// exported fields only, and puts an X before the others.
		return f.Name[1:]
	}
	return f.Name
}

func keyLabel(key reflect.Value) string {
	if key.Kind() == reflect.String {
		return fmt.Sprintf("%q", key.String())
	}
	return fmt.Sprint(key)
}

func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	sort.Slice(keys, func(i, j int) bool {
		a, b := keys[i], keys[j]
		switch {
		case a.CanInt():
			return a.Int() < b.Int()
		case a.CanUint():
			return a.Uint() < b.Uint()
		case a.CanFloat():
			return a.Float() < b.Float()
		}
		return fmt.Sprint(a) < fmt.Sprint(b)
	})
	return keys
}
