package host

import "gradbook/gpu"

func reduce[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.ReduceParams)
	x, out := elems[T](l.Args[0]), elems[T](l.Args[1])
	scale := float64(T(p.Scale))
	axis, inner := int(p.Axis), int(p.Inner)
	for o := range int(p.Outer) {
		for i := range inner {
			column := x[o*axis*inner:]
			var r float64
			switch p.Op {
			case gpu.ReduceSum:
				for k := range axis {
					r += float64(column[k*inner+i])
				}
			case gpu.ReduceMax:
				r = float64(column[i])
				for k := 1; k < axis; k++ {
					r = larger(r, float64(column[k*inner+i]))
				}
			case gpu.ReduceMin:
				r = float64(column[i])
				for k := 1; k < axis; k++ {
					r = -larger(-r, -float64(column[k*inner+i]))
				}
			}
			out[o*inner+i] = T(scale * r)
		}
	}
}

func argMax[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.ArgMaxParams)
	x, out := elems[T](l.Args[0]), elems[int32](l.Args[1])
	axis, inner := int(p.Axis), int(p.Inner)
	for o := range int(p.Outer) {
		for i := range inner {
			column := x[o*axis*inner:]
			best, at := column[i], 0
			for k := 1; k < axis; k++ {
				if v := column[k*inner+i]; beats(v, best) {
					best, at = v, k
				}
			}
			out[o*inner+i] = int32(at)
		}
	}
}

// beats reports whether v is larger than best; a NaN is larger than numbers.
func beats[T float](v, best T) bool {
	return v > best || v != v && best == best
}
