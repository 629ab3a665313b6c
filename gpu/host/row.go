package host

import "gradbook/gpu"

// The functions here are what training spends its elements on, without a call
// for each: 0.6 instead of 3.3 ns an element. A sum, difference, product or
// quotient in float32 is what the same in float64 rounds to, so the bits are
// those of the loops that they stand for.

// binaryRow does a row of dense operands, if the function has its own loop.
func binaryRow[T float](op gpu.BinaryOp, out, a, b []T) bool {
	a, b = a[:len(out)], b[:len(out)]
	switch op {
	case gpu.Add:
		for i := range out {
			out[i] = a[i] + b[i]
		}
	case gpu.Sub:
		for i := range out {
			out[i] = a[i] - b[i]
		}
	case gpu.Mul:
		for i := range out {
			out[i] = a[i] * b[i]
		}
	case gpu.Div:
		for i := range out {
			out[i] = a[i] / b[i]
		}
	case gpu.ReLUBwd:
		for i := range out {
			out[i] = a[i]
			if !(b[i] > 0) {
				out[i] = 0
			}
		}
	default:
		return false
	}
	return true
}

func reluRow[T float](out, x []T) {
	for i, v := range x {
		if v < 0 {
			v = 0
		}
		out[i] = v
	}
}
