// Package gpu is the contract between tensors and the devices they live on.
//
// Its one idea: everything a device does is a [Launch], a kernel named in one
// table together with its arguments and a flat block of parameters. Backends
// execute launches and hold bytes; they never see residency, names or
// gradients. A [Device] joins one backend to what is the same for all of them:
// the residency of every storage, the pool of free buffers, the counters, the
// recordings, and the fall from a fused kernel to its composition of simpler
// ones.
//
// The package must not know shapes beyond the parameters of a launch, nor
// gradients, sessions, cells' source, or Jupyter.
package gpu
