// Package kernel is the life of one Jupyter kernel: requests come in, messages
// go out, and between them cells run in an [Evaluator].
//
// Requests of the shell channel are served one after the other, requests of
// the control channel beside them, so that an interrupt or a shutdown reaches
// a kernel that is busy. Everything on iopub goes through one outbox, which
// keeps its order and gathers printed text into few messages.
//
// The kernel does not know how cells are run, nor how messages travel:
// [Serve] puts it on sockets (package wire), package runner feeds it the
// cells of a notebook in the same process.
package kernel
