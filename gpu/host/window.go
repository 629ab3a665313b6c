package host

import "gradbook/gpu"

// windowRow is a row of windows seen at one of their places: the pixels under
// place (kh, kw) of the windows (oh, 0) to (oh, OW-1) of a plane.
type windowRow struct {
	place  int // kh*KW + kw
	column int // of the first window, in the column matrix
	window int // the first window, among all windows of all planes
	pixel  int // under the first window; it may be outside the image
	step   int // from pixel to pixel
	lo, hi int // windows whose pixel is inside the image
}

// windows visits the rows of windows of every plane, in column order within a
// plane. Planes do not depend on each other.
func windows(p *gpu.WindowParams, f func(r windowRow)) {
	ow, rows := int(p.OW), int(p.OH)
	places := int(p.KH * p.KW)
	parallel(int(p.N*p.C), places*rows*ow, func(from, to int) {
		for plane := from; plane < to; plane++ {
			for place := range places {
				kh, kw := place/int(p.KW), place%int(p.KW)
				left := kw*int(p.DW) - int(p.PW) // of the first window's pixel
				lo := min(max(0, ceilDiv(-left, int(p.SW))), ow)
				hi := min(max(lo, ceilDiv(int(p.W)-left, int(p.SW))), ow)
				for oh := range rows {
					row := oh*int(p.SH) + kh*int(p.DH) - int(p.PH)
					r := windowRow{
						place:  place,
						column: ((plane*places+place)*rows + oh) * ow,
						window: (plane*rows + oh) * ow,
						pixel:  (plane*int(p.H)+row)*int(p.W) + left,
						step:   int(p.SW),
						lo:     lo, hi: hi,
					}
					if row < 0 || row >= int(p.H) {
						r.lo, r.hi = 0, 0
					}
					f(r)
				}
			}
		}
	})
}

// ceilDiv is a/b rounded up, for positive b.
func ceilDiv(a, b int) int {
	if a <= 0 {
		return -(-a / b)
	}
	return (a + b - 1) / b
}

func im2col[T float](h *backend, l *gpu.Launch) {
	toColumns(l.Params.(*gpu.WindowParams), elems[T](l.Args[0]), elems[T](l.Args[1]))
}

func toColumns[T float](p *gpu.WindowParams, x, cols []T) {
	windows(p, func(r windowRow) {
		row := cols[r.column : r.column+int(p.OW)]
		for i := range row {
			if i >= r.lo && i < r.hi {
				row[i] = x[r.pixel+i*r.step]
			} else {
				row[i] = T(p.Pad)
			}
		}
	})
}

func col2im[T float](h *backend, l *gpu.Launch) {
	fromColumns(l.Params.(*gpu.WindowParams), elems[T](l.Args[0]), elems[T](l.Args[1]))
}

func fromColumns[T float](p *gpu.WindowParams, cols, x []T) {
	clear(x[:p.N*p.C*p.H*p.W])
	windows(p, func(r windowRow) {
		for i := r.lo; i < r.hi; i++ {
			x[r.pixel+i*r.step] += cols[r.column+i]
		}
	})
}

func maxPool[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.PoolParams)
	x, y, index := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[int32](l.Args[2])
	for i := range int(p.N * p.C * p.OH * p.OW) {
		index[i] = -1
	}
	windows(p.Window(), func(r windowRow) {
		for i := r.lo; i < r.hi; i++ {
			v, o := x[r.pixel+i*r.step], r.window+i
			if index[o] < 0 || beats(v, y[o]) {
				y[o], index[o] = v, int32(r.place)
			}
		}
	})
	if p.Act == gpu.ReLU {
		for i, v := range y[:p.N*p.C*p.OH*p.OW] {
			if !(v > 0) {
				index[i] = -1
				if v <= 0 {
					y[i] = 0
				}
			}
		}
	}
}

func maxPoolBwd[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.PoolParams)
	dy, index, dx := elems[T](l.Args[0]), elems[int32](l.Args[1]), elems[T](l.Args[2])
	clear(dx[:p.N*p.C*p.H*p.W])
	windows(p.Window(), func(r windowRow) {
		for i := r.lo; i < r.hi; i++ {
			if o := r.window + i; index[o] == int32(r.place) {
				dx[r.pixel+i*r.step] += dy[o]
			}
		}
	})
}
