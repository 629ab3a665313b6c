package export

import (
	"sort"
	"strings"

	"github.com/traefik/yaegi/stdlib"
)

// Project lists the packages of this module that cells can import. A package that does not exist yet is left out.
var Project = []string{
	"gradbook/gpu",
	"gradbook/tensor",
	"gradbook/autograd",
	"gradbook/autograd/nn",
	"gradbook/autograd/optim",
	"gradbook/autograd/data",
	"gradbook/session",
	"gradbook/viz",
	"gradbook/viz/display",
}

// newer lists standard packages that the interpreter's own table lacks.
var newer = []string{"iter", "unique", "os/exec", "crypto/hkdf", "crypto/pbkdf2", "crypto/sha3", "encoding", "hash/maphash", "weak"}

// Sources lists standard packages whose generic functions cells instantiate from source.
var Sources = []string{"cmp", "maps", "slices"}

// Std lists the standard packages that cells can import.
func Std() []string {
	set := map[string]bool{}
	for key := range stdlib.Symbols {
		path, _, ok := cutLast(key)
		if ok && !strings.Contains(path, ".") {
			set[path] = true
		}
	}
	for _, path := range newer {
		set[path] = true
	}
	delete(set, "go/importer")
	list := make([]string, 0, len(set))
	for path := range set {
		list = append(list, path)
	}
	sort.Strings(list)
	return list
}

// cutLast cuts a table key such as "net/http/http" into import path and package name.
func cutLast(key string) (path, name string, ok bool) {
	i := strings.LastIndexByte(key, '/')
	if i < 0 {
		return "", "", false
	}
	return key[:i], key[i+1:], true
}
