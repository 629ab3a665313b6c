package display

import "sync"

// frame is the cell whose output is being collected.
var frame struct {
	sync.Mutex
	open  bool
	atEnd []func()
}

// Begin tells that a cell begins. Whoever runs cells calls it.
func Begin() {
	frame.Lock()
	defer frame.Unlock()
	frame.open, frame.atEnd = true, nil
}

// End tells that the cell's code has ended and its output is about to: what
// asked for it by [AtEnd] shows its last state now.
func End() {
	frame.Lock()
	fs := frame.atEnd
	frame.open, frame.atEnd = false, nil
	frame.Unlock()
	for _, f := range fs {
		f()
	}
}

// AtEnd has f called when the running cell ends. It reports false, and does
// not keep f, when no cell is running.
func AtEnd(f func()) bool {
	frame.Lock()
	defer frame.Unlock()
	if frame.open {
		frame.atEnd = append(frame.atEnd, f)
	}
	return frame.open
}
