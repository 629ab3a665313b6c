// Package assist answers what an editor asks about a cell that is still being written: what can stand at the cursor
// ([Complete]) and what the thing at the cursor is ([Inspect]).
//
// Its one idea: put a marker at the cursor, mend what does not parse around it, check the cell with go/types against the
// session's names, and read the answer off the marker's place in the tree. Nothing runs.
//
// Offsets are bytes. The package knows nothing of Jupyter messages or of yaegi, and keeps no state.
package assist

import "gradbook/kernel/cell"

// Scope is what the names of a cell mean, and what is known about them.
type Scope struct {
	cell.Scope
	// Paths lists the packages that can be imported.
	Paths []string
	// Doc is the doc comment of an exported name of a package, as symbols.Doc.
	Doc func(path, name string) string
	// Value describes the present value of a session variable in a few lines, "" if there is nothing to say.
	Value func(name string) string
}
