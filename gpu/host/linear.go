package host

import "gradbook/gpu"

func gemm[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.GemmParams)
	a, b, c := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2])
	for i := range int(p.Batch) {
		product(h, matrix[T]{a[min(i*int(p.StrideA), len(a)):], int(p.LDA), p.TransA != 0},
			matrix[T]{b[min(i*int(p.StrideB), len(b)):], int(p.LDB), p.TransB != 0},
			matrix[T]{c[min(i*int(p.StrideC), len(c)):], int(p.LDC), false},
			int(p.M), int(p.N), int(p.K), p.Alpha, p.Beta)
	}
}

func linear[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.LinearParams)
	x, w, b, y := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2]), elems[T](l.Args[3])
	rows, in, out := int(p.Rows), int(p.In), int(p.Out)
	for r := range rows {
		copy(y[r*out:(r+1)*out], b)
	}
	product(h, matrix[T]{x, in, false}, matrix[T]{w, in, true}, matrix[T]{y, out, false}, rows, out, in, 1, 1)
	if p.Act != gpu.Identity {
		f := unaryFuncs[p.Act]
		parallel(rows*out, 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = T(f(float64(y[i])))
			}
		})
	}
}

func linearParamBwd[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.LinearParamBwdParams)
	dy, x, dw, db := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2]), elems[T](l.Args[3])
	rows, in, out := int(p.Rows), int(p.In), int(p.Out)
	product(h, matrix[T]{dy, out, true}, matrix[T]{x, in, false}, matrix[T]{dw, in, false}, out, in, rows, 1, 0)
	sums := make([]float64, out)
	for r := range rows {
		for c := range sums {
			sums[c] += float64(dy[r*out+c])
		}
	}
	for c, s := range sums {
		db[c] = T(s)
	}
}
