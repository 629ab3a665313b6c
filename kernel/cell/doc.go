// Package cell turns the source of a notebook cell into a Go program that yaegi runs as the Go compiler would.
//
// A cell passes through stages, each a file or a few:
//
//	split   the text is cut into imports, declarations, statements and a final expression (split.go, complete.go)
//	check   the pieces become one Go file that go/types checks against the names of earlier cells (check*.go)
//	lower   what was checked is rewritten to the part of Go that yaegi gets right (lower*.go)
//	emit    the program's text, with a table that leads each statement back to its cell and line (program.go)
//
// Running the program is package interp's part. Nothing of a cell is kept before Session.Commit, so a cell that
// fails to check, or to compile, leaves no trace.
//
// The lowered program has no methods, no interfaces of the session's own, no generics, no embedded fields and no named types but
// structs. A method is a function whose first parameter is the receiver. A value of an interface that cells declare is an
// empty interface; its methods are called through dispatchers. A value that would lose its type in an interface (a
// named float64, say) travels in a box, a struct with one field. Interfaces that compiled packages
// declare stay what they are, and a value of the session enters one through a wrapper made at run time.
//
// For completion and inspection, Scope is a read-only view of the names, imports and types that the next cell will see.
//
// The package is pure: it knows nothing of sockets, of yaegi, or of values.
package cell
