package gpu

// Window is the convolution's window over the images.
func (p *Conv2DParams) Window() *WindowParams {
	return &WindowParams{N: p.N, C: p.C, H: p.H, W: p.W, KH: p.KH, KW: p.KW, OH: p.OH, OW: p.OW,
		SH: p.SH, SW: p.SW, PH: p.PH, PW: p.PW, DH: p.DH, DW: p.DW}
}

// columns is x's windows as columns (N, C*KH*KW, OH*OW).
func (c *Composer) columns(t DType, p *Conv2DParams, x Span) (cols Span, rows, windows uint32) {
	rows, windows = p.C*p.KH*p.KW, p.OH*p.OW
	cols = c.Temp(t, p.N*rows*windows)
	c.Launch(Im2col, t, p.Window(), x, cols)
	return cols, rows, windows
}

func composeConv2D(c *Composer, l Launch) {
	p, t := l.Params.(*Conv2DParams), l.DType
	x, w, b, y := l.Args[0], l.Args[1], l.Args[2], l.Args[3]
	cols, rows, windows := c.columns(t, p, x)
	n := p.N * p.O * windows
	sum := y
	if p.Act != Identity {
		sum = c.Temp(t, n)
	}
	c.Launch(Copy, t, &CopyParams{N: n, Rank: 3, Dims: Dims{p.N, p.O, windows}, X: Strides{0, 1, 0}}, b, sum)
	c.Launch(Gemm, t, &GemmParams{Alpha: 1, Beta: 1, M: p.O, N: windows, K: rows, LDA: rows, LDB: windows, LDC: windows,
		Batch: p.N, StrideB: rows * windows, StrideC: p.O * windows}, w, cols, sum)
	if p.Act != Identity {
		c.unary(t, p.Act, sum, y, n)
	}
}

func composeConv2DBwd(c *Composer, l Launch) {
	p, t := l.Params.(*Conv2DParams), l.DType
	dy, w, dx := l.Args[0], l.Args[1], l.Args[2]
	rows, windows := p.C*p.KH*p.KW, p.OH*p.OW
	cols := c.Temp(t, p.N*rows*windows)
	c.Launch(Gemm, t, &GemmParams{Alpha: 1, TransA: 1, M: rows, N: windows, K: p.O, LDA: rows, LDB: windows, LDC: windows,
		Batch: p.N, StrideB: p.O * windows, StrideC: rows * windows}, w, dy, cols)
	c.Launch(Col2im, t, p.Window(), cols, dx)
}

// dw is first one product an image, then their sum.
func composeConv2DParamBwd(c *Composer, l Launch) {
	p, t := l.Params.(*Conv2DParams), l.DType
	dy, x, dw, db := l.Args[0], l.Args[1], l.Args[2], l.Args[3]
	cols, rows, windows := c.columns(t, p, x)
	each, sums := c.Temp(t, p.N*p.O*rows), c.Temp(t, p.N*p.O)
	c.Launch(Gemm, t, &GemmParams{Alpha: 1, TransB: 1, M: p.O, N: rows, K: windows, LDA: windows, LDB: windows, LDC: rows,
		Batch: p.N, StrideA: p.O * windows, StrideB: rows * windows, StrideC: p.O * rows}, dy, cols, each)
	c.sumCols(t, each, dw, p.N, p.O*rows)
	c.sumRows(t, dy, sums, p.N*p.O, windows, 1)
	c.sumCols(t, sums, db, p.N, p.O)
}
