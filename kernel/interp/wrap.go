package interp

import (
	"go/types"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"sync"

	"github.com/traefik/yaegi/interp"
)

// A value of the session enters a compiled interface in a wrapper: a struct with one function field for each method, and
// the value itself in IValue. wrappers knows the wrappers of all interfaces, and makes them.
type wrappers struct {
	list   []wrapper
	ifaces map[string]reflect.Type // by key, as package cell names them

	mu     sync.Mutex
	chosen map[choice]*wrapper
}

type wrapper struct {
	typ     reflect.Type // the struct
	pkg     string       // that declares the interface
	methods []string
}

// choice is a question that chosen remembers the answer to.
type choice struct {
	typ  types.Type
	want reflect.Type // nil: any wrapper of pkg, or of a textual interface
	pkg  string
}

var errorType = reflect.TypeFor[error]()

func (w *wrappers) init(table interp.Exports) {
	w.ifaces = map[string]reflect.Type{"error": errorType}
	w.chosen = map[choice]*wrapper{}
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		path := key[:strings.LastIndexByte(key, '/')]
		for name, v := range table[key] {
			t := v.Type()
			if t.Kind() != reflect.Pointer || !v.IsNil() {
				continue
			}
			switch {
			case strings.HasPrefix(name, "_") && t.Elem().Kind() == reflect.Struct:
				w.add(path, t.Elem())
			case t.Elem().Kind() == reflect.Interface && t.Elem().NumMethod() > 0:
				w.ifaces[ifaceKey(path, name)] = t.Elem()
			}
		}
	}
	for _, t := range errorWrappers {
		w.add("", t)
	}
	w.add("encoding/json", reflect.TypeFor[jsonBoth]())
	w.add("encoding", reflect.TypeFor[textBoth]())
	w.add("io", reflect.TypeFor[readerWriterTo]())
	w.add("io", reflect.TypeFor[writerReaderFrom]())
	sort.SliceStable(w.list, func(i, j int) bool {
		a, b := w.list[i], w.list[j]
		if len(a.methods) != len(b.methods) {
			return len(a.methods) > len(b.methods)
		}
		if a.pkg != b.pkg {
			return a.pkg < b.pkg
		}
		return a.typ.Name() < b.typ.Name()
	})
}

func ifaceKey(path, name string) string {
	return strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(path) + "_" + name
}

func (w *wrappers) add(path string, t reflect.Type) {
	x := wrapper{typ: t, pkg: path}
	for i := range t.NumField() {
		if name, ok := strings.CutPrefix(t.Field(i).Name, "W"); ok {
			x.methods = append(x.methods, name)
		}
	}
	if _, ok := t.FieldByName("IValue"); ok && len(x.methods) > 0 {
		w.list = append(w.list, x)
	}
}

// functions adds, for each compiled interface I, To_I (conversion), As_I (assertion), AsOK_I and Can_I to a table.
func (w *wrappers) functions(s *support, table map[string]reflect.Value) {
	anyType, boolType := reflect.TypeFor[any](), reflect.TypeFor[bool]()
	for key, it := range w.ifaces {
		make1 := func(strict bool) reflect.Value {
			return reflect.MakeFunc(reflect.FuncOf([]reflect.Type{anyType}, []reflect.Type{it}, false), func(a []reflect.Value) []reflect.Value {
				v, ok := s.to(a[0].Interface(), it)
				if !ok && (strict || !a[0].IsNil()) {
					s.badConversion(a[0].Interface(), it)
				}
				return []reflect.Value{v}
			})
		}
		table["To_"+key], table["As_"+key] = make1(false), make1(true)
		table["AsOK_"+key] = reflect.MakeFunc(reflect.FuncOf([]reflect.Type{anyType}, []reflect.Type{it, boolType}, false), func(a []reflect.Value) []reflect.Value {
			v, ok := s.to(a[0].Interface(), it)
			return []reflect.Value{v, reflect.ValueOf(ok)}
		})
		table["Can_"+key] = reflect.ValueOf(func(x any) bool { return s.can(x, it) })
	}
}

func (s *support) badConversion(x any, it reflect.Type) {
	if x == nil {
		panic(runtimeError("interface conversion: interface is nil, not " + it.String()))
	}
	missing := ""
	v := reflect.ValueOf(unwrap(x))
	t, _ := s.types.of(v)
	for i := range it.NumMethod() {
		name := it.Method(i).Name
		if t != nil && lookup(t, name) == nil || t == nil && !v.MethodByName(name).IsValid() {
			missing = name
			break
		}
	}
	panic(runtimeError("interface conversion: " + s.typeName(x) + " is not " + it.String() + ": missing method " + missing))
}

