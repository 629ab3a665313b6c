package kernels

import (
	"fmt"

	"gradbook/gpu"
)

// A tile is a form of src/gemm.slang.
type tile struct {
	name             string
	bm, bn           int
	bkVulkan, bkCUDA int
	qm, qn           int
	buffers          int
	vector           bool
	dtypes           []gpu.DType
	code             *Code
}

func newTile(t tile) tile {
	t.code = entry(t.name, t.name, t.bm/(4*t.qm)*t.bn/(4*t.qn), 4, GemmPass{})
	return t
}

// The tiles, measured on an NVIDIA H200: docs/kernels.md. A thread of huge has 128
// sums in registers, for which float64 has no room.
var (
	huge      = newTile(tile{"gemm_huge", 256, 128, 8, 8, 4, 2, 1, true, floats[:1], nil})
	large     = newTile(tile{"gemm_large", 128, 128, 16, 8, 2, 2, 2, true, floats, nil})
	medium    = newTile(tile{"gemm_medium", 64, 64, 16, 16, 1, 1, 2, true, floats, nil})
	mediumAny = newTile(tile{"gemm_medium_any", 64, 64, 16, 16, 1, 1, 2, false, floats, nil})
	small     = newTile(tile{"gemm_small", 32, 32, 16, 16, 1, 1, 2, false, floats, nil})
)

func gemmModule(t *tile) Module {
	v := 0
	if t.vector {
		v = 1
	}
	return Module{Name: t.name, Source: "gemm", DTypes: t.dtypes, Defines: []string{
		"ENTRY=" + t.name,
		fmt.Sprint("BM=", t.bm), fmt.Sprint("BN=", t.bn),
		fmt.Sprint("BK_VULKAN=", t.bkVulkan), fmt.Sprint("BK_CUDA=", t.bkCUDA),
		fmt.Sprint("QM=", t.qm), fmt.Sprint("QN=", t.qn), fmt.Sprint("BUFFERS=", t.buffers), fmt.Sprint("VECTOR=", v),
	}}
}

func vulkanOnly(m Module) Module {
	m.VulkanOnly = true
	return m
}

// sharedBytes is the most shared memory that a group of the tile takes.
func (t *tile) sharedBytes(d gpu.DType) int {
	bk := t.bkCUDA
	if d == gpu.Float32 {
		bk = max(bk, t.bkVulkan)
	}
	return t.buffers * bk * (t.bm/4 + 1 + t.bn/4 + 1) * 4 * int(d.Size())
}

func (t *tile) across(g *GemmPass) (x, y int64) {
	return (int64(g.N) + int64(t.bn) - 1) / int64(t.bn), (int64(g.M) + int64(t.bm) - 1) / int64(t.bm)
}

// Ends of a product: as in src/gemm_end.slang.
const (
	endGemm = iota
	endLinear
	endParamBwd
)

func (p *Plan) makeGemm(q *gpu.GemmParams, addrs []uint64, d Device) error {
	p.gemm[0] = GemmPass{Alpha: q.Alpha, Beta: q.Beta, TransA: q.TransA, TransB: q.TransB,
		M: q.M, N: q.N, K: q.K, LDA: q.LDA, LDB: q.LDB, LDC: q.LDC, Batch: q.Batch,
		StrideA: q.StrideA, StrideB: q.StrideB, StrideC: q.StrideC, End: endGemm}
	return p.product(d, addrs[0], addrs[1], addrs[2], addrs[2])
}

func (p *Plan) makeLinear(q *gpu.LinearParams, addrs []uint64, d Device) error {
	p.gemm[0] = GemmPass{TransB: 1, M: q.Rows, N: q.Out, K: q.In, LDA: q.In, LDB: q.In, LDC: q.Out,
		Batch: 1, End: endLinear, Act: q.Act}
	err := p.product(d, addrs[0], addrs[1], addrs[3], addrs[2])
	if err == nil && p.N > 0 {
		p.activate(addrs[3], addrs[2])
	}
	return err
}

// activate adds what gemm_sum and the tiles leave of linear's activation.
func (p *Plan) activate(y, bias uint64) {
	g := &p.gemm[0]
	if g.Act != gpu.Identity && g.Act != gpu.ReLU {
		p.add(gemmActivate, g.Act, line(int64(g.M)*int64(g.N), groupThreads*each), g, y, y, y, bias)
	}
}

// makeLinearParamBwd sums db in the tiles that make the first columns of dw, from
// the shared tile of dy that they have anyway: on an H200 that is faster than a
// gemm and a sum of rows for every layer measured, by 4.4 us for a small one and by
// 1 to 4% for the widest (docs/kernels.md).
func (p *Plan) makeLinearParamBwd(q *gpu.LinearParamBwdParams, addrs []uint64, d Device) error {
	g := &p.gemm[0]
	*g = GemmPass{TransA: 1, M: q.Out, N: q.In, K: q.Rows, LDA: q.Out, LDB: q.In, LDC: q.In,
		Batch: 1, End: endParamBwd}
	return p.product(d, addrs[0], addrs[1], addrs[2], addrs[3])
}

