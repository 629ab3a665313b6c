package kernels

import (
	"fmt"
	"math"

	"gradbook/gpu"
)

// Device is what a plan may depend on beside the launch.
type Device struct {
	SharedBytes int  // shared memory a group may have
	Processor   bool // a software device
	Huge        bool // its compiler makes tiles with 128 sums a thread fast
}

// NoOp says that a step leaves the operation to its block.
const NoOp = math.MaxUint32

// Step is one dispatch of a plan.
type Step struct {
	Code *Code
	Grid [3]uint32 // groups
	// Op is what a backend may fix when it makes the pipeline (on Vulkan,
	// specialization constant 0): the operation, or a product's form; or NoOp.
	Op uint32

	addrs   [8]uint64
	args    int
	scratch int // which argument is the scratch buffer, or -1
	params  any
}

// Plan is a launch as dispatches, in order; each needs what the one before wrote.
// It is made to be reused: making and packing allocate nothing.
type Plan struct {
	Steps   [3]Step
	N       int   // steps in use; 0 where there is nothing to do
	Scratch int64 // bytes of scratch memory that the steps share

	dtype  gpu.DType
	gemm   [2]GemmPass
	reduce [2]ReducePass
	conv   ConvPass
}

// maxCount bounds what 32-bit offsets of elements reach.
const maxCount = math.MaxInt32

// few is how many elements leave a large device half empty, where four a thread
// only make each thread slower.
const few = 1 << 18

// Make fills the plan for a launch whose arguments have the given addresses. It
// returns gpu.ErrDeclined for sizes that the kernels cannot index.
func (p *Plan) Make(l *gpu.Launch, addrs []uint64, d Device) error {
	p.N, p.Scratch, p.dtype = 0, 0, l.DType
	if n := l.Kernel.Info(); len(addrs) != len(n.Args) {
		return fmt.Errorf("kernels: %s: %d arguments, want %d", l.Kernel, len(addrs), len(n.Args))
	}
	switch q := l.Params.(type) {
	case *gpu.FillParams:
		return p.elements(fill, NoOp, l, addrs, int64(q.N))
	case *gpu.ArangeParams:
		return p.elements(arange, NoOp, l, addrs, int64(q.N))
	case *gpu.CopyParams:
		c := copyCode
		if q.Rank == 0 || q.Rank == 1 && q.X[0] == 1 {
			c = copyDense
		}
		return p.elements(c, NoOp, l, addrs, int64(q.N))
	case *gpu.PasteParams:
		return p.elements(paste, NoOp, l, addrs, int64(q.N))
	case *gpu.CastParams:
		return p.elements(castFrom(gpu.DType(q.From), l.DType), NoOp, l, addrs, int64(q.N))
	case *gpu.UnaryParams:
		return p.elements(unary, q.Op, l, addrs, int64(q.N))
	case *gpu.BinaryParams:
		c := binary
		if q.Rank == 0 || q.Rank == 1 && q.A[0] == 1 && q.B[0] == 1 {
			c = binaryDense
		} else if p.quads(addrs) && rowsOfQuads(q) {
			return p.groups(binaryQuad, q.Op, l, addrs, int64(q.N/4), groupThreads)
		}
		return p.elements(c, q.Op, l, addrs, int64(q.N))
	case *gpu.AxpbyParams:
		return p.elements(axpby, NoOp, l, addrs, int64(q.N))
	case *gpu.WhereParams:
		return p.elements(where, NoOp, l, addrs, int64(q.N))
	case *gpu.RandomParams:
		return p.groups(random, NoOp, l, addrs, int64(q.N), groupThreads*4)
	case *gpu.DropoutParams:
		return p.groups(dropout, NoOp, l, addrs, int64(q.N), groupThreads*4)
	case *gpu.CountParams:
		return p.groups(count, NoOp, l, addrs, 1, 1)
	case *gpu.SGDParams:
		return p.elements(sgdStep, NoOp, l, addrs, int64(q.N))
	case *gpu.AdamParams:
		if q.N <= few {
			return p.groups(adamStepFew, NoOp, l, addrs, int64(q.N), groupThreads)
		}
		return p.elements(adamStep, NoOp, l, addrs, int64(q.N))
	case *gpu.RowsParams:
		n := int64(q.Rows) * int64(q.Width)
		if int64(q.Table)*int64(q.Width) > maxCount {
			return gpu.ErrDeclined
		}
		if l.Kernel == gpu.GatherRows {
			return p.elements(gatherRows, NoOp, l, addrs, n)
		}
		if n == 0 {
			return nil
		}
		return p.groups(scatterAddRows, NoOp, l, addrs, int64(q.Rows), 1)
	case *gpu.ReduceParams:
		return p.makeReduce(q, addrs)
	case *gpu.ArgMaxParams:
		if q.Inner == 1 && q.Axis > shortAxis {
			return p.groups(argmaxRow, NoOp, l, addrs, int64(q.Outer), rowsPerGroup(q.Axis))
		}
		return p.groups(argmaxThread, NoOp, l, addrs, int64(q.Outer)*int64(q.Inner), groupThreads)
	case *gpu.SoftmaxParams:
		c := softmax
		if l.Kernel == gpu.SoftmaxBwd {
			c = softmaxBwd
		}
		return p.rows(c, l, addrs, q.Rows, q.Cols)
	case *gpu.XentParams:
		return p.rows(xent, l, addrs, q.Rows, q.Cols)
	case *gpu.XentBwdParams:
		return p.elements(xentBwd, NoOp, l, addrs, int64(q.Rows)*int64(q.Cols))
	case *gpu.LayerNormParams:
		return p.rows(layerNorm, l, addrs, q.Rows, q.Cols)
	case *gpu.LayerNormBwdParams:
		if l.Kernel == gpu.LayerNormBwd {
			return p.rows(layerNormBwd, l, addrs, q.Rows, q.Cols)
		}
		return p.groups(layerNormParamBwd, NoOp, l, addrs, int64(q.Cols), columns)
	case *gpu.WindowParams:
		return p.makeColumns(l, q, addrs)
	case *gpu.PoolParams:
		return p.makePool(l, q, addrs)
	case *gpu.GemmParams:
		return p.makeGemm(q, addrs, d)
	case *gpu.LinearParams:
		return p.makeLinear(q, addrs, d)
	case *gpu.LinearParamBwdParams:
		return p.makeLinearParamBwd(q, addrs, d)
	case *gpu.Conv2DParams:
		return p.makeConv(l.Kernel, q, addrs, d)
	}
	return fmt.Errorf("kernels: %s: no plan for params of type %T", l.Kernel, l.Params)
}

