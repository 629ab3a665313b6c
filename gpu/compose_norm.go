package gpu

func composeLayerNorm(c *Composer, l Launch) {
	p, t := l.Params.(*LayerNormParams), l.DType
	x, gamma, beta := l.Args[0], l.Args[1], l.Args[2]
	y, mean, rstd := l.Args[3], l.Args[4], l.Args[5]
	n := p.Rows * p.Cols
	all := func(s Span) operand { return full(s, p.Cols) }
	centered, squares, variance := c.Temp(t, n), c.Temp(t, n), c.Temp(t, p.Rows)
	c.sumRows(t, x, mean, p.Rows, p.Cols, 1/float64(p.Cols))
	c.matrix(t, Sub, p.Rows, p.Cols, all(x), perRow(mean), centered)
	c.unary(t, Square, centered, squares, n)
	c.sumRows(t, squares, variance, p.Rows, p.Cols, 1/float64(p.Cols))
	raised, xhat, scaled := c.Temp(t, p.Rows), c.Temp(t, n), c.Temp(t, n)
	c.Launch(Unary, t, &UnaryParams{Scale: 1, Offset: p.Eps, Op: Identity, N: p.Rows}, variance, raised)
	c.unary(t, Rsqrt, raised, rstd, p.Rows)
	c.matrix(t, Mul, p.Rows, p.Cols, all(centered), perRow(rstd), xhat)
	c.matrix(t, Mul, p.Rows, p.Cols, all(xhat), perCol(gamma), scaled)
	c.matrix(t, Add, p.Rows, p.Cols, all(scaled), perCol(beta), y)
}

// normalized is (x-mean)*rstd.
func (c *Composer) normalized(t DType, x, mean, rstd Span, rows, cols uint32) Span {
	centered, xhat := c.Temp(t, rows*cols), c.Temp(t, rows*cols)
	c.matrix(t, Sub, rows, cols, full(x, cols), perRow(mean), centered)
	c.matrix(t, Mul, rows, cols, full(centered, cols), perRow(rstd), xhat)
	return xhat
}

// With g = dy*gamma: dx = rstd*(g - mean(g) - xhat*mean(g*xhat)).
func composeLayerNormBwd(c *Composer, l Launch) {
	p, t := l.Params.(*LayerNormBwdParams), l.DType
	dy, x, gamma, mean, rstd, dx := l.Args[0], l.Args[1], l.Args[2], l.Args[3], l.Args[4], l.Args[5]
	n, scale := p.Rows*p.Cols, 1/float64(p.Cols)
	all := func(s Span) operand { return full(s, p.Cols) }
	xhat := c.normalized(t, x, mean, rstd, p.Rows, p.Cols)
	g, gx, flat, tilted := c.Temp(t, n), c.Temp(t, n), c.Temp(t, p.Rows), c.Temp(t, p.Rows)
	c.matrix(t, Mul, p.Rows, p.Cols, all(dy), perCol(gamma), g)
	c.matrix(t, Mul, p.Rows, p.Cols, all(g), all(xhat), gx)
	c.sumRows(t, g, flat, p.Rows, p.Cols, scale)
	c.sumRows(t, gx, tilted, p.Rows, p.Cols, scale)
	a, b, d := c.Temp(t, n), c.Temp(t, n), c.Temp(t, n)
	c.matrix(t, Sub, p.Rows, p.Cols, all(g), perRow(flat), a)
	c.matrix(t, Mul, p.Rows, p.Cols, all(xhat), perRow(tilted), b)
	c.matrix(t, Sub, p.Rows, p.Cols, all(a), all(b), d)
	c.matrix(t, Mul, p.Rows, p.Cols, all(d), perRow(rstd), dx)
}

func composeLayerNormParamBwd(c *Composer, l Launch) {
	p, t := l.Params.(*LayerNormBwdParams), l.DType
	dy, x, mean, rstd, dgamma, dbeta := l.Args[0], l.Args[1], l.Args[2], l.Args[3], l.Args[4], l.Args[5]
	xhat := c.normalized(t, x, mean, rstd, p.Rows, p.Cols)
	products := c.Temp(t, p.Rows*p.Cols)
	c.matrix(t, Mul, p.Rows, p.Cols, full(dy, p.Cols), full(xhat, p.Cols), products)
	c.sumCols(t, products, dgamma, p.Rows, p.Cols)
	c.sumCols(t, dy, dbeta, p.Rows, p.Cols)
}
