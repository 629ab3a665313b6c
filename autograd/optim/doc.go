// Package optim changes parameters so that a loss gets smaller.
//
// Its one idea: a step is taken whole or not at all. Everything that can fail
// without a trace comes first; then the launches that change weights, moments
// and step counter run with interrupts held back, and one that fails is tried
// again. If the device still refuses, the rest of the step is done before the
// next one. Weights, moments and step counter always agree.
//
//	opt := optim.Adam(model.Params(), 1e-3)
//	loss.Backward()
//	opt.Step()
//
// Step takes the gradients as used: the next Backward starts from nothing. All
// state stays on the parameters' device.
//
// An optimizer of one's own needs nothing from here: it reads p.Grad, changes
// p.Value and calls p.UseGrad.
//
// The package must not know layers, data sets, sessions or notebooks.
package optim
