package host

import (
	"math"
	"math/bits"

	"gradbook/gpu"
)

// philox is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011).
func philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	for range 10 {
		hi0, lo0 := bits.Mul32(0xD2511F53, counter[0])
		hi1, lo1 := bits.Mul32(0xCD9E8D57, counter[2])
		counter = [4]uint32{hi1 ^ counter[1] ^ key[0], lo1, hi0 ^ counter[3] ^ key[1], lo0}
		key[0] += 0x9E3779B9
		key[1] += 0xBB67AE85
	}
	return counter
}

// generator reads a state block.
type generator struct {
	count uint64
	key   [2]uint32
}

func readState(s gpu.Span) generator {
	w := elems[uint32](s)
	return generator{uint64(w[1])<<32 | uint64(w[0]), [2]uint32{w[2], w[3]}}
}

// words are the four random words of elements 4*i to 4*i+3.
func (g generator) words(i int) [4]uint32 {
	c := g.count + uint64(i)
	return philox([4]uint32{uint32(c), uint32(c >> 32)}, g.key)
}

// unit is a word as a number in [0, 1).
func unit(w uint32) float64 { return float64(w>>8) / (1 << 24) }

func random[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.RandomParams)
	g, out := readState(l.Args[0]), elems[T](l.Args[1])[:p.N]
	a, b := float64(T(p.A)), float64(T(p.B))
	parallel((len(out)+3)/4, 4, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			w := g.words(i)
			var v [4]float64
			if p.Dist == gpu.Normal {
				v[0], v[1] = boxMuller(w[0], w[1])
				v[2], v[3] = boxMuller(w[2], w[3])
				for k := range v {
					v[k] = a + b*v[k]
				}
			} else {
				for k := range v {
					v[k] = a + (b-a)*unit(w[k])
				}
			}
			for k := 4 * i; k < min(4*i+4, len(out)); k++ {
				out[k] = T(v[k-4*i])
			}
		}
	})
}

func boxMuller(w0, w1 uint32) (float64, float64) {
	u := float64(w0>>8+1) / (1 << 24)
	r := math.Sqrt(-2 * math.Log(u))
	sin, cos := math.Sincos(2 * math.Pi * unit(w1))
	return r * cos, r * sin
}

func dropout[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.DropoutParams)
	g, x, y, mask := readState(l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2])[:p.N], elems[T](l.Args[3])
	drop := float64(T(p.P))
	keep := T(1 / (1 - drop))
	parallel((len(y)+3)/4, 4, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			w := g.words(i)
			for k := 4 * i; k < min(4*i+4, len(y)); k++ {
				mask[k] = 0
				if unit(w[k-4*i]) >= drop {
					mask[k] = keep
				}
				y[k] = x[k] * mask[k]
			}
		}
	})
}

func count(h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.CountParams)
	w := elems[uint32](l.Args[0])
	lo, carry := bits.Add32(w[0], p.Add, 0)
	w[0], w[1] = lo, w[1]+carry
}
