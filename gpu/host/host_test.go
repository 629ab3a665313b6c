package host

import (
	"math"
	"testing"
)

// The vectors are those that Random123 ships for philox4x32-10.
func TestPhiloxKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)}, [2]uint32{^uint32(0), ^uint32(0)},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := philox(c.counter, c.key); got != c.want {
			t.Errorf("philox(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

// Every library must give the product that a plain loop gives.
func TestProduct(t *testing.T) {
	const m, n, k = 5, 7, 11
	for _, lib := range libraries() {
		for _, trans := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			a := matrix[float64]{fillRamp(m*k, 1), k, trans[0]}
			if a.trans {
				a.ld = m
			}
			b := matrix[float64]{fillRamp(k*n, 2), n, trans[1]}
			if b.trans {
				b.ld = k
			}
			c := matrix[float64]{fillRamp(m*n, 3), n, false}
			want := make([]float64, m*n)
			for i := range m {
				for j := range n {
					s := 0.0
					for p := range k {
						av, bv := a.data[i*k+p%k], b.data[p*n+j]
						if a.trans {
							av = a.data[p*m+i]
						}
						if b.trans {
							bv = b.data[j*k+p]
						}
						s += av * bv
					}
					want[i*n+j] = 2*s + 0.5*c.data[i*n+j]
				}
			}
			product(&backend{blas: lib}, a, b, c, m, n, k, 2, 0.5)
			for i := range want {
				if math.Abs(c.data[i]-want[i]) > 1e-9 {
					t.Fatalf("%s, transposed %v: element %d is %g, want %g", lib.name(), trans, i, c.data[i], want[i])
				}
			}
		}
	}
}

func fillRamp(n int, seed float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(seed + float64(i))
	}
	return x
}
