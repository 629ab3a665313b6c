package interp

import (
	"fmt"
	"go/types"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/types/typeutil"
)

// registry knows the session's types by the Go types that stand for them in the interpreter.
type registry struct {
	mu      sync.RWMutex
	dynamic map[reflect.Type]known
	methods typeutil.Map // of types.Type: map[string]reflect.Value, functions with the receiver first
}

// known is a session type that a Go type stands for. A box holds the value in its one field.
type known struct {
	typ types.Type
	box bool
}

// Define says which Go type a struct of the session is. p is a nil pointer to it.
func (s *support) Define(id int, p any) { s.know(id, p, false) }

// Box says which Go type holds values of a type in an empty interface.
func (s *support) Box(id int, p any) { s.know(id, p, true) }

func (s *support) know(id int, p any, box bool) {
	r := &s.types
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dynamic == nil {
		r.dynamic = map[reflect.Type]known{}
	}
	r.dynamic[reflect.TypeOf(p).Elem()] = known{s.session.Type(id), box}
}

// Method gives a type's method its function; a later one takes the place of an earlier.
func (s *support) Method(id int, name string, f any) {
	r := &s.types
	r.mu.Lock()
	defer r.mu.Unlock()
	t := s.session.Type(id)
	m, _ := r.methods.At(t).(map[string]reflect.Value)
	if m == nil {
		m = map[string]reflect.Value{}
		r.methods.Set(t, m)
	}
	m[name] = reflect.ValueOf(f)
}

// of returns the session type of a value in an empty interface, and the value without its box. The type is nil if
// the value is not of the session's types.
func (r *registry) of(v reflect.Value) (types.Type, reflect.Value) {
	if !v.IsValid() {
		return nil, v
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	t := v.Type()
	if k, ok := r.dynamic[t]; ok {
		if k.box {
			return k.typ, v.Field(0)
		}
		return k.typ, v
	}
	if t.Kind() == reflect.Pointer {
		if k, ok := r.dynamic[t.Elem()]; ok && !k.box {
			return types.NewPointer(k.typ), v
		}
	}
	return nil, v
}

func (r *registry) method(t types.Type, name string) (reflect.Value, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	m, _ := r.methods.At(t).(map[string]reflect.Value)
	f, ok := m[name]
	return f, ok
}

// cellsPackage stands for the package of any cell: names that are not exported are compared by its path.
var cellsPackage = types.NewPackage("main", "main")

// lookup finds a method in the method set of a session type.
func lookup(t types.Type, name string) *types.Selection {
	pkg := cellsPackage
	u := t
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		u = p.Elem()
	}
	if n, ok := types.Unalias(u).(*types.Named); ok {
		pkg = n.Obj().Pkg()
	}
	return types.NewMethodSet(t).Lookup(pkg, name)
}

// bind returns a method of a session value as a function. t is the value's type, v the value without its box.
func (s *support) bind(t types.Type, v reflect.Value, name string) (reflect.Value, bool) {
	sel := lookup(t, name)
	if sel == nil {
		return reflect.Value{}, false
	}
	index := sel.Index()
	for _, i := range index[:len(index)-1] { // to the embedded field that has the method
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
			if v.IsNil() {
				panic(nilDereference)
			}
			v = v.Elem()
		}
		st := t.Underlying().(*types.Struct)
		if i >= v.NumField() {
			return reflect.Value{}, false
		}
		t, v = st.Field(i).Type(), v.Field(i)
	}
	if types.IsInterface(t) {
		return s.bindDynamic(v, name)
	}
	if f, ok := s.types.method(receiverOf(t), name); ok {
		return bound(f, v), true
	}
	m := v.MethodByName(name)
	if !m.IsValid() && v.CanAddr() {
		m = v.Addr().MethodByName(name)
	}
	return m, m.IsValid()
}

// bindDynamic is bind for whatever an interface holds.
func (s *support) bindDynamic(v reflect.Value, name string) (reflect.Value, bool) {
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			panic(nilDereference)
		}
		v = reflect.ValueOf(unwrap(v.Interface()))
	}
	if t, u := s.types.of(v); t != nil {
		return s.bind(t, u, name)
	}
	m := v.MethodByName(name)
	return m, m.IsValid()
}

func receiverOf(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// bound fixes the first argument of a function.
func bound(f, recv reflect.Value) reflect.Value {
	ft := f.Type()
	switch want := ft.In(0); {
	case recv.Type() == want:
	case want.Kind() == reflect.Pointer && recv.Type() == want.Elem():
		if recv.CanAddr() {
			recv = recv.Addr()
		} else {
			p := reflect.New(recv.Type())
			p.Elem().Set(recv)
			recv = p
		}
	case recv.Kind() == reflect.Pointer && recv.Type().Elem() == want:
		if recv.IsNil() {
			panic(nilDereference)
		}
		recv = recv.Elem()
	}
	var in, out []reflect.Type
	for i := 1; i < ft.NumIn(); i++ {
		in = append(in, ft.In(i))
	}
	for i := range ft.NumOut() {
		out = append(out, ft.Out(i))
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, ft.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		all := append([]reflect.Value{recv}, args...)
		if ft.IsVariadic() {
			return f.CallSlice(all)
		}
		return f.Call(all)
	})
}

