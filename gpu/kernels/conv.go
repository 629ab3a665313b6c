package kernels

import (
	"fmt"

	"gradbook/gpu"
)

// ConvPass is a convolution in one of its directions: see src/conv.slang and
// src/conv_param.slang.
type ConvPass struct {
	Act            uint32
	N, C, H, W     uint32
	O              uint32
	KH, KW, OH, OW uint32
	SH, SW         uint32
	PH, PW         uint32
	DH, DW         uint32
	Splits, Chunk  uint32 // of the pixels that conv2d_param_bwd adds up
	Quads          uint32 // 1: results are stored four at once
}

// A convTile is a form of src/conv.slang or src/conv_param.slang.
type convTile struct {
	name    string
	source  string
	bm, bn  int
	depth   int
	qm, qn  int
	buffers int
	defines []string
	code    *Code
}

func newConvTile(t convTile) convTile {
	t.code = entry(t.name, t.name, t.bm/(4*t.qm)*t.bn/(4*t.qn), 4, ConvPass{})
	return t
}

// The tiles, measured on an NVIDIA H200: docs/kernels.md.
var (
	conv64      = newConvTile(convTile{"conv_64", "conv", 64, 256, 16, 2, 2, 2, []string{"BACKWARD=0"}, nil})
	conv32      = newConvTile(convTile{"conv_32", "conv", 32, 256, 8, 2, 2, 2, []string{"BACKWARD=0"}, nil})
	convBwd64   = newConvTile(convTile{"conv_bwd_64", "conv", 64, 256, 16, 2, 2, 2, []string{"BACKWARD=1"}, nil})
	convBwd32   = newConvTile(convTile{"conv_bwd_32", "conv", 32, 256, 8, 2, 2, 2, []string{"BACKWARD=1"}, nil})
	convParam64 = newConvTile(convTile{"conv_param_64", "conv_param", 64, 96, 16, 2, 2, 2, nil, nil})
)

// convNarrow is src/conv_narrow.slang, which has no tiles in shared memory.
var convNarrow = entry("conv_narrow", "conv_narrow", 128, 4, ConvPass{})

// narrowRows and narrowColumns are its ROWS and COLUMNS; it is taken for up to so
// many columns.
const (
	narrowRows    = 8
	narrowColumns = 9
	mostNarrow    = 3 * narrowColumns
)

func (t *convTile) module() Module {
	return Module{Name: t.name, Source: t.source, DTypes: floats, Defines: append([]string{
		"ENTRY=" + t.name,
		fmt.Sprint("BM=", t.bm), fmt.Sprint("BN=", t.bn), fmt.Sprint("DEPTH=", t.depth),
		fmt.Sprint("QM=", t.qm), fmt.Sprint("QN=", t.qn), fmt.Sprint("BUFFERS=", t.buffers),
	}, t.defines...)}
}

// sharedBytes is the shared memory that a group of the tile takes.
func (t *convTile) sharedBytes(d gpu.DType) int {
	depth, table := t.depth, 3*4*convTable
	if d == gpu.Float64 {
		depth /= 2
	}
	if t.source == "conv_param" {
		table = 2 * 4 * t.bn
	}
	return t.buffers*depth*(t.bm+4+t.bn+4)*int(d.Size()) + table
}

// convTable is how many taps the table of src/conv.slang has: TABLE there.
const convTable = 512

// mostPlaced is how many elements images may have, so that places of windows that
// start outside of them can be counted as well.
const mostPlaced = 1 << 30

// mostTaps is how many rows and columns a window may have for all to have a bit.
const mostTaps = 31

