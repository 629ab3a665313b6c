//go:build cuda && linux && amd64

package driver

// #cgo noescape lt_prepare
// #cgo noescape lt_start
// #include <stdlib.h>
// #include "lt.h"
import "C"

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// loadLt opens the cuBLASLt that lies beside the cuBLAS in use, which needs it
// too.
var loadLt = sync.OnceValue(func() error {
	if err := loadBLAS(); err != nil {
		return err
	}
	name := C.CString(strings.Replace(blasLibrary, "libcublas.so", "libcublasLt.so", 1))
	defer C.free(unsafe.Pointer(name))
	if why := C.lt_open(name); why != nil {
		return fmt.Errorf("no cuBLASLt: %s", C.GoString(why))
	}
	return nil
})

// Lt computes products with more than a store at their end.
type Lt struct {
	q      Queue
	handle unsafe.Pointer
}

// NewLt opens cuBLASLt, once, and makes a handle on the queue.
func (q Queue) NewLt() (*Lt, error) {
	if err := loadLt(); err != nil {
		return nil, err
	}
	l := &Lt{q: q}
	if err := checkBLAS(C.lt_create(q.q, &l.handle)); err != nil {
		return nil, fmt.Errorf("cuBLASLt does not start: %w", err)
	}
	return l, nil
}

// Close gives the handle back.
func (l *Lt) Close() error { return checkBLAS(C.lt_destroy(l.q.q, l.handle)) }

// Epilogue is what a Matmul does at its end: a cublasLtEpilogue_t.
type Epilogue int32

const (
	Bias     Epilogue = 4   // adds a vector to each column of d
	BiasReLU Epilogue = 6   // and then max(x, 0)
	SumB     Epilogue = 512 // sums op(b)'s columns, over k, into a vector
)

// Arithmetic is what a Matmul computes in.
type Arithmetic int32

const (
	InFloat32 Arithmetic = C.lt_float32
	InTF32    Arithmetic = C.lt_tf32 // float32 whose factors are rounded to TF32
	InFloat64 Arithmetic = C.lt_float64
)

// Matmul is d = end(op(a)*op(b)), column-major; op(a) is M by K.
type Matmul struct {
	TransA, TransB bool
	M, N, K        int32
	LDA, LDB, LDD  int32
	In             Arithmetic
	End            Epilogue
}

// MatmulAlignment is what the addresses of a Matmul are multiples of, in bytes.
const MatmulAlignment = C.lt_alignment

// MatmulPlan is a Matmul with the algorithm that does it.
type MatmulPlan struct {
	p *C.lt_plan
	// Workspace is how many bytes it needs.
	Workspace int64
}

// Prepare takes the algorithm that cuBLASLt puts first, of those that need no
// more than room bytes of workspace. The error is an Unsupported one if there
// is none.
func (l *Lt) Prepare(m Matmul, room int64) (*MatmulPlan, error) {
	c := C.lt_matmul{
		transa: trans(m.TransA), transb: trans(m.TransB),
		m: C.int(m.M), n: C.int(m.N), k: C.int(m.K),
		lda: C.int(m.LDA), ldb: C.int(m.LDB), ldd: C.int(m.LDD),
		_type: C.int(m.In), epilogue: C.int(m.End),
	}
	p := &MatmulPlan{}
	var needs C.size_t
	if err := checkBLAS(C.lt_prepare(l.q.q, l.handle, &c, C.size_t(room), &p.p, &needs)); err != nil {
		return nil, err
	}
	p.Workspace = int64(needs)
	return p, nil
}

// Start starts a product. Extra is the vector of its epilogue; the workspace
// has at least the plan's bytes, and nothing else uses it.
func (l *Lt) Start(p *MatmulPlan, a, b, d, extra, workspace cu.DevicePtr) error {
	return checkBLAS(C.lt_start(l.q.q, l.handle, p.p, C.uint64_t(a), C.uint64_t(b), C.uint64_t(d), C.uint64_t(extra),
		C.uint64_t(workspace), C.size_t(p.Workspace)))
}

// Discard frees the plan.
func (p *MatmulPlan) Discard() { C.lt_discard(p.p) }
