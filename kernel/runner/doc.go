// Package runner executes a notebook in the process, without Jupyter: it is a
// front end for a kernel, as nbclient is, and speaks to it in the same
// messages.
//
// It knows nothing of Go code or of how messages travel between processes.
package runner
