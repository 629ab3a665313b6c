package cell

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// image is what the interpreter holds: which lowered name each object has, which types and helper functions were emitted.
type image struct {
	journal []func() // how to take back what the cell that is being lowered has set

	names   tracked[types.Object, string]
	alias   tracked[string, string]                      // import path, or key of a dispatcher or local type -> name in lowered code
	emitted tracked[string, bool]                        // helper functions, types and instances, by lowered name
	typeIDs tracked[string, int]                         // by spelling
	deps    tracked[types.Object, map[types.Object]bool] // which session objects a function's lowered body names

	version map[string]int
	sites   []Site
	types   []types.Type
	sources map[int]string
	files   map[int]int // base of a parsed file -> cell
}

func newImage() *image {
	m := &image{version: map[string]int{}, sites: make([]Site, 1), types: make([]types.Type, 1), sources: map[int]string{}, files: map[int]int{}}
	m.names = newTracked[types.Object, string](&m.journal)
	m.alias = newTracked[string, string](&m.journal)
	m.emitted = newTracked[string, bool](&m.journal)
	m.typeIDs = newTracked[string, int](&m.journal)
	m.deps = newTracked[types.Object, map[types.Object]bool](&m.journal)
	return m
}

// rollback takes back all that was set since begin.
func (m *image) rollback() {
	for _, undo := range slices.Backward(m.journal) {
		undo()
	}
	m.begin()
}

// begin starts a cell: what was set before stays.
func (m *image) begin() { m.journal = m.journal[:0] }

// tracked is a map whose changes can be taken back.
type tracked[K comparable, V any] struct {
	m       map[K]V
	journal *[]func()
}

func newTracked[K comparable, V any](journal *[]func()) tracked[K, V] {
	return tracked[K, V]{map[K]V{}, journal}
}

func (t tracked[K, V]) at(k K) V               { return t.m[k] }
func (t tracked[K, V]) get(k K) (v V, ok bool) { v, ok = t.m[k]; return v, ok }

func (t tracked[K, V]) set(k K, v V) {
	old, had := t.m[k]
	*t.journal = append(*t.journal, func() {
		if had {
			t.m[k] = old
		} else {
			delete(t.m, k)
		}
	})
	t.m[k] = v
}

// fresh returns a lowered name that was never used: the interpreter ignores a second declaration of a name.
func (m *image) fresh(name string) string {
	name = "g_" + strings.ReplaceAll(name, "·", "_")
	m.version[name]++
	if v := m.version[name]; v > 1 {
		return fmt.Sprintf("%s_%d", name, v)
	}
	return name
}

// typeID numbers a type. Types with one spelling are one.
func (m *image) typeID(spelling string, t types.Type) int {
	id, ok := m.typeIDs.get(spelling)
	if !ok {
		id = len(m.types)
		m.types = append(m.types, t)
		m.typeIDs.set(spelling, id)
	}
	return id
}

func (m *image) site(s Site) int {
	if i := len(m.sites) - 1; i > 0 && m.sites[i] == s {
		return i
	}
	m.sites = append(m.sites, s)
	return len(m.sites) - 1
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
