package host

import "gradbook/gpu"

// reduce goes along the axis once for a row of outputs, since neighbours in x
// are neighbours in out.
func reduce[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.ReduceParams)
	x, out := elems[T](l.Args[0]), elems[T](l.Args[1])
	scale := float64(T(p.Scale))
	axis, inner := int(p.Axis), int(p.Inner)
	fold := func(o, lo, hi int) {
		r := make([]float64, hi-lo)
		for k := range axis {
			at := (o*axis + k) * inner
			row := x[at+lo : at+hi]
			switch {
			case p.Op == gpu.ReduceSum:
				for i, v := range row {
					r[i] += float64(v)
				}
			case k == 0:
				for i, v := range row {
					r[i] = float64(v)
				}
			case p.Op == gpu.ReduceMax:
				for i, v := range row {
					r[i] = larger(r[i], float64(v))
				}
			case p.Op == gpu.ReduceMin:
				for i, v := range row {
					r[i] = -larger(-r[i], -float64(v))
				}
			}
		}
		for i, v := range r {
			out[o*inner+lo+i] = T(scale * v)
		}
	}
	if p.Outer == 1 {
		parallel(inner, axis, func(lo, hi int) { fold(0, lo, hi) })
		return
	}
	parallel(int(p.Outer), axis*inner, func(lo, hi int) {
		for o := lo; o < hi; o++ {
			fold(o, 0, inner)
		}
	})
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
