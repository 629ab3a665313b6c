package display

import "sync"

var drawers struct {
	sync.RWMutex
	list []func(v any) (Bundle, bool)
}

// Draw registers how values are shown whose types know nothing of pictures:
// f reports false for those it does not draw. [Rich] asks every f, in the order
// of registration, before it looks at a value's own forms.
func Draw(f func(v any) (Bundle, bool)) {
	drawers.Lock()
	defer drawers.Unlock()
	drawers.list = append(drawers.list, f)
}

func drawn(v any) (Bundle, bool) {
	drawers.RLock()
	defer drawers.RUnlock()
	for _, f := range drawers.list {
		if b, ok := f(v); ok {
			return b, true
		}
	}
	return Bundle{}, false
}
