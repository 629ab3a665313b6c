package gpu

import "math"

func composeMaxPool(c *Composer, l Launch) {
	p, t := *l.Params.(*WindowParams), l.DType
	x, y, index := l.Args[0], l.Args[1], l.Args[2]
	planes, places, windows := p.N*p.C, p.KH*p.KW, p.OH*p.OW
	p.Pad = math.Inf(-1)
	cols := c.Temp(t, planes*places*windows)
	c.Launch(Im2col, t, &p, x, cols)
	c.Launch(Reduce, t, &ReduceParams{Scale: 1, Op: ReduceMax, Outer: planes, Axis: places, Inner: windows}, cols, y)
	c.Launch(ArgMax, t, &ArgMaxParams{Outer: planes, Axis: places, Inner: windows}, cols, index)
}

// A gradient goes to the place of its window that won, and from there, as a
// column, to the image.
func composeMaxPoolBwd(c *Composer, l Launch) {
	p, t := l.Params.(*WindowParams), l.DType
	dy, index, dx := l.Args[0], l.Args[1], l.Args[2]
	planes, places, windows := p.N*p.C, p.KH*p.KW, p.OH*p.OW
	n := planes * places * windows
	won, numbers, hit, cols := c.Temp(t, planes*windows), c.Temp(t, places), c.Temp(t, n), c.Temp(t, n)
	zeros := c.Temp(t, n)
	spread := c.Temp(t, n)
	c.Launch(Cast, t, &CastParams{From: uint32(Int32), N: planes * windows}, index, won)
	c.Launch(Arange, t, &ArangeParams{Step: 1, N: places}, numbers)
	dims := Dims{planes, places, windows}
	each := Strides{int32(windows), 0, 1}
	c.Launch(Binary, t, &BinaryParams{Scale: 1, Op: Equal, N: n, Rank: 3, Dims: dims, A: each, B: Strides{0, 1, 0}}, won, numbers, hit)
	c.Launch(Copy, t, &CopyParams{N: n, Rank: 3, Dims: dims, X: each}, dy, spread)
	c.fill(t, zeros, n, 0)
	c.Launch(Where, t, &WhereParams{N: n}, hit, spread, zeros, cols)
	c.Launch(Col2im, t, p, cols, dx)
}
