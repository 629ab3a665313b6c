package gpu

// Composer runs the primitive launches of a fused kernel's composition. The
// first error stops it: later calls do nothing, and the Device reports it.
type Composer struct {
	d     *Device
	temps []Buffer
	err   error
}

// Temp returns a span for n elements that lives until the composition ends.
func (c *Composer) Temp(t DType, n int64) Span {
	bytes := n * t.Size()
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
		c.err = c.d.launch(Launch{Kernel: k, DType: t, Args: args, Params: params})
	}
}

func (c *Composer) release() {
	for _, b := range c.temps {
		c.d.pool.put(b)
	}
	c.temps = nil
}