// product adds the steps of p.gemm[0].
func (p *Plan) product(d Device, a, b, c, bias uint64) error {
	g := &p.gemm[0]
	if g.M == 0 || g.N == 0 || g.Batch == 0 {
		return nil
	}
	if !g.indexable() {
		return gpu.ErrDeclined
	}
	g.Splits, g.Chunk = 1, g.K
	if d.Processor {
		blocks := (int64(g.M) + 7) / 8 * ((int64(g.N) + 7) / 8)
		if blocks/64 >= 65535 || g.Batch > 65535 {
			return gpu.ErrDeclined
		}
		p.add(gemmPlain, NoOp, [3]uint32{uint32((blocks + 63) / 64), 1, g.Batch}, g, a, b, c, bias)
		return nil
	}
	t := p.tileFor(g, d, a|b|c)
	x, y := t.across(g)
	g.Splits, g.Chunk = split(g, t, x*y*int64(g.Batch))
	z := int64(g.Batch) * int64(g.Splits)
	if x > 65535 || y > 65535 || z > 65535 {
		return gpu.ErrDeclined
	}
	grid := [3]uint32{uint32(x), uint32(y), uint32(z)}
	if g.Splits == 1 {
		p.add(t.code, g.form(), grid, g, a, b, c, bias)
		return nil
	}
	rows := int64(0)
	if g.End == endParamBwd {
		rows = int64(g.M)
	}
	outputs := int64(g.Batch)*int64(g.M)*int64(g.N) + rows
	p.Scratch = outputs * int64(g.Splits) * p.dtype.Size()
	p.gemm[1] = *g
	p.add(t.code, g.form(), grid, g, a, b, scratchAddr, bias)
	p.add(gemmSum, NoOp, line(outputs, groupThreads), &p.gemm[1], scratchAddr, b, c, bias)
	return nil
}

// form is what src/gemm.slang branches on in its loops.
func (g *GemmPass) form() uint32 {
	f := g.TransA | g.TransB<<1
	if g.End == endParamBwd {
		f |= 4
	}
	return f
}

// indexable reports whether every matrix of one product lies within the reach of
// 32-bit offsets; the batch's steps are added to 64-bit addresses.
func (g *GemmPass) indexable() bool {
	rowsA, rowsB := int64(g.M), int64(g.K)
	if g.TransA != 0 {
		rowsA = int64(g.K)
	}
	if g.TransB != 0 {
		rowsB = int64(g.N)
	}
	n := int64(max(g.Batch, 1) - 1)
	return rowsA*int64(g.LDA)+n*int64(g.StrideA) <= maxCount &&
		rowsB*int64(g.LDB)+n*int64(g.StrideB) <= maxCount &&
		int64(g.M)*int64(g.LDC)+n*int64(g.StrideC) <= maxCount
}

// groupsWanted is how many groups keep a large GPU busy; a constant, so that the
// order of summation does not depend on the device.
const groupsWanted = 128

// K is split from leastK on, into parts of leastChunk or more. On an H200 a product
// of 4,096 by 64 by 64 takes 5.3 us whole, and 6.1 in two parts.
const (
	leastK     = 128
	leastChunk = 32
)

// tileFor chooses the tile by shape. addrs are the addresses, or-ed together.
func (p *Plan) tileFor(g *GemmPass, d Device, addrs uint64) *tile {
	fits := func(t *tile) bool { return t.sharedBytes(p.dtype) <= d.SharedBytes }
	vector := addrs%(4*uint64(p.dtype.Size())) == 0 &&
		(g.LDA|g.LDB|g.LDC|g.StrideA|g.StrideB|g.StrideC|g.N)%4 == 0 &&
		(g.TransA != 0 && g.M%4 == 0 || g.TransA == 0 && g.K%4 == 0) &&
		(g.TransB == 0 || g.K%4 == 0)
	if x, y := huge.across(g); vector && d.Huge && p.dtype == gpu.Float32 && x*y*int64(g.Batch) >= 3*groupsWanted/4 && fits(&huge) {
		return &huge
	}
	if x, y := large.across(g); vector && x*y*int64(g.Batch) >= groupsWanted/2 && fits(&large) {
		return &large
	}
	if g.M <= 32 || g.N <= 32 || !fits(&medium) {
		return &small
	}
	if vector {
		return &medium
	}
	return &mediumAny
}

// split divides K where there are too few tiles to fill a GPU.
func split(g *GemmPass, t *tile, tiles int64) (splits, chunk uint32) {
	want := uint32(groupsWanted / tiles)
	if want < 2 || g.K < leastK {
		return 1, g.K
	}
	splits = min(want, g.K/leastChunk)
	bk := uint32(max(t.bkVulkan, t.bkCUDA))
	chunk = ((g.K+splits-1)/splits + bk - 1) / bk * bk
	return (g.K + chunk - 1) / chunk, chunk
}