func (p *Plan) makeConv(k gpu.Kernel, q *gpu.Conv2DParams, addrs []uint64, d Device) error {
	image, result, weights := int64(q.C)*int64(q.H)*int64(q.W), int64(q.OH)*int64(q.OW), int64(q.O)*int64(q.C)*int64(q.KH)*int64(q.KW)
	if d.Processor || q.KH+q.KW > mostTaps || int64(q.N)*max(image, int64(q.O)*result) > mostPlaced || weights > maxCount {
		return gpu.ErrDeclined
	}
	c := &p.conv
	*c = ConvPass{Act: q.Act, N: q.N, C: q.C, H: q.H, W: q.W, O: q.O, KH: q.KH, KW: q.KW, OH: q.OH, OW: q.OW,
		SH: q.SH, SW: q.SW, PH: q.PH, PW: q.PW, DH: q.DH, DW: q.DW, Splits: 1}
	switch k {
	case gpu.Conv2D:
		t := &conv64
		if q.O <= 32 {
			t = &conv32
		}
		if err := p.convolve(t, q.O, q.OH*q.OW, d, addrs[0], addrs[1], addrs[2], addrs[3]); err != nil {
			return err
		}
		if p.N > 0 {
			p.gemm[0] = GemmPass{M: q.N * q.O, N: q.OH * q.OW, Act: q.Act}
			p.activate(addrs[3], addrs[2])
		}
		return nil
	case gpu.Conv2DBwd:
		t := &convBwd64
		if q.C <= 32 {
			t = &convBwd32
		}
		return p.convolve(t, q.C, q.H*q.W, d, addrs[0], addrs[1], addrs[1], addrs[2])
	}
	return p.convParams(d, addrs)
}

// convolve adds the step of p.conv that makes result planes of so many
// pixels.
func (p *Plan) convolve(t *convTile, channels, plane uint32, d Device, x, w, b, out uint64) error {
	c := &p.conv
	pixels := int64(c.N) * int64(plane)
	if pixels == 0 || channels == 0 {
		return nil
	}
	across := (channels + uint32(t.bm) - 1) / uint32(t.bm)
	if t.sharedBytes(p.dtype) > d.SharedBytes || across > 65535 {
		return gpu.ErrDeclined
	}
	c.Quads = 0
	if plane%4 == 0 && p.quads([]uint64{out}) {
		c.Quads = 1
	}
	grid := line(pixels, int64(t.bn))
	grid[2] = across
	p.add(t.code, NoOp, grid, c, x, w, b, out)
	return nil
}

// convGroups is how many groups conv2d_param_bwd's parts are to keep busy, half of
// what conv_narrow takes: a constant, so that the order of summation does not depend
// on the device.
const convGroups = 512

func (p *Plan) convParams(d Device, addrs []uint64) error {
	c := &p.conv
	columns, pixels := int64(c.C)*int64(c.KH)*int64(c.KW), int64(c.N)*int64(c.OH)*int64(c.OW)
	if c.O == 0 || columns == 0 {
		return nil
	}
	t := &convParam64
	code, bm, bn, step, groups := t.code, int64(t.bm), int64(t.bn), int64(16), int64(convGroups)
	if columns <= mostNarrow {
		code, bm, bn, step, groups = convNarrow, narrowRows, narrowColumns, int64(convNarrow.Threads), 2*convGroups
	} else if t.sharedBytes(p.dtype) > d.SharedBytes {
		return gpu.ErrDeclined
	}
	// A part is 8 steps or more.
	x, y := (columns+bn-1)/bn, (int64(c.O)+bm-1)/bm
	splits := max(min(groups/(x*y), pixels/(8*step)), 1)
	chunk := max((pixels+splits-1)/splits+step-1, step) / step * step
	splits = max((pixels+chunk-1)/chunk, 1)
	c.Splits, c.Chunk = uint32(splits), uint32(chunk)
	size := int64(c.O) * (columns + 1)
	if y > 65535 || size*splits > maxCount {
		return gpu.ErrDeclined
	}
	c.Quads = 0
	if columns%4 == 0 && c.O%4 == 0 && p.quads(addrs[2:3]) {
		c.Quads = 1
	}
	grid := [3]uint32{uint32(x), uint32(y), c.Splits}
	if splits == 1 {
		p.add(code, NoOp, grid, c, addrs[1], addrs[0], addrs[3], addrs[2])
		return nil
	}
	p.Scratch = size * splits * p.dtype.Size()
	p.add(code, NoOp, grid, c, addrs[1], addrs[0], addrs[3], scratchAddr)
	p.add(convSum, NoOp, line(size, 8), c, scratchAddr, addrs[0], addrs[3], addrs[2])
	return nil
}
