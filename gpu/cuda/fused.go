//go:build cuda && linux && amd64

package cuda

import (
	"gorgonia.org/cu"

	"gradbook/gpu"
	"gradbook/gpu/cuda/driver"
)

// fused is a product with its end in it.
type fused struct {
	plan           *driver.MatmulPlan
	a, b, d, extra cu.DevicePtr
}

// startFused gives a piece to cuBLASLt.
func (p *products) startFused(q *piece) error {
	w := q.workspace
	if w == 0 {
		w = p.workspace
	}
	f := &q.fused
	return p.lt.Start(f.plan, f.a, f.b, f.d, f.extra, w)
}

// fuse adds a linear launch, or a linear_param_bwd, as one product of cuBLASLt,
// and reports whether it can be one.
func (p *products) fuse(j *job, l *gpu.Launch, g *gemm, addrs []uint64) (bool, error) {
	if p.lt == nil {
		return false, nil
	}
	var end driver.Epilogue
	var extra uint64
	switch q := l.Params.(type) {
	case *gpu.LinearParams:
		switch {
		case l.DType == gpu.Float64: // 1.8 times as slow as cuBLAS and the end, of 1024 x 1024 x 1024 on an H200
			return false, nil
		case q.Act == gpu.Identity:
			end = driver.Bias
		case q.Act == gpu.ReLU:
			end = driver.BiasReLU
		default:
			return false, nil
		}
		extra = addrs[2]
	case *gpu.LinearParamBwdParams:
		end, extra = driver.SumB, addrs[3]
	default:
		return false, nil
	}
	for _, a := range []uint64{g.a, g.b, g.c, extra} {
		if a%driver.MatmulAlignment != 0 {
			return false, nil
		}
	}
	plan, err := p.plan(g.matmul(l.DType, p.tf32, end))
	if plan == nil {
		return false, err
	}
	q := j.next()
	q.kind, q.workspace = aFused, 0
	q.fused = fused{plan, cu.DevicePtr(g.b), cu.DevicePtr(g.a), cu.DevicePtr(g.c), cu.DevicePtr(extra)}
	return true, nil
}

// plan is the one for a matmul, always the same, or nil where there is none.
func (p *products) plan(m driver.Matmul) (*driver.MatmulPlan, error) {
	if plan, known := p.plans[m]; known {
		return plan, nil
	}
	plan, err := p.lt.Prepare(m, workspaceBytes)
	if status, ok := err.(driver.BLASStatus); ok && status.Unsupported() {
		plan, err = nil, nil
	}
	if err == nil {
		p.plans[m] = plan
	}
	return plan, err
}

// matmul is the product column-major: that of the transposes in the other order.
func (g *gemm) matmul(t gpu.DType, tf32 bool, end driver.Epilogue) driver.Matmul {
	in := driver.InFloat32
	switch {
	case t == gpu.Float64:
		in = driver.InFloat64
	case tf32:
		in = driver.InTF32
	}
	return driver.Matmul{
		TransA: g.TransB != 0, TransB: g.TransA != 0,
		M: int32(g.N), N: int32(g.M), K: int32(g.K),
		LDA: int32(g.LDB), LDB: int32(g.LDA), LDD: int32(g.LDC),
		In: in, End: end,
	}
}
