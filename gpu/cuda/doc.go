// Package cuda is the backend for NVIDIA GPUs: launches become kernels of
// package kernels and products of cuBLAS and cuBLASLt on one stream of one
// context.
//
// Its one idea: everything is in the order of the stream. A launch, a copy and
// a replayed recording start after what was given to the stream before, so
// memory is reused and freed without asking when a kernel has finished.
//
// It must not know residency, names, gradients, or how kernels compute.
//
// The backend is compiled in with the build tag cuda, which install/with-cuda.sh
// sets where CUDA's headers are; without it the driver is registered all the
// same and says what is missing. Nothing of CUDA is linked: libcuda, libcublas and
// libcublasLt are opened when the first device is asked for.
//
// Environment, read when a device is opened:
//
//	GRADBOOK_TF32=1         float32 products may round their factors to TF32
//	GRADBOOK_CUBLAS=0       never use cuBLAS or cuBLASLt; 1: one of them for every product
//	GRADBOOK_CUBLASLT=0     never use cuBLASLt
//	GRADBOOK_KERNEL_TIME=1  time every kernel with events (BackendStats.KernelTime)
//	GRADBOOK_CUDA_WAIT=1    wait after every launch, so that a fault names its launch
package cuda

import "gradbook/gpu"

func init() {
	gpu.Register(gpu.Driver{Name: "cuda", Devices: devices, Open: open})
}
