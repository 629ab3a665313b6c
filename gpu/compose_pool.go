package gpu

import "math"

// Window is the pooling's window over the images.
func (p *PoolParams) Window() *WindowParams {
	return &WindowParams{N: p.N, C: p.C, H: p.H, W: p.W, KH: p.KH, KW: p.KW, OH: p.OH, OW: p.OW,
		SH: p.SH, SW: p.SW, PH: p.PH, PW: p.PW, DH: p.DH, DW: p.DW}
}

func composeMaxPool(c *Composer, l Launch) {
	p, t := l.Params.(*PoolParams), l.DType
	x, y, index := l.Args[0], l.Args[1], l.Args[2]
	planes, places, windows := p.N*p.C, p.KH*p.KW, p.OH*p.OW
	over := p.Window()
	over.Pad = math.Inf(-1)
	cols := c.Temp(t, planes*places*windows)
	c.Launch(Im2col, t, over, x, cols)
	largest, first := y, index
	if p.Act == ReLU {
		largest, first = c.Temp(t, planes*windows), c.Temp(Int32, planes*windows)
	}
	c.Launch(Reduce, t, &ReduceParams{Scale: 1, Op: ReduceMax, Outer: planes, Axis: places, Inner: windows}, cols, largest)
	c.Launch(ArgMax, t, &ArgMaxParams{Outer: planes, Axis: places, Inner: windows}, cols, first)
	if p.Act == ReLU {
		n := planes * windows
		above, number, none, kept := c.Temp(t, n), c.Temp(t, n), c.Temp(t, n), c.Temp(t, n)
		c.unary(t, ReLU, largest, y, n)
		c.matrix(t, Greater, 1, n, perCol(largest), scalar(c.constant(t, 0)), above)
		c.Launch(Cast, t, &CastParams{From: uint32(Int32), N: n}, first, number)
		c.fill(t, none, n, -1)
		c.Launch(Where, t, &WhereParams{N: n}, above, number, none, kept)
		c.Launch(Cast, Int32, &CastParams{From: uint32(t), N: n}, kept, index)
	}
}

// A gradient goes to the place of its window that won, and from there, as a
// column, to the image.
func composeMaxPoolBwd(c *Composer, l Launch) {
	p, t := l.Params.(*PoolParams), l.DType
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
	c.Launch(Col2im, t, p.Window(), cols, dx)
}
