// Package history keeps the cells that were run, over restarts.
//
// It is a file of JSON lines that kernels append to, several at a time; a
// session is the life of one kernel. The package knows nothing of messages.
package history
