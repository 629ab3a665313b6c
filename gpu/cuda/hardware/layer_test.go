package hardware

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"gradbook/gpu"
)

// A layer's products at sizes beyond the conformance suite's, where the library
// takes other algorithms: the same bits each time, eagerly and recorded, and a
// NaN in a row of x is in all of y's row and in no other, through ReLU too.
func TestLargeLayers(t *testing.T) {
	for _, tf32 := range []string{"", "1"} {
		t.Setenv("GRADBOOK_TF32", tf32)
		b := open(t)
		for _, s := range [][3]uint32{{1024, 2048, 2048}, {4096, 1024, 1024}, {1024, 2048, 10}, {1000, 784, 516}, {515, 1023, 517}} {
			rows, in, out := s[0], s[1], s[2]
			t.Run(fmt.Sprintf("tf32=%s/%dx%dx%d", tf32, rows, in, out), func(t *testing.T) {
				bad := rows / 3
				x := random(t, b, gpu.Float32, rows*in)
				at := x
				at.Offset, at.Bytes = int64(bad*in+5)*4, 4
				if err := b.Upload(at, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))); err != nil {
					t.Fatal(err)
				}
				y := thrice(t, b, gpu.Launch{Kernel: gpu.Linear, DType: gpu.Float32, Params: &gpu.LinearParams{Act: gpu.ReLU, Rows: rows, In: in, Out: out},
					Args: []gpu.Span{x, random(t, b, gpu.Float32, in*out), random(t, b, gpu.Float32, out), random(t, b, gpu.Float32, rows*out)}})
				wrong := 0
				for i, v := range y[0] {
					if nan := v != v; nan != (uint32(i)/out == bad) || v < 0 {
						wrong++
					}
				}
				if wrong > 0 {
					t.Errorf("linear: %d elements are NaN where they must not be, or a number where they must not, or negative", wrong)
				}
				thrice(t, b, gpu.Launch{Kernel: gpu.LinearParamBwd, DType: gpu.Float32, Params: &gpu.LinearParamBwdParams{Rows: rows, In: in, Out: out},
					Args: []gpu.Span{random(t, b, gpu.Float32, rows*out), random(t, b, gpu.Float32, rows*in), random(t, b, gpu.Float32, in*out), random(t, b, gpu.Float32, out)}})
			})
		}
	}
}

// thrice runs a launch twice, and recorded, sees that what it writes has the
// same bits, and returns that.
func thrice(t *testing.T, b gpu.Backend, l gpu.Launch) (results [][]float32) {
	t.Helper()
	r, err := b.Record([]gpu.Launch{l}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var first [][]byte
	for i, run := range []func() error{func() error { return b.Launch(l) }, func() error { return b.Launch(l) }, func() error { return r.Replay(nil) }} {
		if err := run(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for k, a := range l.Kernel.Info().Args {
			if a.Access == gpu.In {
				continue
			}
			got := make([]byte, l.Args[k].Bytes)
			if err := b.Download(got, l.Args[k]); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = append(first, got)
			} else if !bytes.Equal(got, first[n]) {
				t.Errorf("%s: argument %s has other bits in run %d", l.Kernel, a.Name, i+1)
			}
			n++
		}
	}
	for _, bits := range first {
		x := make([]float32, len(bits)/4)
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(bits[4*i:]))
		}
		results = append(results, x)
	}
	for _, a := range l.Args {
		b.Free(a.Buffer)
	}
	return results
}
