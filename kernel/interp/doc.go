// Package interp runs cells: it has them checked and lowered by package cell, runs what comes out in yaegi,
// and turns results, panics, interrupts and output into plain data.
//
// It knows nothing of sockets or messages.
package interp
