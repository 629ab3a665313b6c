package symbols

import (
	"maps"
	"reflect"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"
	"github.com/traefik/yaegi/stdlib/unrestricted"
)

// Exports returns the compiled values of all importable packages, keyed as yaegi wants them: "path/name", then the symbol.
// The maps are copies that the caller may change. Variables appear as addressable values.
func Exports() interp.Exports {
	all := interp.Exports{}
	for _, table := range []map[string]map[string]reflect.Value{stdlib.Symbols, unrestricted.Symbols, stdTable, projectTable} {
		for key, syms := range table {
			if key == "." || isInterpreter(key) {
				continue
			}
			if all[key] == nil {
				all[key] = make(map[string]reflect.Value, len(syms))
			}
			maps.Copy(all[key], syms)
		}
	}
	return all
}

// isInterpreter says whether a key is one of the interpreter's own packages, which cells cannot import.
func isInterpreter(key string) bool {
	const own = "github.com/traefik/yaegi/"
	return len(key) > len(own) && key[:len(own)] == own
}
