package interp

import (
	"go/types"
	"path"
	"reflect"
	"strings"

	"github.com/traefik/yaegi/interp"

	"gradbook/kernel/cell"
	"gradbook/kernel/symbols"
)

// library is what cells of a session can import: the embedded packages, and modules that were got.
type library struct {
	types   *symbols.Importer
	table   interp.Exports
	paths   map[string]string            // import path -> key in the table
	sources map[string]map[string][]byte // of packages that are not embedded
	modules *modules
}

func newLibrary(m *modules) *library {
	l := &library{modules: m, types: symbols.NewImporter(), table: symbols.Exports(), paths: map[string]string{}, sources: map[string]map[string][]byte{}}
	for key := range l.table {
		l.paths[key[:strings.LastIndexByte(key, '/')]] = key
	}
	for _, syms := range l.table {
		addAddresses(syms)
	}
	return l
}

// addAddresses adds the addresses of variables: lowered code assigns through them.
func addAddresses(syms map[string]reflect.Value) {
	for name, v := range syms {
		if v.CanAddr() {
			syms[name+"__ptr"] = v.Addr()
		}
	}
}

// Import implements cell.Library.
func (l *library) Import(path string) (*types.Package, error) {
	if !l.modules.has(path) {
		return l.types.Import(path)
	}
	syn, err := l.modules.check(path, l)
	if err != nil {
		return nil, err
	}
	return syn.Pkg, nil
}

// Syntax implements cell.Library.
func (l *library) Syntax(path string) *cell.Syntax {
	if !l.modules.has(path) {
		return nil
	}
	syn, err := l.modules.check(path, l)
	if err != nil {
		return nil
	}
	return syn
}

// Has implements cell.Library.
func (l *library) Has(path, name string) bool {
	_, ok := l.table[l.paths[path]][name]
	return ok
}

// Source implements cell.Library.
func (l *library) Source(path string) (map[string][]byte, bool) {
	if src, ok := l.sources[path]; ok {
		return src, true
	}
	return symbols.Source(path)
}

// exports is the table under names that the interpreter gives no special treatment: it would replace parts of fmt, and
// compile sources of its own for generic packages.
func (l *library) exports() interp.Exports {
	e := interp.Exports{}
	for key, syms := range l.table {
		e[importPrefix+key] = syms
	}
	return e
}

// importPrefix goes before every import path in lowered code.
const importPrefix = "lib/"

// add makes the compiled values of a package known.
func (l *library) add(p *types.Package, syms map[string]reflect.Value) {
	key := path.Join(p.Path(), p.Name())
	addAddresses(syms)
	l.table[key] = syms
	l.paths[p.Path()] = key
	l.types.Add(p)
}
