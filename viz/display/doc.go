// Package display is the contract between a value that can be shown and
// whatever shows it.
//
// A value is shown as a [Bundle]: the same content in several forms, keyed by
// MIME type, of which a front end takes the richest one it knows. Where the
// bundle goes is decided by the one [Sink] of the process: the kernel sets a
// sink that publishes messages; without one the plain text form is printed.
//
// The package knows nothing of Jupyter, tensors or charts, and imports only
// the standard library, so anything may import it.
package display
