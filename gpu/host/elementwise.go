package host

import "gradbook/gpu"

func fill[T element](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.FillParams)
	out := elems[T](l.Args[0])[:p.N]
	for i := range out {
		out[i] = T(p.Value)
	}
}

func arange[T element](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.ArangeParams)
	start, step := float64(T(p.Start)), float64(T(p.Step))
	for i := range p.N {
		elems[T](l.Args[0])[i] = T(start + float64(i)*step)
	}
}

func copyStrided[T element](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.CopyParams)
	x, out := elems[T](l.Args[0]), elems[T](l.Args[1])
	walk(p.N, p.Rank, &p.Dims, &p.X, &p.X, func(i, at, _, n, step, _ int) {
		if step == 1 {
			copy(out[i:i+n], x[at:at+n])
			return
		}
		for k := range n {
			out[i+k] = x[at+k*step]
		}
	})
}

func paste[T element](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.PasteParams)
	x, dst := elems[T](l.Args[0]), elems[T](l.Args[1])
	walk(p.N, p.Rank, &p.Dims, &p.Dst, &p.Dst, func(i, at, _, n, step, _ int) {
		for k := range n {
			dst[at+k*step] = x[i+k]
		}
	})
}

func cast[T element](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.CastParams)
	out := elems[T](l.Args[1])[:p.N]
	switch gpu.DType(p.From) {
	case gpu.Float32:
		convert(out, elems[float32](l.Args[0]))
	case gpu.Float64:
		convert(out, elems[float64](l.Args[0]))
	case gpu.Int32:
		convert(out, elems[int32](l.Args[0]))
	}
}

func convert[T, S element](out []T, x []S) {
	for i := range out {
		out[i] = T(x[i])
	}
}

func unary[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.UnaryParams)
	x, out := elems[T](l.Args[0])[:p.N], elems[T](l.Args[1])[:p.N]
	scale, offset := float64(T(p.Scale)), float64(T(p.Offset))
	if p.Op == gpu.ReLU && scale == 1 && offset == 0 {
		reluRow(out, x)
		return
	}
	f := unaryFuncs[p.Op]
	parallel(len(out), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = T(scale*f(float64(x[i])) + offset)
		}
	})
}

func binary[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.BinaryParams)
	a, b, out := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2])
	scale, offset := float64(T(p.Scale)), float64(T(p.Offset))
	f := binaryFuncs[p.Op]
	plain := scale == 1 && offset == 0
	walk(p.N, p.Rank, &p.Dims, &p.A, &p.B, func(i, ai, bi, n, as, bs int) {
		if plain && as == 1 && bs == 1 && binaryRow(p.Op, out[i:i+n], a[ai:], b[bi:]) {
			return
		}
		for k := range n {
			out[i+k] = T(scale*f(float64(a[ai+k*as]), float64(b[bi+k*bs])) + offset)
		}
	})
}

func axpby[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.AxpbyParams)
	x, y := elems[T](l.Args[0])[:p.N], elems[T](l.Args[1])[:p.N]
	alpha, beta := float64(T(p.Alpha)), float64(T(p.Beta))
	for i := range y {
		if beta == 0 {
			y[i] = T(alpha * float64(x[i]))
		} else {
			y[i] = T(alpha*float64(x[i]) + beta*float64(y[i]))
		}
	}
}

func where[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.WhereParams)
	cond, a, b, out := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2]), elems[T](l.Args[3])
	for i := range p.N {
		if cond[i] != 0 {
			out[i] = a[i]
		} else {
			out[i] = b[i]
		}
	}
}

// walk visits the innermost rows of a shape in dense order. f is given the
// dense index of a row's first element, its place in two strided operands, the
// row's length, and the operands' steps along it.
func walk(n, rank uint32, dims *gpu.Dims, a, b *gpu.Strides, f func(i, a, b, n, aStep, bStep int)) {
	if n == 0 {
		return
	}
	if rank == 0 {
		f(0, 0, 0, 1, 0, 0)
		return
	}
	last := rank - 1
	length := int(dims[last])
	var index gpu.Dims
	ai, bi := 0, 0
	for i := 0; i < int(n); i += length {
		f(i, ai, bi, length, int(a[last]), int(b[last]))
		for d := int(last) - 1; d >= 0; d-- {
			index[d]++
			ai += int(a[d])
			bi += int(b[d])
			if index[d] < dims[d] {
				break
			}
			ai -= int(a[d]) * int(dims[d])
			bi -= int(b[d]) * int(dims[d])
			index[d] = 0
		}
	}
}
