package gpu

func composeLinear(c *Composer, l Launch) {
	p, t := l.Params.(*LinearParams), l.DType
	x, w, b, y := l.Args[0], l.Args[1], l.Args[2], l.Args[3]
	n := p.Rows * p.Out
	sum := y
	if p.Act != Identity {
		sum = c.Temp(t, n)
	}
	c.Launch(Copy, t, &CopyParams{N: n, Rank: 2, Dims: Dims{p.Rows, p.Out}, X: Strides{0, 1}}, b, sum)
	c.Launch(Gemm, t, &GemmParams{Alpha: 1, Beta: 1, TransB: 1, M: p.Rows, N: p.Out, K: p.In,
		LDA: p.In, LDB: p.In, LDC: p.Out, Batch: 1}, x, w, sum)
	if p.Act != Identity {
		c.unary(t, p.Act, sum, y, n)
	}
}

func composeLinearParamBwd(c *Composer, l Launch) {
	p, t := l.Params.(*LinearParamBwdParams), l.DType
	dy, x, dw, db := l.Args[0], l.Args[1], l.Args[2], l.Args[3]
	c.Launch(Gemm, t, &GemmParams{Alpha: 1, TransA: 1, M: p.Out, N: p.In, K: p.Rows,
		LDA: p.Out, LDB: p.In, LDC: p.In, Batch: 1}, dy, x, dw)
	c.sumCols(t, dy, db, p.Rows, p.Out)
}

// shifted gives each row less its largest element, which it also gives, and
// the sum of the exponentials of that.
func (c *Composer) shifted(t DType, x Span, rows, cols uint32) (shifted, exps, largest, sums Span) {
	largest, shifted = c.Temp(t, rows), c.Temp(t, rows*cols)
	exps, sums = c.Temp(t, rows*cols), c.Temp(t, rows)
	c.Launch(Reduce, t, &ReduceParams{Scale: 1, Op: ReduceMax, Outer: rows, Axis: cols, Inner: 1}, x, largest)
	c.matrix(t, Sub, rows, cols, full(x, cols), perRow(largest), shifted)
	c.unary(t, Exp, shifted, exps, rows*cols)
	c.sumRows(t, exps, sums, rows, cols, 1)
	return shifted, exps, largest, sums
}

func composeSoftmax(c *Composer, l Launch) {
	p, t := l.Params.(*SoftmaxParams), l.DType
	x, y := l.Args[0], l.Args[1]
	shifted, exps, _, sums := c.shifted(t, x, p.Rows, p.Cols)
	if p.Log == 0 {
		c.matrix(t, Div, p.Rows, p.Cols, full(exps, p.Cols), perRow(sums), y)
		return
	}
	logs := c.Temp(t, p.Rows)
	c.unary(t, Log, sums, logs, p.Rows)
	c.matrix(t, Sub, p.Rows, p.Cols, full(shifted, p.Cols), perRow(logs), y)
}

func composeSoftmaxBwd(c *Composer, l Launch) {
	p, t := l.Params.(*SoftmaxParams), l.DType
	y, dy, dx := l.Args[0], l.Args[1], l.Args[2]
	n := p.Rows * p.Cols
	a, b, sums := c.Temp(t, n), c.Temp(t, n), c.Temp(t, p.Rows)
	all := func(s Span) operand { return full(s, p.Cols) }
	if p.Log != 0 { // dy - exp(y)*sum(dy)
		c.sumRows(t, dy, sums, p.Rows, p.Cols, 1)
		c.unary(t, Exp, y, a, n)
		c.matrix(t, Mul, p.Rows, p.Cols, all(a), perRow(sums), b)
		c.matrix(t, Sub, p.Rows, p.Cols, all(dy), all(b), dx)
		return
	}
	// y*(dy - sum(y*dy))
	c.matrix(t, Mul, p.Rows, p.Cols, all(y), all(dy), a)
	c.sumRows(t, a, sums, p.Rows, p.Cols, 1)
	c.matrix(t, Sub, p.Rows, p.Cols, all(dy), perRow(sums), b)
	c.matrix(t, Mul, p.Rows, p.Cols, all(y), all(b), dx)
}

