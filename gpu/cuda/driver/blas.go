//go:build cuda && linux && amd64

package driver

// #include <stdlib.h>
// #include "blas.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// BLASLibraries are the files that OpenBLAS tries, in order. A test may put
// its own there before the first call.
var BLASLibraries = []string{
	"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
	"/usr/local/cuda/lib64/libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.11",
}

// blasLibrary is the one that was opened.
var blasLibrary string

var loadBLAS = sync.OnceValue(func() error {
	var all []error
	for _, l := range BLASLibraries {
		name := C.CString(l)
		why := C.blas_open(name)
		C.free(unsafe.Pointer(name))
		if why == nil {
			blasLibrary = l
			return nil
		}
		all = append(all, errors.New(C.GoString(why)))
	}
	return fmt.Errorf("no cuBLAS: %w", errors.Join(all...))
})

// BLASStatus is a cublasStatus_t other than success.
type BLASStatus int

// Unsupported reports that the library has no algorithm for what was asked. An
// older one calls an epilogue that it does not know invalid.
func (s BLASStatus) Unsupported() bool { return s == 15 || s == 8 || s == 7 }

func (s BLASStatus) Error() string {
	names := map[BLASStatus]string{1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH",
		11: "MAPPING_ERROR", 13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED", 16: "LICENSE_ERROR"}
	if n, ok := names[s]; ok {
		return "CUBLAS_STATUS_" + n
	}
	return fmt.Sprintf("cuBLAS status %d", int(s))
}

func checkBLAS(status C.int) error {
	if status == 0 {
		return nil
	}
	return BLASStatus(status)
}

// BLAS computes products on a queue.
type BLAS struct {
	q      Queue
	handle unsafe.Pointer
}

// NewBLAS opens cuBLAS, once, and makes a handle on the queue. Workspace is
// device memory that products use; nothing else may. Float32 products are
// rounded to TF32 only if tf32 is set.
func (q Queue) NewBLAS(workspace cu.DevicePtr, bytes int64, tf32 bool) (*BLAS, error) {
	if err := loadBLAS(); err != nil {
		return nil, err
	}
	t := C.int(0)
	if tf32 {
		t = 1
	}
	b := &BLAS{q: q}
	if err := checkBLAS(C.blas_create(q.q, C.uint64_t(workspace), C.size_t(bytes), t, &b.handle)); err != nil {
		return nil, fmt.Errorf("cuBLAS does not start: %w", err)
	}
	return b, nil
}

// Version is cuBLAS's own, as 13.1.0 is 130100.
func (b *BLAS) Version() int {
	var v C.int
	if C.blas_version(b.q.q, b.handle, &v) != 0 {
		return 0
	}
	return int(v)
}

// Workspace gives the products from now on another workspace.
func (b *BLAS) Workspace(p cu.DevicePtr, bytes int64) error {
	return checkBLAS(C.blas_workspace(b.q.q, b.handle, C.uint64_t(p), C.size_t(bytes)))
}

// Product is c = alpha*op(a)*op(b) + beta*c for each of Batch matrices,
// column-major; op(a) is M by K.
type Product struct {
	TransA, TransB            bool
	M, N, K                   int32
	Alpha, Beta               float64
	A, B, C                   cu.DevicePtr
	LDA, LDB, LDC             int32
	StrideA, StrideB, StrideC int64
	Batch                     int32
}

// Gemm starts a product in float32, or in float64 if double is set.
func (b *BLAS) Gemm(p *Product, double bool) error {
	c := C.blas_product{
		transa: trans(p.TransA), transb: trans(p.TransB),
		m: C.int(p.M), n: C.int(p.N), k: C.int(p.K),
		alpha: C.double(p.Alpha), beta: C.double(p.Beta),
		a: C.uint64_t(p.A), lda: C.int(p.LDA), stridea: C.longlong(p.StrideA),
		b: C.uint64_t(p.B), ldb: C.int(p.LDB), strideb: C.longlong(p.StrideB),
		c: C.uint64_t(p.C), ldc: C.int(p.LDC), stridec: C.longlong(p.StrideC),
		batch: C.int(p.Batch),
	}
	if double {
		return checkBLAS(C.blas_dgemm(b.q.q, b.handle, &c))
	}
	return checkBLAS(C.blas_sgemm(b.q.q, b.handle, &c))
}

func trans(t bool) C.int {
	if t {
		return 1 // CUBLAS_OP_T
	}
	return 0
}

// Close gives the handle back.
func (b *BLAS) Close() error { return checkBLAS(C.blas_destroy(b.q.q, b.handle)) }
