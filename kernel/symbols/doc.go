// Package symbols is what cells can import: for each package, the compiled values that interpreted code
// reaches, and the type data that a cell is checked against.
//
// Everything is embedded, so a user's machine needs no Go toolchain. The standard library and the project's own
// packages are kept apart: std.zip changes with the Go release, project.zip with every exported name of
// the project. Both are written by go generate; a test says when they are stale.
//
// The package knows nothing of cells or of how they run.
package symbols

//go:generate go run ./internal/gen
