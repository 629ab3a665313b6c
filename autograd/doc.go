// Package autograd finds gradients.
//
// Its one idea: an operation on a [Var] that may lead to a gradient leaves a
// note on the tape, what went in and how to send a gradient back, and
// [Var.Backward] reads these notes from the last to the first.
//
//	w := autograd.Param(tensor.Randn(3, 1))
//	x := autograd.Const(tensor.Randn(8, 3))
//	loss := x.MatMul(w).Square().Mean()
//	loss.Backward()
//	fmt.Println(w.Grad)
//
// # Memory
//
// Backward consumes the tape: what operations saved for it, the gradients of
// what lies between loss and parameters, and the values that only the tape can
// see are freed as it goes. Values that a program holds live as long as it holds
// them. A second Backward through a tape that is gone panics.
//
// # Gradients
//
// Backward adds to the gradients that are there, so that two losses can share
// parameters. An optimizer's Step takes gradients as used; the next Backward
// then starts from nothing, and no call of ZeroGrad is needed between steps.
// Backward sets all gradients or, if it panics, none.
//
// # Rules for goroutines
//
// Different tapes may be used by different goroutines. NoGrad holds for all of
// them while it runs.
//
// The package must not know layers, optimizers, data sets, sessions or
// notebooks.
package autograd
