// Package driver opens the CUDA driver, cuBLAS and cuBLASLt when first needed,
// and has the calls that gorgonia.org/cu lacks: launches with one parameter
// block, pinned memory, stream capture, graphs, products.
//
// Its one idea: nothing of NVIDIA's is linked, so one binary starts anywhere.
// Every function of the driver that the program calls, here or in
// gorgonia.org/cu, is a jump through a pointer that Load fills.
//
// It must not know launches, kernels or anything else of package gpu.
//
// It is built with the tag cuda, against CUDA's headers, on linux/amd64.
package driver
