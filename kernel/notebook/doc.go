// Package notebook reads and writes .ipynb files, version 4 of the format.
//
// What it does not understand it keeps: a notebook that is read and written
// again differs only in what was changed. The package knows nothing of
// kernels.
package notebook