// can says whether a value has the methods of a compiled interface.
func (s *support) can(x any, it reflect.Type) bool {
	_, ok := s.to(x, it)
	return ok
}

// to makes a value one of a compiled interface.
func (s *support) to(x any, it reflect.Type) (reflect.Value, bool) {
	zero := reflect.New(it).Elem()
	if x == nil {
		return zero, false
	}
	x = unwrap(x)
	v := reflect.ValueOf(x)
	t, u := s.types.of(v)
	if t == nil {
		if !v.Type().Implements(it) {
			return zero, false
		}
		zero.Set(v)
		return zero, true
	}
	w := s.choose(choice{typ: t, want: it})
	if w == nil {
		return zero, false
	}
	zero.Set(s.wrap(w, x, t, u))
	return zero, true
}

// wrap fills a wrapper. A method is looked up when it is called, so that a redefined one takes effect.
func (s *support) wrap(w *wrapper, x any, t types.Type, u reflect.Value) reflect.Value {
	p := reflect.New(w.typ)
	p.Elem().FieldByName("IValue").Set(reflect.ValueOf(x))
	for _, name := range w.methods {
		f := p.Elem().FieldByName("W" + name)
		f.Set(reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
			m, ok := s.bind(t, u, name)
			if !ok {
				panic(nilDereference)
			}
			if f.Type().IsVariadic() {
				return m.CallSlice(args)
			}
			return m.Call(args)
		}))
	}
	return p
}

// choose picks the wrapper with most methods that the type has, so that compiled code that asks for more finds it.
func (s *support) choose(c choice) *wrapper {
	w := &s.wraps
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, ok := w.chosen[c]; ok {
		return p
	}
	set := types.NewMethodSet(c.typ)
	var best *wrapper
	for i := range w.list {
		x := &w.list[i]
		if c.want != nil && !reflect.PointerTo(x.typ).Implements(c.want) {
			continue
		}
		if c.want == nil && x.pkg != c.pkg && !textual(x, c.pkg) {
			continue
		}
		if s.hasAll(set, x) {
			best = x
			break
		}
	}
	if set.Len() > 0 { // a later cell may give the type more methods
		w.chosen[c] = best
	}
	return best
}

// textual says whether a wrapper is for an interface that any package but an encoder may ask for.
func textual(x *wrapper, pkg string) bool {
	if treatsStructure(pkg) {
		return strings.HasPrefix(pkg, "encoding") && x.pkg == "encoding"
	}
	return x.pkg == "" || x.pkg == "fmt"
}

func treatsStructure(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	switch first {
	case "encoding", "reflect", "sort", "text", "html", "database":
		return true
	}
	return false
}

func (s *support) hasAll(set *types.MethodSet, x *wrapper) bool {
	for _, name := range x.methods {
		sel := set.Lookup(nil, name)
		if sel == nil {
			return false
		}
		sig := sel.Type().(*types.Signature)
		f, _ := x.typ.FieldByName("W" + name)
		if !sameShape(sig, f.Type) {
			return false
		}
	}
	return true
}

// sameShape compares a signature with a Go function type, by the names of its types.
func sameShape(sig *types.Signature, f reflect.Type) bool {
	if sig.Params().Len() != f.NumIn() || sig.Results().Len() != f.NumOut() || sig.Variadic() != f.IsVariadic() {
		return false
	}
	for i := range f.NumIn() {
		if plainName(goName(sig.Params().At(i).Type())) != plainName(f.In(i).String()) {
			return false
		}
	}
	for i := range f.NumOut() {
		if plainName(goName(sig.Results().At(i).Type())) != plainName(f.Out(i).String()) {
			return false
		}
	}
	return true
}

var aliases = regexp.MustCompile(`\b(uint8|int32|interface \{\}|interface\{\})`)

// plainName spells aliases and white space one way.
func plainName(s string) string {
	s = aliases.ReplaceAllStringFunc(s, func(a string) string {
		switch a {
		case "uint8":
			return "byte"
		case "int32":
			return "rune"
		}
		return "any"
	})
	return strings.ReplaceAll(s, " ", "")
}

// forget drops what was chosen for types that a cell has given methods.
func (w *wrappers) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.chosen)
}

// unwrap returns the session's value that a wrapper holds, or x.
func unwrap(x any) any {
	v := reflect.ValueOf(x)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return x
	}
	if e := v.Elem(); e.Kind() == reflect.Struct && e.NumField() > 1 && e.Type().Field(0).Name == "IValue" {
		if in := e.Field(0); !in.IsNil() && in.CanInterface() {
			return in.Interface()
		}
	}
	return x
}
