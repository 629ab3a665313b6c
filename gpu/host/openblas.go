package host

import (
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// openBLAS calls OpenBLAS through its Fortran interface, whose arguments are
// all pointers: cgo-free calls cannot mix floats and integers as cheaply.
type openBLAS struct {
	sgemmAddr, dgemmAddr uintptr
	config               string

	mu   sync.Mutex // guards args
	args *gemmArgs
}

// gemmArgs are the values that Fortran takes by reference. They live on the
// heap, where Go does not move them.
type gemmArgs struct {
	transA, transB         byte
	m, n, k, ldA, ldB, ldC int32
	alpha32, beta32        float32
	alpha64, beta64        float64
}

var openBLASNames = []string{"libopenblas.so.0", "libopenblas.so", "libopenblas.0.dylib", "libopenblas.dylib"}

// findOpenBLAS opens the library, nil if there is none.
func findOpenBLAS() blas {
	for _, name := range openBLASNames {
		lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			continue
		}
		o := &openBLAS{args: &gemmArgs{}}
		var errs [2]error
		o.sgemmAddr, errs[0] = purego.Dlsym(lib, "sgemm_")
		o.dgemmAddr, errs[1] = purego.Dlsym(lib, "dgemm_")
		if errs[0] != nil || errs[1] != nil {
			continue
		}
		if addr, err := purego.Dlsym(lib, "openblas_get_config"); err == nil {
			var config func() string
			purego.RegisterFunc(&config, addr)
			// The first two of its words are the name and the version; how it was built is for its makers.
			words := strings.Fields(config())
			o.config = strings.Join(words[:min(2, len(words))], " ")
		}
		return o
	}
	return nil
}

func (o *openBLAS) name() string { return "OpenBLAS" }

func (o *openBLAS) version() string {
	if o.config != "" {
		return o.config
	}
	return "OpenBLAS"
}

func (o *openBLAS) sgemm(a, b, c matrix[float32], m, n, k int, alpha, beta float32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.args.alpha32, o.args.beta32 = alpha, beta
	call(o, o.sgemmAddr, a, b, c, m, n, k, unsafe.Pointer(&o.args.alpha32), unsafe.Pointer(&o.args.beta32))
}

func (o *openBLAS) dgemm(a, b, c matrix[float64], m, n, k int, alpha, beta float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.args.alpha64, o.args.beta64 = alpha, beta
	call(o, o.dgemmAddr, a, b, c, m, n, k, unsafe.Pointer(&o.args.alpha64), unsafe.Pointer(&o.args.beta64))
}

// call computes the transposed product, c' = op(b)'*op(a)': a row-major matrix
// is its transpose to Fortran.
func call[T float](o *openBLAS, addr uintptr, a, b, c matrix[T], m, n, k int, alpha, beta unsafe.Pointer) {
	p := o.args
	p.transA, p.transB = flag(a.trans), flag(b.trans)
	p.m, p.n, p.k = int32(m), int32(n), int32(k)
	p.ldA, p.ldB, p.ldC = int32(a.ld), int32(b.ld), int32(c.ld)
	purego.SyscallN(addr, ref(&p.transB), ref(&p.transA), ref(&p.n), ref(&p.m), ref(&p.k),
		uintptr(alpha), ref(&b.data[0]), ref(&p.ldB), ref(&a.data[0]), ref(&p.ldA),
		uintptr(beta), ref(&c.data[0]), ref(&p.ldC))
	runtime.KeepAlive(a.data)
	runtime.KeepAlive(b.data)
	runtime.KeepAlive(c.data)
}

func flag(trans bool) byte {
	if trans {
		return 'T'
	}
	return 'N'
}

func ref[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
