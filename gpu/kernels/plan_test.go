package kernels

import (
	"errors"
	"reflect"
	"testing"

	"gradbook/gpu"
)

var (
	aGPU = Device{SharedBytes: 48 << 10, Huge: true}
	aCPU = Device{SharedBytes: 32 << 10, Processor: true}
)

func gemm(m, n, k uint32) *gpu.GemmParams {
	return &gpu.GemmParams{Alpha: 1, M: m, N: n, K: k, LDA: k, LDB: n, LDC: n, Batch: 1}
}

func plan(t *testing.T, d Device, k gpu.Kernel, dtype gpu.DType, params any, addrs ...uint64) *Plan {
	t.Helper()
	p := &Plan{}
	if err := p.Make(&gpu.Launch{Kernel: k, DType: dtype, Params: params}, addrs, d); err != nil {
		t.Fatalf("%s%+v: %v", k, params, err)
	}
	return p
}

func TestTileByShape(t *testing.T) {
	for _, c := range []struct {
		what  string
		d     Device
		dtype gpu.DType
		p     *gpu.GemmParams
		addr  uint64
		want  string
	}{
		{"large", aGPU, gpu.Float32, gemm(4096, 4096, 4096), 0, "gemm_huge"},
		{"large, without huge tiles", Device{SharedBytes: 48 << 10}, gpu.Float32, gemm(4096, 4096, 4096), 0, "gemm_large"},
		{"large, float64", aGPU, gpu.Float64, gemm(4096, 4096, 4096), 0, "gemm_large"},
		{"middling", aGPU, gpu.Float32, gemm(1024, 1024, 1024), 0, "gemm_large"},
		{"a layer", aGPU, gpu.Float32, gemm(128, 256, 784), 0, "gemm_medium"},
		{"narrow", aGPU, gpu.Float32, gemm(128, 10, 256), 0, "gemm_small"},
		{"odd address", aGPU, gpu.Float32, gemm(4096, 4096, 4096), 4, "gemm_medium_any"},
		{"odd rows", aGPU, gpu.Float32, gemm(4096, 4095, 4096), 0, "gemm_medium_any"},
		{"little shared memory", Device{SharedBytes: 16 << 10}, gpu.Float64, gemm(512, 512, 512), 0, "gemm_small"},
		{"a software device", aCPU, gpu.Float32, gemm(4096, 4096, 4096), 0, "gemm_plain"},
	} {
		if got := plan(t, c.d, gpu.Gemm, c.dtype, c.p, c.addr, 0, 0).Steps[0].Code.Name; got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// The parts of a split product cover K once, and a second step adds them.
func TestSplits(t *testing.T) {
	for _, k := range []uint32{1, 127, 128, 129, 784, 1000, 4096, 100_000} {
		p := plan(t, aGPU, gpu.Gemm, gpu.Float32, gemm(32, 32, k), 0, 0, 0)
		g := p.gemm[0]
		if g.Splits == 1 {
			if p.N != 1 || p.Scratch != 0 {
				t.Errorf("K %d: %d steps and %d bytes of scratch for one part", k, p.N, p.Scratch)
			}
			continue
		}
		if g.Chunk*g.Splits < k || g.Chunk*(g.Splits-1) >= k || g.Chunk%16 != 0 || g.Chunk < leastChunk || k < leastK {
			t.Errorf("K %d: %d parts of %d", k, g.Splits, g.Chunk)
		}
		if p.N != 2 || p.Steps[1].Code.Name != "gemm_sum" || p.Scratch != int64(g.Splits)*32*32*4 {
			t.Errorf("K %d: %d steps, %d bytes of scratch", k, p.N, p.Scratch)
		}
	}
}

// A reduction's chunks cover its axis once.
func TestReduceChunks(t *testing.T) {
	for _, q := range []gpu.ReduceParams{
		{Outer: 1, Axis: 10_000_000, Inner: 1}, {Outer: 3, Axis: 100_003, Inner: 1}, {Outer: 1, Axis: 5000, Inner: 10}, {Outer: 2, Axis: 0, Inner: 5},
	} {
		p := plan(t, aGPU, gpu.Reduce, gpu.Float32, &q, 0, 0)
		r := p.reduce[0]
		if r.Chunk*r.Chunks < q.Axis || r.Chunks > 1 && r.Chunk*(r.Chunks-1) >= q.Axis {
			t.Errorf("%+v: %d chunks of %d", q, r.Chunks, r.Chunk)
		}
	}
}

// What 32-bit offsets cannot reach is declined, not computed wrongly.
func TestTooLarge(t *testing.T) {
	for _, c := range []struct {
		k      gpu.Kernel
		params any
		args   int
	}{
		{gpu.Fill, &gpu.FillParams{N: 1 << 31}, 1},
		{gpu.Gemm, gemm(70_000, 70_000, 4), 3},
		{gpu.Reduce, &gpu.ReduceParams{Outer: 1 << 16, Axis: 1 << 16, Inner: 1}, 2},
		{gpu.Softmax, &gpu.SoftmaxParams{Rows: 1 << 16, Cols: 1 << 16}, 2},
		{gpu.GatherRows, &gpu.RowsParams{Rows: 1, Width: 1 << 16, Table: 1 << 16}, 3},
		{gpu.Im2col, &gpu.WindowParams{N: 1 << 10, C: 1 << 10, H: 28, W: 28, KH: 3, KW: 3, OH: 28, OW: 28}, 2},
		{gpu.MaxPool, &gpu.PoolParams{N: 1 << 12, C: 1 << 10, H: 28, W: 28, KH: 2, KW: 2, OH: 14, OW: 14, SH: 2, SW: 2, DH: 1, DW: 1}, 3},
		{gpu.Conv2D, conv(1<<16, 64, 64, 28), 4},
		{gpu.Conv2D, &gpu.Conv2DParams{N: 1, C: 1, H: 40, W: 40, O: 1, KH: 16, KW: 16, OH: 25, OW: 25, SH: 1, SW: 1, DH: 1, DW: 1}, 4},
		{gpu.Conv2DParamBwd, conv(1<<16, 64, 64, 28), 4},
	} {
		err := new(Plan).Make(&gpu.Launch{Kernel: c.k, Params: c.params}, make([]uint64, c.args), aGPU)
		if !errors.Is(err, gpu.ErrDeclined) {
			t.Errorf("%s: %v, want a decline", c.k, err)
		}
	}
}

func TestPlanAllocatesNothing(t *testing.T) {
	p := &Plan{}
	l := &gpu.Launch{Kernel: gpu.Gemm, Params: gemm(128, 256, 784)}
	addrs := make([]uint64, 3)
	block := make([]byte, gpu.MaxBlock)
	n := testing.AllocsPerRun(100, func() {
		if err := p.Make(l, addrs, aGPU); err != nil {
			t.Fatal(err)
		}
		for i := range p.N {
			if _, err := p.Pack(i, block, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n > 0 {
		t.Errorf("%v allocations a plan", n)
	}
}

// Every kernel of the table has a plan.
func TestEveryKernelHasPlan(t *testing.T) {
	for k := range gpu.NumKernels {
		info := k.Info()
		l := &gpu.Launch{Kernel: k, DType: info.DTypes[0], Params: reflect.New(reflect.TypeOf(info.Params)).Interface()}
		if err := new(Plan).Make(l, make([]uint64, len(info.Args)), aGPU); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
}