// Dyn returns a method of any value as a function, for types that a dispatcher does not know.
func (s *support) Dyn(x any, name string) any {
	if x == nil {
		panic(nilDereference)
	}
	f, ok := s.bindDynamic(reflect.ValueOf(unwrap(x)), name)
	if !ok {
		panic(runtimeError(fmt.Sprintf("runtime error: %s has no method %s", s.typeName(x), name)))
	}
	return f.Interface()
}

// implements says whether a value in an empty interface has the methods of an interface that cells declare.
func (s *support) implements(x any, id int) (ok bool, missing string) {
	it, _ := s.session.Type(id).Underlying().(*types.Interface)
	if x == nil || it == nil {
		return x != nil && it == nil, ""
	}
	v := reflect.ValueOf(unwrap(x))
	if t, _ := s.types.of(v); t != nil {
		m, _ := types.MissingMethod(t, it, true)
		if m == nil {
			return true, ""
		}
		return false, m.Name()
	}
	for m := range it.Methods() {
		f := v.MethodByName(m.Name())
		if !f.IsValid() || f.Type().NumIn() != m.Signature().Params().Len() || f.Type().NumOut() != m.Signature().Results().Len() {
			return false, m.Name()
		}
	}
	return true, ""
}

// Is says whether a value implements an interface of the session.
func (s *support) Is(x any, id int) bool { ok, _ := s.implements(x, id); return ok }

// AssertOK is x.(I) with two results, for an interface of the session.
func (s *support) AssertOK(x any, id int) (any, bool) {
	if ok, _ := s.implements(x, id); ok {
		return unwrap(x), true
	}
	return nil, false
}

// Assert is x.(I) with one result.
func (s *support) Assert(x any, id int) any {
	ok, missing := s.implements(x, id)
	if ok {
		return unwrap(x)
	}
	if x == nil {
		panic(runtimeError("interface conversion: interface is nil, not " + goName(s.session.Type(id))))
	}
	panic(runtimeError(fmt.Sprintf("interface conversion: %s is not %s: missing method %s", s.typeName(x), goName(s.session.Type(id)), missing)))
}

// BadAssert panics as a failed x.(T) does.
func (s *support) BadAssert(x any, to, from int) {
	what := goName(s.session.Type(from))
	if it, ok := s.session.Type(from).Underlying().(*types.Interface); ok && it.NumMethods() == 0 {
		what = "interface {}"
	}
	have := s.typeName(x)
	if x == nil {
		have = "nil"
	}
	panic(runtimeError(fmt.Sprintf("interface conversion: %s is %s, not %s", what, have, goName(s.session.Type(to)))))
}

// goName spells a type as the Go runtime does.
func goName(t types.Type) string {
	s := types.TypeString(t, func(p *types.Package) string { return p.Name() })
	if !strings.Contains(s, ", ") || !strings.Contains(s, "[") {
		return s
	}
	var b strings.Builder // type arguments have no space after the comma
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if s[i] != ' ' || depth == 0 || s[i-1] != ',' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// typeName spells the type of a value in an empty interface as the Go runtime would.
func (s *support) typeName(x any) string {
	if x == nil {
		return "<nil>"
	}
	x = unwrap(x)
	return s.reflectName(reflect.ValueOf(x))
}

func (s *support) reflectName(v reflect.Value) string {
	if t, _ := s.types.of(v); t != nil {
		return goName(t)
	}
	return s.goTypeName(v.Type())
}

// goTypeName spells a Go type, with the session's names for what stands for them.
func (s *support) goTypeName(t reflect.Type) string {
	s.types.mu.RLock()
	k, ok := s.types.dynamic[t]
	s.types.mu.RUnlock()
	if ok {
		return goName(k.typ)
	}
	if t.Name() != "" {
		return t.String()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + s.goTypeName(t.Elem())
	case reflect.Slice:
		return "[]" + s.goTypeName(t.Elem())
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + s.goTypeName(t.Elem())
	case reflect.Map:
		return "map[" + s.goTypeName(t.Key()) + "]" + s.goTypeName(t.Elem())
	}
	return t.String()
}

// Equal is == where a side is an interface.
func (s *support) Equal(a, b any) bool {
	a, b = unwrap(a), unwrap(b)
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(runtime.Error); ok && a != nil {
				panic(runtimeError("runtime error: comparing uncomparable type " + s.typeName(a)))
			}
			panic(p)
		}
	}()
	return a == b
}

func mapClone(m any) any {
	v := reflect.ValueOf(m)
	if v.Kind() == reflect.Struct { // in a box
		b := reflect.New(v.Type()).Elem()
		b.Field(0).Set(reflect.ValueOf(mapClone(v.Field(0).Interface())))
		return b.Interface()
	}
	if v.IsNil() {
		return m
	}
	c := reflect.MakeMapWithSize(v.Type(), v.Len())
	for it := v.MapRange(); it.Next(); {
		c.SetMapIndex(it.Key(), it.Value())
	}
	return c.Interface()
}