func castFrom(from, to gpu.DType) *Code {
	switch {
	case from == gpu.Float32:
		return castFloat32
	case from == gpu.Int32:
		return castInt32
	case to == gpu.Float64:
		return castFloat64
	}
	return castNarrow
}

// columns that a group takes of a sum over rows: COLUMNS in the sources.
const columns = 32

// rowLanes is how many threads share a row: as in src/group.slang.
func rowLanes(cols uint32) int64 {
	switch {
	case cols <= 32:
		return 8
	case cols <= 256:
		return 32
	}
	return groupThreads
}

func rowsPerGroup(cols uint32) int64 { return groupThreads / rowLanes(cols) }

func (p *Plan) rows(c *Code, l *gpu.Launch, addrs []uint64, rows, cols uint32) error {
	if int64(rows)*int64(cols) > maxCount {
		return gpu.ErrDeclined
	}
	return p.groups(c, NoOp, l, addrs, int64(rows), rowsPerGroup(cols))
}

// quads reports whether four elements at once can be loaded and stored at
// multiples of four from the addresses.
func (p *Plan) quads(addrs []uint64) bool {
	all := uint64(0)
	for _, a := range addrs {
		all |= a
	}
	return all%(4*uint64(p.dtype.Size())) == 0
}

// rowsOfQuads reports whether the innermost dimension is a multiple of four and
// each operand lies dense or repeats one element along it.
func rowsOfQuads(q *gpu.BinaryParams) bool {
	last := q.Rank - 1
	if q.Rank == 0 || q.Dims[last]%4 != 0 {
		return false
	}
	for _, s := range []*gpu.Strides{&q.A, &q.B} {
		if s[last] != 0 && s[last] != 1 {
			return false
		}
		for d := uint32(0); d < last && s[last] == 1; d++ {
			if s[d]%4 != 0 {
				return false
			}
		}
	}
	return true
}

func (p *Plan) elements(c *Code, op uint32, l *gpu.Launch, addrs []uint64, n int64) error {
	return p.groups(c, op, l, addrs, n, groupThreads*each)
}

// groups adds a step over n units of work, per units a group, with the launch's
// own arguments and params.
func (p *Plan) groups(c *Code, op uint32, l *gpu.Launch, addrs []uint64, n, per int64) error {
	if n == 0 {
		return nil
	}
	if n > maxCount {
		return gpu.ErrDeclined
	}
	p.add(c, op, line(n, per), l.Params, addrs...)
	return nil
}

// line lays groups out over the two dimensions that sources read as one.
func line(n, per int64) [3]uint32 {
	g := (n + per - 1) / per
	return [3]uint32{uint32(min(g, gridRow)), uint32((g + gridRow - 1) / gridRow), 1}
}

// scratchAddr stands for the scratch buffer until Pack is told where it is.
const scratchAddr = math.MaxUint64

func (p *Plan) add(c *Code, op uint32, grid [3]uint32, params any, addrs ...uint64) {
	s := &p.Steps[p.N]
	p.N++
	s.Code, s.Op, s.Grid, s.params = c, op, grid, params
	s.args, s.scratch = copy(s.addrs[:], addrs), -1
	for i, a := range addrs {
		if a == scratchAddr {
			s.scratch = i
		}
	}
}

