package gpu

func composeSGDStep(c *Composer, l Launch) {
	p, t := l.Params.(*SGDParams), l.DType
	g, w, v := l.Args[0], l.Args[1], l.Args[2]
	total := c.Temp(t, p.N)
	c.copy(t, g, total, p.N)
	c.axpby(t, w, total, p.N, p.WeightDecay, 1)
	c.axpby(t, total, v, p.N, 1, p.Momentum)
	if p.Nesterov != 0 {
		c.axpby(t, v, total, p.N, p.Momentum, 1)
		c.axpby(t, total, w, p.N, -p.LR, 1)
	} else {
		c.axpby(t, v, w, p.N, -p.LR, 1)
	}
}

func composeAdamStep(c *Composer, l Launch) {
	p, t := l.Params.(*AdamParams), l.DType
	g, state, w, m, v := l.Args[0], l.Args[1], l.Args[2], l.Args[3], l.Args[4]
	beta1, beta2 := rounded(t, p.Beta1), rounded(t, p.Beta2)

	low := state
	low.Bytes = Int32.Size()
	step := c.Temp(t, 1)
	c.Launch(Cast, t, &CastParams{From: uint32(Int32), N: 1}, low, step)
	fix := func(beta float64) operand { // 1 - beta^t
		out := c.Temp(t, 1)
		c.Launch(Binary, t, &BinaryParams{Scale: -1, Offset: 1, Op: Pow, N: 1}, c.constant(t, beta), step, out)
		return scalar(out)
	}
	fix1, fix2 := fix(beta1), fix(beta2)

	total, other := c.Temp(t, p.N), c.Temp(t, p.N)
	c.copy(t, g, total, p.N)
	if p.Decoupled != 0 {
		c.copy(t, w, other, p.N)
		c.axpby(t, other, w, p.N, -p.LR*p.WeightDecay, 1)
	} else {
		c.axpby(t, w, total, p.N, p.WeightDecay, 1)
	}
	c.axpby(t, total, m, p.N, 1-beta1, beta1)
	c.unary(t, Square, total, other, p.N)
	c.axpby(t, other, v, p.N, 1-beta2, beta2)

	c.matrix(t, Div, 1, p.N, perCol(v), fix2, other)
	root, mhat := c.Temp(t, p.N), total
	c.Launch(Unary, t, &UnaryParams{Scale: 1, Offset: p.Eps, Op: Sqrt, N: p.N}, other, root)
	c.matrix(t, Div, 1, p.N, perCol(m), fix1, mhat)
	c.matrix(t, Div, 1, p.N, perCol(mhat), perCol(root), other)
	c.axpby(t, other, w, p.N, -p.LR, 1)
}
