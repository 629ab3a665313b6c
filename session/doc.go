// Package session is what outlives a cell.
//
// Its one idea: a cell comes and goes, a [Session] stays. It holds the devices
// that values live on, gives the storages on them the names that the cells'
// variables have, keeps one ledger entry a cell of what the devices did, and
// decides when a collection of unreachable tensors is worth its time. There is
// one current session in a process, the kernel's; plain Go programs use it
// just as well.
//
// The functions without a receiver are for cells: they act on the current
// session and panic with an error where a method returns one.
//
// The package must not know Jupyter, the interpreter, gradients, or how
// anything is drawn.
package session