// Pack writes the parameter block of the i-th step into dst, which holds at
// least gpu.MaxBlock bytes, and returns its size.
func (p *Plan) Pack(i int, dst []byte, scratch uint64) (int, error) {
	s := &p.Steps[i]
	if s.scratch >= 0 {
		s.addrs[s.scratch] = scratch
	}
	n, err := s.Code.block.Pack(dst, p.dtype, s.addrs[:s.args], s.params)
	if err != nil {
		return 0, fmt.Errorf("kernels: %s: %w", s.Code.Name, err)
	}
	return n, nil
}

// makeColumns is the plan of im2col and col2im.
func (p *Plan) makeColumns(l *gpu.Launch, q *gpu.WindowParams, addrs []uint64) error {
	planes := int64(q.N) * int64(q.C)
	windows, taps, image := int64(q.OH)*int64(q.OW), int64(q.KH)*int64(q.KW), int64(q.H)*int64(q.W)
	if planes*image > maxCount || planes*windows*taps > maxCount {
		return gpu.ErrDeclined
	}
	if l.Kernel == gpu.Col2im {
		return p.elements(col2im, NoOp, l, addrs, planes*image)
	}
	if windows%4 == 0 && p.quads(addrs[1:]) {
		return p.groups(im2colQuad, NoOp, l, addrs, planes*windows*taps/4, groupThreads)
	}
	return p.elements(im2col, NoOp, l, addrs, planes*windows*taps)
}

func (p *Plan) makePool(l *gpu.Launch, q *gpu.PoolParams, addrs []uint64) error {
	planes := int64(q.N) * int64(q.C)
	windows, image := int64(q.OH)*int64(q.OW), int64(q.H)*int64(q.W)
	if planes*image > maxCount || planes*windows > maxCount {
		return gpu.ErrDeclined
	}
	if l.Kernel == gpu.MaxPool {
		pairs := q.KH == 2 && q.KW == 2 && q.SH == 2 && q.SW == 2 && q.PH == 0 && q.PW == 0 && q.DH == 1 && q.DW == 1 && q.W%2 == 0
		if pairs && p.quads(addrs[:1]) {
			return p.elements(maxPool2x2, NoOp, l, addrs, planes*windows)
		}
		return p.elements(maxPool, NoOp, l, addrs, planes*windows)
	}
	apart := q.SH >= q.KH && q.SW >= q.KW && q.DH == 1 && q.DW == 1
	if apart && image%4 == 0 && p.quads(addrs[2:]) {
		return p.groups(maxPoolBwdQuad, NoOp, l, addrs, planes*image/4, groupThreads)
	}
	return p.elements(maxPoolBwd, NoOp, l, addrs, planes*image)
}

// shortAxis is the longest axis that one thread reduces by itself.
const shortAxis = 16

func (p *Plan) makeReduce(q *gpu.ReduceParams, addrs []uint64) error {
	outputs := int64(q.Outer) * int64(q.Inner)
	if outputs == 0 {
		return nil
	}
	if outputs*int64(max(q.Axis, 1)) > maxCount {
		return gpu.ErrDeclined
	}
	chunks := reduceChunks(q)
	first := &p.reduce[0]
	*first = ReducePass{q.Scale, q.Op, q.Outer, q.Axis, q.Inner, (q.Axis + chunks - 1) / chunks, chunks}
	if chunks == 1 {
		p.addReduce(first, addrs[0], addrs[1])
		return nil
	}
	first.Scale = 1
	p.Scratch = outputs * int64(chunks) * p.dtype.Size()
	second := &p.reduce[1]
	*second = ReducePass{q.Scale, q.Op, q.Outer, chunks, q.Inner, chunks, 1}
	p.addReduce(first, addrs[0], scratchAddr)
	p.addReduce(second, scratchAddr, addrs[1])
	return nil
}

// reduceChunks splits a long axis so that some 128 groups have work; a chunk has
// at least 4,096 elements of a row, or 128 rows of columns.
func reduceChunks(q *gpu.ReduceParams) uint32 {
	least, groups := uint32(4096), q.Outer
	if q.Inner > 1 {
		least, groups = 128, q.Outer*((q.Inner+columns-1)/columns)
	}
	if groups >= 64 || q.Axis < 2*least {
		return 1
	}
	return min(q.Axis/least, 128/groups)
}

func (p *Plan) addReduce(r *ReducePass, x, out uint64) {
	outputs := int64(r.Outer) * int64(r.Chunks)
	switch {
	case r.Axis <= shortAxis:
		p.add(reduceThread, r.Op, line(outputs*int64(r.Inner), groupThreads), r, x, out)
	case r.Inner == 1:
		p.add(reduceRow, r.Op, line(outputs, rowsPerGroup(r.Chunk)), r, x, out)
	default:
		p.add(reduceColumn, r.Op, line(outputs*int64((r.Inner+columns-1)/columns), 1), r, x, out)
	}
}
