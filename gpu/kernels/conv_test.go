package kernels

import (
	"errors"
	"testing"

	"gradbook/gpu"
)

// conv is a convolution of n images of size by size with kernels of 3 by 3.
func conv(n, in, out, size uint32) *gpu.Conv2DParams {
	return &gpu.Conv2DParams{N: n, C: in, H: size, W: size, O: out, KH: 3, KW: 3, OH: size, OW: size,
		SH: 1, SW: 1, PH: 1, PW: 1, DH: 1, DW: 1}
}

func TestConvTiles(t *testing.T) {
	for _, c := range []struct {
		what   string
		kernel gpu.Kernel
		p      *gpu.Conv2DParams
		addrs  []uint64
		want   string
		quads  uint32
	}{
		{"one channel in", gpu.Conv2D, conv(8, 1, 32, 28), []uint64{0, 0, 0, 0}, "conv_32", 1},
		{"many channels", gpu.Conv2D, conv(8, 32, 64, 14), []uint64{0, 0, 0, 0}, "conv_64", 1},
		{"planes not in fours", gpu.Conv2D, conv(8, 32, 64, 7), []uint64{0, 0, 0, 0}, "conv_64", 0},
		{"odd address", gpu.Conv2D, conv(8, 32, 64, 14), []uint64{0, 0, 0, 4}, "conv_64", 0},
		{"backward", gpu.Conv2DBwd, conv(8, 32, 64, 14), []uint64{0, 0, 0}, "conv_bwd_32", 1},
		{"backward, many channels", gpu.Conv2DBwd, conv(8, 64, 32, 14), []uint64{0, 0, 0}, "conv_bwd_64", 1},
		{"few weights", gpu.Conv2DParamBwd, conv(8, 1, 32, 28), []uint64{0, 0, 0, 0}, "conv_narrow", 0},
		{"many weights", gpu.Conv2DParamBwd, conv(8, 32, 64, 14), []uint64{0, 0, 0, 0}, "conv_param_64", 1},
	} {
		p := plan(t, aGPU, c.kernel, gpu.Float32, c.p, c.addrs...)
		if got := p.Steps[0].Code.Name; got != c.want || p.conv.Quads != c.quads {
			t.Errorf("%s: %s, quads %d, want %s, %d", c.what, got, p.conv.Quads, c.want, c.quads)
		}
	}
	err := new(Plan).Make(&gpu.Launch{Kernel: gpu.Conv2D, Params: conv(8, 32, 64, 14)}, make([]uint64, 4), aCPU)
	if !errors.Is(err, gpu.ErrDeclined) {
		t.Errorf("a software device got %v, want a decline", err)
	}
}

// The parts of a sum over pixels cover them once, each has room, and a second
// step adds them.
func TestConvParts(t *testing.T) {
	for _, n := range []uint32{0, 1, 3, 17, 128, 1000} {
		q := conv(n, 32, 64, 14)
		p := plan(t, aGPU, gpu.Conv2DParamBwd, gpu.Float32, q, 0, 0, 0, 0)
		c, pixels := p.conv, n*14*14
		if c.Chunk*c.Splits < pixels || c.Splits > 1 && c.Chunk*(c.Splits-1) >= pixels || c.Chunk%16 != 0 || c.Splits == 0 {
			t.Errorf("%d images: %d parts of %d", n, c.Splits, c.Chunk)
		}
		switch {
		case c.Splits == 1 && (p.N != 1 || p.Scratch != 0):
			t.Errorf("%d images: %d steps and %d bytes of scratch for one part", n, p.N, p.Scratch)
		case c.Splits > 1 && (p.N != 2 || p.Steps[1].Code != convSum || p.Scratch != int64(c.Splits)*64*(288+1)*4):
			t.Errorf("%d images: %d steps, %d bytes of scratch", n, p.N, p.Scratch)
		}
	}
}
