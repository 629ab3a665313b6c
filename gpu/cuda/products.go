//go:build cuda && linux && amd64

package cuda

import (
	"errors"
	"fmt"
	"math"
	"os"

	"gorgonia.org/cu"

	"gradbook/gpu"
	"gradbook/gpu/cuda/driver"
)

// workspaceBytes is what NVIDIA recommends for cuBLAS on Hopper. It is given to
// cuBLAS once, so that recording a product allocates nothing.
const workspaceBytes = 32 << 20

// products computes gemms with cuBLAS. Without cuBLAS, the kernels' own gemm
// serves everything.
type products struct {
	blas      *driver.BLAS
	missing   error
	tf32      bool
	always    bool // for every product, whatever is faster
	workspace cu.DevicePtr

	lt    *driver.Lt // nil: no product with its end in it
	noLt  error
	plans map[driver.Matmul]*driver.MatmulPlan // nil where cuBLASLt has no algorithm
}

func (p *products) init(b *backend) error {
	p.tf32 = os.Getenv("GRADBOOK_TF32") == "1"
	switch os.Getenv("GRADBOOK_CUBLAS") {
	case "0":
		p.missing = errors.New("no cuBLAS, as GRADBOOK_CUBLAS=0 asks")
		return nil
	case "1":
		p.always = true
	}
	var err error
	if p.workspace, err = b.allocate(workspaceBytes); err != nil {
		return fmt.Errorf("no memory for cuBLAS: %w", err)
	}
	p.blas, p.missing = b.queue.NewBLAS(p.workspace, workspaceBytes, p.tf32)
	if p.missing != nil {
		b.release(p.workspace)
		return nil
	}
	if os.Getenv("GRADBOOK_CUBLASLT") != "0" {
		p.lt, p.noLt = b.queue.NewLt()
		p.plans = map[driver.Matmul]*driver.MatmulPlan{}
	}
	return nil
}

func (p *products) name() string {
	if p.missing != nil {
		return p.missing.Error()
	}
	v := p.blas.Version()
	name := fmt.Sprintf("cuBLAS %d.%d", v/10000, v/100%100)
	if p.tf32 {
		name += " (TF32)"
	}
	if p.noLt != nil {
		name += ", " + p.noLt.Error()
	}
	return name
}

func (p *products) close(b *backend) {
	for _, plan := range p.plans {
		if plan != nil {
			plan.Discard()
		}
	}
	if p.lt != nil {
		p.lt.Close()
	}
	if p.blas != nil {
		p.blas.Close()
		b.release(p.workspace)
	}
}

// start gives a piece to cuBLAS.
func (p *products) start(q *piece, t gpu.DType) error {
	if q.workspace == 0 {
		return p.blas.Gemm(&q.product, t == gpu.Float64)
	}
	if err := p.blas.Workspace(q.workspace, workspaceBytes); err != nil {
		return err
	}
	err := p.blas.Gemm(&q.product, t == gpu.Float64)
	return errors.Join(err, p.blas.Workspace(p.workspace, workspaceBytes))
}

// gemm is a row-major product.
type gemm struct {
	gpu.GemmParams
	a, b, c uint64
}

// lowerProduct adds the pieces of a launch whose product cuBLAS computes, and
// reports whether it does.
func (b *backend) lowerProduct(j *job, l *gpu.Launch, addrs []uint64, scratch memory) (done bool, err error) {
	var g gemm
	switch p := l.Params.(type) {
	case *gpu.GemmParams:
		g = gemm{*p, addrs[0], addrs[1], addrs[2]}
	case *gpu.LinearParams:
		g = gemm{gpu.GemmParams{Alpha: 1, TransB: 1, M: p.Rows, N: p.Out, K: p.In, LDA: p.In, LDB: p.In, LDC: p.Out, Batch: 1},
			addrs[0], addrs[1], addrs[3]}
	case *gpu.LinearParamBwdParams:
		g = gemm{gpu.GemmParams{Alpha: 1, TransA: 1, M: p.Out, N: p.In, K: p.Rows, LDA: p.Out, LDB: p.In, LDC: p.In, Batch: 1},
			addrs[0], addrs[1], addrs[2]}
	default:
		return false, nil
	}
	if !b.products.serves(l, &g) {
		return false, nil
	}
	if fused, err := b.products.fuse(j, l, &g, addrs); fused || err != nil {
		return true, err
	}
	j.addProduct(&g)
	switch p := l.Params.(type) {
	case *gpu.LinearParams:
		if err := j.plan.MakeLinearEnd(l, addrs[3], addrs[2]); err != nil {
			return true, err
		}
		return true, b.addPlan(j, scratch)
	case *gpu.LinearParamBwdParams:
		sum := gpu.Launch{Kernel: gpu.Reduce, DType: l.DType, Params: &gpu.ReduceParams{Scale: 1, Outer: 1, Axis: p.Rows, Inner: p.Out}}
		if err := j.plan.Make(&sum, []uint64{addrs[0], addrs[3]}, device); err != nil {
			return true, err
		}
		return true, b.addPlan(j, scratch)
	}
	return true, nil
}

// serves reports whether cuBLAS computes a launch's product.
func (p *products) serves(l *gpu.Launch, g *gemm) bool {
	if p.blas == nil || !g.fits() {
		return false
	}
	return p.always || p.tf32 || l.DType == gpu.Float64 || !g.small(l.Kernel)
}

// fits reports whether cuBLAS takes the sizes, which are int there. An empty sum
// is left to the kernels.
func (g *gemm) fits() bool {
	for _, v := range []uint32{g.M, g.N, g.K, g.LDA, g.LDB, g.LDC, g.Batch} {
		if v == 0 || v > math.MaxInt32 {
			return false
		}
	}
	return true
}

// small reports whether the kernels' own products are as fast as cuBLAS or
// faster, in float32, measured on an H200 (docs/cuda.md): below 2^26
// multiplications, where they split sums that cuBLAS does not, or, of
// linear_param_bwd, have db in the same pass. Results that keep the device busy
// without a split are cuBLAS's from 3*2^16 elements on, and so are long and narrow
// ones, of which the own tiles waste most. In float64 cuBLAS is 2 to 6 times as fast
// everywhere, and with TF32 a step of the smallest network is by a tenth: it has
// the tensor cores.
func (g *gemm) small(k gpu.Kernel) bool {
	limit := uint64(1) << 26
	if g.M <= 32 || g.N <= 32 {
		limit = 1 << 22
	}
	results := uint64(g.M) * uint64(g.N)
	if k != gpu.LinearParamBwd && g.Batch == 1 && results >= 3<<16 {
		return false
	}
	return results*uint64(g.K)*uint64(g.Batch) <= limit
}

// addProduct adds a row-major product. Column-major, that is the product of the
// transposes in the other order.
func (j *job) addProduct(g *gemm) {
	q := j.next()
	q.kind, q.workspace = aProduct, 0
	q.product = driver.Product{
		TransA: g.TransB != 0, TransB: g.TransA != 0,
		M: int32(g.N), N: int32(g.M), K: int32(g.K),
		Alpha: g.Alpha, Beta: g.Beta,
		A: cu.DevicePtr(g.b), LDA: int32(g.LDB), StrideA: int64(g.StrideB),
		B: cu.DevicePtr(g.a), LDB: int32(g.LDA), StrideB: int64(g.StrideA),
		C: cu.DevicePtr(g.c), LDC: int32(g.LDC), StrideC: int64(g.StrideC),
		Batch: int32(g.Batch),
	}
}
