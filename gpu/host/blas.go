package host

import (
	"sync"

	gonumblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// blas multiplies row-major matrices: c = alpha*op(a)*op(b) + beta*c.
type blas interface {
	name() string
	version() string
	sgemm(a, b, c matrix[float32], m, n, k int, alpha, beta float32)
	dgemm(a, b, c matrix[float64], m, n, k int, alpha, beta float64)
}

// matrix is a dense matrix in memory: rows of ld elements.
type matrix[T float] struct {
	data  []T
	ld    int
	trans bool
}

// libraries lists the BLAS libraries that were found, best first.
var libraries = sync.OnceValue(func() []blas {
	if lib := findOpenBLAS(); lib != nil {
		return []blas{lib, goBLAS{}}
	}
	return []blas{goBLAS{}}
})

// product sees to the sizes that a BLAS need not take.
func product[T float](h *backend, a, b, c matrix[T], m, n, k int, alpha, beta float64) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || T(alpha) == 0 {
		for r := range m {
			row := c.data[r*c.ld : r*c.ld+n]
			for i := range row {
				if beta == 0 {
					row[i] = 0
				} else {
					row[i] *= T(beta)
				}
			}
		}
		return
	}
	switch c := any(c).(type) {
	case matrix[float32]:
		h.blas.sgemm(any(a).(matrix[float32]), any(b).(matrix[float32]), c, m, n, k, float32(alpha), float32(beta))
	case matrix[float64]:
		h.blas.dgemm(any(a).(matrix[float64]), any(b).(matrix[float64]), c, m, n, k, alpha, beta)
	}
}

// goBLAS is gonum's BLAS in Go.
type goBLAS struct{}

func (goBLAS) name() string    { return "gonum BLAS" }
func (goBLAS) version() string { return "gonum" }

func transpose(t bool) gonumblas.Transpose {
	if t {
		return gonumblas.Trans
	}
	return gonumblas.NoTrans
}

func (goBLAS) sgemm(a, b, c matrix[float32], m, n, k int, alpha, beta float32) {
	gonum.Implementation{}.Sgemm(transpose(a.trans), transpose(b.trans), m, n, k, alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld)
}

func (goBLAS) dgemm(a, b, c matrix[float64], m, n, k int, alpha, beta float64) {
	gonum.Implementation{}.Dgemm(transpose(a.trans), transpose(b.trans), m, n, k, alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld)
}
