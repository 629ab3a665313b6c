// Package host is the reference backend: every kernel of the table as plain
// loops that read as its specification, on the processor that runs Go.
//
// Its one idea: what the other backends compute is right if it equals this.
// So nothing here is clever but gemm, which goes through OpenBLAS when that
// library is found at run time, and through gonum's BLAS when it is not.
// Elements are computed in float64 and rounded once; sums are added in index
// order in float64. The same launch gives the same bits, run after run; those
// of gemm depend on the library and on the number of threads that it uses.
//
// The package must not know residency, shapes beyond a launch's parameters,
// or other backends.
package host
