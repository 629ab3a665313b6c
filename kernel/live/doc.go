// Package live assembles the kernel that users run: cells in yaegi, the
// session of the process, and the % lines about it.
//
// It is where the parts meet, and knows each of them only by its methods.
package live
