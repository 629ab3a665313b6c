package session

import (
	"reflect"
	"runtime"
	"sync/atomic"
	"testing"

	"gradbook/gpu"
)

// bare is a backend for storages that nothing is launched on.
type bare struct{ gpu.Backend }

func (bare) Info() gpu.Info          { return gpu.Info{Backend: "bare"} }
func (bare) Stats() gpu.BackendStats { return gpu.BackendStats{} }

func newStorage(d *gpu.Device) *gpu.Storage { return d.NewStorage(4, "test", gpu.Temporary) }

type leaf struct{ value, grad *gpu.Storage }

func (l *leaf) Storages(visit func(string, *gpu.Storage)) {
	visit("", l.value)
	visit("grad", l.grad)
}

type layer interface{ Forward() }

type linear struct {
	W, b *leaf
	next *linear
}

func (*linear) Forward() {}

type base struct{ Scale *gpu.Storage }

type model struct {
	base
	layers []layer
	named  map[string]any
	counts map[int]*gpu.Storage
	last   [2]*gpu.Storage
}

func names(t *testing.T, globals ...Global) map[*gpu.Storage]string {
	t.Helper()
	var n namer
	n.apply(globals)
	found := map[*gpu.Storage]string{}
	for _, p := range n.named {
		found[p.Value()] = p.Value().Owner().Name
	}
	return found
}

func global(name string, cell int, v any) Global {
	return Global{Name: name, Cell: cell, Value: reflect.ValueOf(v)}
}

func TestNamesFollowPaths(t *testing.T) {
	d := gpu.New(bare{})
	s := make([]*gpu.Storage, 8)
	for i := range s {
		s[i] = newStorage(d)
	}
	first := &linear{W: &leaf{s[0], s[1]}, b: &leaf{value: s[2]}}
	first.next = first // a cycle
	m := &model{
		base:   base{s[3]},
		layers: []layer{nil, first},
		named:  map[string]any{"head": leafValue{s[4]}},
		counts: map[int]*gpu.Storage{7: s[5]},
		last:   [2]*gpu.Storage{nil, s[6]},
	}
	got := names(t, global("model", 1, m), global("x", 2, s[7]), global("n", 2, 3), global("none", 2, (*model)(nil)))
	want := map[*gpu.Storage]string{
		s[0]: "model.layers[1].W", s[1]: "model.layers[1].W.grad", s[2]: "model.layers[1].b",
		s[3]: "model.Scale", s[4]: `model.named["head"].inner`, s[5]: "model.counts[7]", s[6]: "model.last[1]", s[7]: "x",
	}
	if !reflect.DeepEqual(got, want) {
		for k, name := range want {
			if got[k] != name {
				t.Errorf("storage %d is %q, want %q", k.ID(), got[k], name)
			}
		}
		t.Errorf("%d names, want %d", len(got), len(want))
	}
}

type leafValue struct{ inner *gpu.Storage }

// The older variable names a storage that two lead to; in one cell, the first.
func TestOldestVariableNames(t *testing.T) {
	d := gpu.New(bare{})
	a, b := newStorage(d), newStorage(d)
	got := names(t, global("opt", 3, []*gpu.Storage{a, b}), global("w", 2, a), global("alias", 3, b))
	if got[a] != "w" || got[b] != "opt[1]" {
		t.Errorf("names %q and %q, want w and opt[1]", got[a], got[b])
	}
}

func TestNamesAreTakenAway(t *testing.T) {
	d := gpu.New(bare{})
	a, b := newStorage(d), newStorage(d)
	b.SetName("given by its maker")
	var n namer
	n.apply([]Global{global("x", 1, a)})
	n.apply([]Global{global("y", 2, 1)})
	if got := a.Owner().Name; got != "" {
		t.Errorf("a storage that no variable leads to is still %q", got)
	}
	if got := b.Owner().Name; got != "given by its maker" {
		t.Errorf("a name that the session did not give is now %q", got)
	}
}

func TestNamesKeepNothingAlive(t *testing.T) {
	d := gpu.New(bare{})
	var n namer
	func() { n.apply([]Global{global("x", 1, newStorage(d))}) }()
	for range 100 {
		runtime.GC()
		if len(d.Snapshot().Rows) == 0 {
			return
		}
	}
	t.Error("a named storage stays alive although nothing else leads to it")
}

// What the interpreter makes of a cell's struct {w, Bias; x} and of values in
// its interfaces.
func TestInterpretedStructs(t *testing.T) {
	d := gpu.New(bare{})
	a, b := newStorage(d), newStorage(d)
	st := reflect.StructOf([]reflect.StructField{
		{Name: "Xw", Type: reflect.TypeFor[*gpu.Storage]()},
		{Name: "X", Type: reflect.TypeFor[*gpu.Storage]()},
	})
	v := reflect.New(st).Elem()
	v.Field(0).Set(reflect.ValueOf(a))
	v.Field(1).Set(reflect.ValueOf(b))
	got := names(t, Global{Name: "m", Value: v})
	if got[a] != "m.w" || got[b] != "m.X" {
		t.Errorf("names %q and %q, want m.w and m.X", got[a], got[b])
	}
	got = names(t, global("m", 1, []any{wrapper{IValue: v.Interface()}}))
	if got[a] != "m[0].w" {
		t.Errorf("behind a wrapper: %q, want m[0].w", got[a])
	}
	got = names(t, global("m", 1, []any{holdsValue{v}}))
	if got[a] != "m[0].w" {
		t.Errorf("behind a reflect.Value: %q, want m[0].w", got[a])
	}
}

type wrapper struct{ IValue any }

type holdsValue struct{ value reflect.Value }

// A walk of everything would take seconds here.
func TestWalkSkipsWhatCannotHold(t *testing.T) {
	for _, v := range []any{[]float64{}, map[string][]string{}, &struct{ a, b []int }{}, &runtime.MemStats{}, &atomic.Value{}} {
		if leads(reflect.TypeOf(v)) {
			t.Errorf("%T leads to no storage", v)
		}
	}
	for _, v := range []any{[]any{}, map[string]*leaf{}, &model{}, &linear{}} {
		if !leads(reflect.TypeOf(v)) {
			t.Errorf("%T can lead to a storage", v)
		}
	}
}

func TestWalkIsBounded(t *testing.T) {
	type node struct {
		next any
		s    *gpu.Storage
	}
	d := gpu.New(bare{})
	list := &node{s: newStorage(d)}
	for range 3 * maxVisits {
		list = &node{next: list}
	}
	many := make([]any, 3*maxVisits)
	for i := range many {
		many[i] = list
	}
	for _, v := range []any{list, many} {
		w := &walk{names: map[*gpu.Storage]string{}, seen: map[visit]bool{}}
		w.from("v", reflect.ValueOf(v))
		if w.visits > maxVisits || len(w.names) > 0 {
			t.Errorf("%d visits, at most %d allowed; %d found", w.visits, maxVisits, len(w.names))
		}
	}
}