// oneHot is 1 where a column is its row's label, else 0.
func (c *Composer) oneHot(t DType, labels Span, rows, cols uint32) Span {
	wanted, columns, hot := c.Temp(t, rows), c.Temp(t, cols), c.Temp(t, rows*cols)
	c.Launch(Cast, t, &CastParams{From: uint32(Int32), N: rows}, labels, wanted)
	c.Launch(Arange, t, &ArangeParams{Step: 1, N: cols}, columns)
	c.matrix(t, Equal, rows, cols, perRow(wanted), perCol(columns), hot)
	return hot
}

func composeXent(c *Composer, l Launch) {
	p, t := l.Params.(*XentParams), l.DType
	logits, labels, loss, lse := l.Args[0], l.Args[1], l.Args[2], l.Args[3]
	n := p.Rows * p.Cols
	_, _, largest, sums := c.shifted(t, logits, p.Rows, p.Cols)
	logs := c.Temp(t, p.Rows)
	c.unary(t, Log, sums, logs, p.Rows)
	c.matrix(t, Add, p.Rows, 1, perRow(largest), perRow(logs), lse)

	// Where, not Mul: 0 times an infinite logit is not 0. The division by the
	// number of columns found makes NaN of a label outside.
	hot := c.oneHot(t, labels, p.Rows, p.Cols)
	zeros, kept := c.Temp(t, n), c.Temp(t, n)
	sum, found, picked := c.Temp(t, p.Rows), c.Temp(t, p.Rows), c.Temp(t, p.Rows)
	c.fill(t, zeros, n, 0)
	c.Launch(Where, t, &WhereParams{N: n}, hot, logits, zeros, kept)
	c.sumRows(t, kept, sum, p.Rows, p.Cols, 1)
	c.sumRows(t, hot, found, p.Rows, p.Cols, 1)
	c.matrix(t, Div, p.Rows, 1, perRow(sum), perRow(found), picked)
	c.matrix(t, Sub, p.Rows, 1, perRow(lse), perRow(picked), loss)
}

func composeXentBwd(c *Composer, l Launch) {
	p, t := l.Params.(*XentBwdParams), l.DType
	logits, labels, lse, dloss, dlogits := l.Args[0], l.Args[1], l.Args[2], l.Args[3], l.Args[4]
	n := p.Rows * p.Cols
	hot := c.oneHot(t, labels, p.Rows, p.Cols)
	logs, softmax, diff := c.Temp(t, n), c.Temp(t, n), c.Temp(t, n)
	all := func(s Span) operand { return full(s, p.Cols) }
	c.matrix(t, Sub, p.Rows, p.Cols, all(logits), perRow(lse), logs)
	c.unary(t, Exp, logs, softmax, n)
	c.matrix(t, Sub, p.Rows, p.Cols, all(softmax), all(hot), diff)
	c.Launch(Binary, t, &BinaryParams{Scale: p.Scale, Op: Mul, N: n, Rank: 2, Dims: Dims{p.Rows, p.Cols},
		A: Strides{int32(p.Cols), 1}, B: Strides{int32(p.DLossStride), 0}}, diff, dloss, dlogits)
}

func composeDropout(c *Composer, l Launch) {
	p, t := l.Params.(*DropoutParams), l.DType
	state, x, y, mask := l.Args[0], l.Args[1], l.Args[2], l.Args[3]
	drop := rounded(t, p.P)
	if drop < 1 {
		u := c.Temp(t, p.N)
		c.Launch(Random, t, &RandomParams{B: 1, Dist: Uniform, N: p.N}, state, u)
		c.Launch(Binary, t, &BinaryParams{Scale: 1 / (1 - drop), Op: GreaterEqual, N: p.N, Rank: 1,
			Dims: Dims{p.N}, A: Strides{1}}, u, c.constant(t, drop), mask)
	} else {
		c.fill(t, mask, p.N, 0)
	}
	c.matrix(t, Mul, 1, p.N, perCol(x), perCol(mask), y)
}
