package symbols

import (
	"encoding/json"
	"fmt"
	"sync"
)

var docs struct {
	mu  sync.Mutex
	all map[string]map[string]string
}

// Doc returns the doc comment of an exported name of an embedded package: "Name", "Type.Method", "Type.Field", or "" for
// the package's own. It is "" where there is none.
func Doc(importPath, name string) string {
	docs.mu.Lock()
	defer docs.mu.Unlock()
	d, ok := docs.all[importPath]
	if !ok {
		d = readDocs(importPath)
		if docs.all == nil {
			docs.all = map[string]map[string]string{}
		}
		docs.all[importPath] = d
	}
	return d[name]
}

func readDocs(importPath string) map[string]string {
	f := archives()["docs/"+importPath]
	if f == nil {
		return nil
	}
	data, err := readFile(f)
	if err == nil {
		d := map[string]string{}
		if err = json.Unmarshal(data, &d); err == nil {
			return d
		}
	}
	panic(fmt.Sprintf("symbols: embedded archive: docs of %s: %v", importPath, err))
}
