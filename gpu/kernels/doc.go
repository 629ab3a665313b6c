// Package kernels holds the kernels of every GPU backend: their sources in
// Slang under src, their compiled forms for Vulkan (SPIR-V) and CUDA (PTX), and
// the plan that turns a launch into dispatches of them.
//
// Its one idea: a launch has one plan for all GPUs. Which of several codes runs,
// with what grid and which blocks of parameters, depends on the launch alone
// (and on whether the device is a processor), so that one seed gives the same
// order of summation everywhere. The blocks' layout comes from the Go structs,
// from which the sources' declarations are generated.
//
// The package must not know Vulkan or CUDA: it opens no device and launches
// nothing. Package build, beneath it, compiles the sources; a user's machine
// never does.
package kernels
