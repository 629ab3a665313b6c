package gpu

// Composer runs the primitive launches of a fused kernel's composition. The
// first error stops it: later calls do nothing, and the Device reports it.
type Composer struct {
	d     *Device
	temps []Buffer
	err   error
}

// generics is apart from the kernel table, to which the compositions refer.
var generics = map[Kernel]func(*Composer, Launch){
	Linear:            composeLinear,
	LinearParamBwd:    composeLinearParamBwd,
	Conv2D:            composeConv2D,
	Conv2DBwd:         composeConv2DBwd,
	Conv2DParamBwd:    composeConv2DParamBwd,
	Softmax:           composeSoftmax,
	SoftmaxBwd:        composeSoftmaxBwd,
	Xent:              composeXent,
	XentBwd:           composeXentBwd,
	LayerNorm:         composeLayerNorm,
	LayerNormBwd:      composeLayerNormBwd,
	LayerNormParamBwd: composeLayerNormParamBwd,
	Dropout:           composeDropout,
	MaxPool:           composeMaxPool,
	MaxPoolBwd:        composeMaxPoolBwd,
	SGDStep:           composeSGDStep,
	AdamStep:          composeAdamStep,
}

func init() {
	for k, g := range generics {
		Kernels[k].Generic = g
	}
}

// Temp returns a span for n elements that lives until the composition ends.
func (c *Composer) Temp(t DType, n uint32) Span {
	bytes := int64(n) * t.Size()
	if c.err != nil {
		return Span{Bytes: bytes}
	}
	b, err := c.d.take(bytes)
	if err != nil {
		c.err = err
		return Span{Bytes: bytes}
	}
	c.temps = append(c.temps, b)
	return Span{Buffer: b, Bytes: bytes}
}

// Launch starts a primitive.
func (c *Composer) Launch(k Kernel, t DType, params any, args ...Span) {
	if c.err == nil {
		c.err = c.d.primitive(Launch{Kernel: k, DType: t, Args: args, Params: params})
	}
}

func (c *Composer) release() {
	for _, b := range c.temps {
		c.d.give(b)
	}
	c.temps = nil
}

// operand is an argument of a binary launch: a span read at strides.
type operand struct {
	span    Span
	strides Strides
}

// In a matrix of rows by cols: all of it, a value for each row, a value for
// each column, one value.
func full(s Span, cols uint32) operand { return operand{s, Strides{int32(cols), 1}} }
func perRow(s Span) operand            { return operand{s, Strides{1, 0}} }
func perCol(s Span) operand            { return operand{s, Strides{0, 1}} }
func scalar(s Span) operand            { return operand{s, Strides{}} }

func (c *Composer) fill(t DType, out Span, n uint32, value float64) {
	c.Launch(Fill, t, &FillParams{Value: value, N: n}, out)
}

// constant is a temporary of one element.
func (c *Composer) constant(t DType, value float64) Span {
	s := c.Temp(t, 1)
	c.fill(t, s, 1, value)
	return s
}

func (c *Composer) copy(t DType, x, out Span, n uint32) {
	c.Launch(Copy, t, &CopyParams{N: n, Rank: 1, Dims: Dims{n}, X: Strides{1}}, x, out)
}

func (c *Composer) unary(t DType, op UnaryOp, x, out Span, n uint32) {
	c.Launch(Unary, t, &UnaryParams{Scale: 1, Op: op, N: n}, x, out)
}

// matrix is a binary launch over rows by cols.
func (c *Composer) matrix(t DType, op BinaryOp, rows, cols uint32, a, b operand, out Span) {
	c.Launch(Binary, t, &BinaryParams{Scale: 1, Op: op, N: rows * cols, Rank: 2,
		Dims: Dims{rows, cols}, A: a.strides, B: b.strides}, a.span, b.span, out)
}

// sumRows adds up each row of rows by cols, sumCols each column.
func (c *Composer) sumRows(t DType, x, out Span, rows, cols uint32, scale float64) {
	c.Launch(Reduce, t, &ReduceParams{Scale: scale, Op: ReduceSum, Outer: rows, Axis: cols, Inner: 1}, x, out)
}

func (c *Composer) sumCols(t DType, x, out Span, rows, cols uint32) {
	c.Launch(Reduce, t, &ReduceParams{Scale: 1, Op: ReduceSum, Outer: 1, Axis: rows, Inner: cols}, x, out)
}

// axpby is y = alpha*x + beta*y.
func (c *Composer) axpby(t DType, x, y Span, n uint32, alpha, beta float64) {
	c.Launch(Axpby, t, &AxpbyParams{Alpha: alpha, Beta: beta, N: n}, x, y)
}

// rounded is v as a kernel of dtype t receives it.
func rounded(t DType, v float64) float64 {
	if t == Float32 {
		return float64(float32(v))
	}
	return v
}
