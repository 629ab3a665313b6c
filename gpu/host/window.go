package host

import "gradbook/gpu"

// window visits every position of every window in column order: c is its
// place in the columns, x the place of the pixel under it, -1 in the padding.
func window(p *gpu.WindowParams, f func(c, x int)) {
	c := 0
	for n := range int(p.N) {
		for plane := range int(p.C) {
			for kh := range int(p.KH) {
				for kw := range int(p.KW) {
					for oh := range int(p.OH) {
						row := oh*int(p.SH) + kh*int(p.DH) - int(p.PH)
						for ow := range int(p.OW) {
							col := ow*int(p.SW) + kw*int(p.DW) - int(p.PW)
							x := -1
							if row >= 0 && row < int(p.H) && col >= 0 && col < int(p.W) {
								x = ((n*int(p.C)+plane)*int(p.H)+row)*int(p.W) + col
							}
							f(c, x)
							c++
						}
					}
				}
			}
		}
	}
}

func im2col[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.WindowParams)
	x, cols := elems[T](l.Args[0]), elems[T](l.Args[1])
	window(p, func(c, at int) {
		if at < 0 {
			cols[c] = T(p.Pad)
		} else {
			cols[c] = x[at]
		}
	})
}

func col2im[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.WindowParams)
	cols, x := elems[T](l.Args[0]), elems[T](l.Args[1])
	clear(x[:p.N*p.C*p.H*p.W])
	window(p, func(c, at int) {
		if at >= 0 {
			x[at] += cols[c]
		}
	})
}

func maxPool[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.WindowParams)
	x, y, index := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[int32](l.Args[2])
	windows, places := int(p.OH*p.OW), int(p.KH*p.KW)
	for i := range int(p.N*p.C) * windows {
		index[i] = -1
	}
	window(p, func(c, at int) {
		if at < 0 {
			return
		}
		plane, place, w := c/(places*windows), c/windows%places, c%windows
		if o := plane*windows + w; index[o] < 0 || beats(x[at], y[o]) {
			y[o], index[o] = x[at], int32(place)
		}
	})
}

func maxPoolBwd[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.WindowParams)
	dy, index, dx := elems[T](l.Args[0]), elems[int32](l.Args[1]), elems[T](l.Args[2])
	windows, places := int(p.OH*p.OW), int(p.KH*p.KW)
	clear(dx[:p.N*p.C*p.H*p.W])
	window(p, func(c, at int) {
		plane, place, w := c/(places*windows), c/windows%places, c%windows
		if o := plane*windows + w; at >= 0 && index[o] == int32(place) {
			dx[at] += dy[o]
		}
	})
}
