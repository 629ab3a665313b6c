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
	names   map[types.Object]string
	version map[string]int
	alias   map[string]string                      // import path -> name in lowered code
	emitted map[string]bool                        // helper functions, types and instances, by lowered name
	deps    map[types.Object]map[types.Object]bool // which session objects a function's lowered body names
	locals  map[string]map[*types.TypeName]string  // types declared in functions, by instance
	sites   []Site
	types   []types.Type
	typeIDs map[string]int // by spelling in lowered terms
	sources map[int]string
	files   map[int]int // base of a parsed file -> cell
}

func newImage() *image {
	return &image{
		names: map[types.Object]string{}, version: map[string]int{}, alias: map[string]string{}, emitted: map[string]bool{},
		deps: map[types.Object]map[types.Object]bool{}, sites: make([]Site, 1), types: make([]types.Type, 1),
		typeIDs: map[string]int{}, sources: map[int]string{}, files: map[int]int{},
	}
}

// mark is a point to which a failed cell is rolled back.
type mark struct {
	names   map[types.Object]string
	alias   map[string]string
	emitted map[string]bool
	typeIDs map[string]int
	deps    map[types.Object]map[types.Object]bool
	decls   map[types.Object]decl // of methods that the cell redefines
}

func (m *image) mark() mark {
	return mark{maps.Clone(m.names), maps.Clone(m.alias), maps.Clone(m.emitted), maps.Clone(m.typeIDs), maps.Clone(m.deps), nil}
}

func (m *image) rollback(to mark) {
	m.names, m.alias, m.emitted, m.typeIDs, m.deps = to.names, to.alias, to.emitted, to.typeIDs, to.deps
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
	id, ok := m.typeIDs[spelling]
	if !ok {
		id = len(m.types)
		m.types = append(m.types, t)
		m.typeIDs[spelling] = id
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
