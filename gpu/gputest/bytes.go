package gputest

import (
	"encoding/binary"
	"math"

	"gradbook/gpu"
)

// encode writes elements of a dtype; those of a state block are unsigned.
func encode(dst []byte, t gpu.DType, x []float64, as gpu.ArgType) {
	for i, v := range x {
		switch {
		case as == gpu.State:
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
		case t == gpu.Float32:
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(v)))
		case t == gpu.Float64:
			binary.LittleEndian.PutUint64(dst[8*i:], math.Float64bits(v))
		default:
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(int32(v)))
		}
	}
}

func decode(src []byte, t gpu.DType, as gpu.ArgType) []float64 {
	x := make([]float64, len(src)/int(t.Size()))
	for i := range x {
		switch {
		case as == gpu.State:
			x[i] = float64(binary.LittleEndian.Uint32(src[4*i:]))
		case t == gpu.Float32:
			x[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
		case t == gpu.Float64:
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		default:
			x[i] = float64(int32(binary.LittleEndian.Uint32(src[4*i:])))
		}
	}
	return x
}
