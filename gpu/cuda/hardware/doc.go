// Package hardware holds the tests and benchmarks of the CUDA backend that need
// a device. Where there is none they are skipped, and the skips are counted.
//
// Its tests can be compiled where there is no device and run where there is one:
// install/with-cuda.sh go test -c -o cuda.test ./gpu/cuda/hardware
package hardware
