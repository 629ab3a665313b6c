package kernels

import "gradbook/gpu"

// MakeLinearEnd fills the plan with what is left of a linear launch when y holds
// the product: bias and activation, in place.
func (p *Plan) MakeLinearEnd(l *gpu.Launch, y, bias uint64) error {
	q := l.Params.(*gpu.LinearParams)
	p.N, p.Scratch, p.dtype = 0, 0, l.DType
	outputs := int64(q.Rows) * int64(q.Out)
	if outputs > maxCount {
		return gpu.ErrDeclined
	}
	p.gemm[0] = GemmPass{M: q.Rows, N: q.Out, K: q.In, LDA: q.In, LDB: q.In, LDC: q.Out,
		Batch: 1, Splits: 1, Chunk: q.In, End: endLinear, Act: q.Act}
	p.add(gemmSum, NoOp, line(outputs, groupThreads), &p.gemm[0], y, y, y, bias)
	p.activate(y, bias)
	return nil
}
