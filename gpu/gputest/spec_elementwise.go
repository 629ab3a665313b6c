package gputest

import (
	"math"
	"math/cmplx"

	"gradbook/gpu"
)

// A spec computes a launch in float64. args hold every argument's elements
// from the first byte of its span on; those that the kernel writes are
// replaced.
type spec func(l *gpu.Launch, args [][]float64)

// scalar is a parameter as a kernel of the launch's dtype receives it.
func scalar(l *gpu.Launch, v float64) float64 { return round(l.DType, v) }

// round is v as an element of a dtype holds it.
func round(t gpu.DType, v float64) float64 {
	switch t {
	case gpu.Float32:
		return float64(float32(v))
	case gpu.Int32:
		return math.Trunc(v)
	}
	return v
}

// at is the place of the i-th element, in dense order, of a strided operand.
func at(i int, rank uint32, dims gpu.Dims, strides gpu.Strides) int {
	place := 0
	for d := int(rank) - 1; d >= 0; d-- {
		place += i % int(dims[d]) * int(strides[d])
		i /= int(dims[d])
	}
	return place
}

func specFill(l *gpu.Launch, args [][]float64) {
	for i := range args[0] {
		args[0][i] = l.Params.(*gpu.FillParams).Value
	}
}

func specArange(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.ArangeParams)
	for i := range args[0] {
		args[0][i] = scalar(l, p.Start) + float64(i)*scalar(l, p.Step)
	}
}

func specCopy(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.CopyParams)
	for i := range args[1] {
		args[1][i] = args[0][at(i, p.Rank, p.Dims, p.X)]
	}
}

func specPaste(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.PasteParams)
	for i := range args[0] {
		args[1][at(i, p.Rank, p.Dims, p.Dst)] = args[0][i]
	}
}

func specCast(l *gpu.Launch, args [][]float64) {
	for i, v := range args[0] {
		args[1][i] = round(l.DType, v)
	}
}

func specUnary(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.UnaryParams)
	for i, v := range args[0] {
		args[1][i] = scalar(l, p.Scale)*apply(p.Op, v) + scalar(l, p.Offset)
	}
}

// apply is a unary function, by its definition.
func apply(op gpu.UnaryOp, x float64) float64 {
	switch op {
	case gpu.Identity:
		return x
	case gpu.Neg:
		return -x
	case gpu.Abs:
		return math.Abs(x)
	case gpu.Sign:
		switch {
		case math.IsNaN(x):
			return x
		case x == 0:
			return 0
		}
		return math.Copysign(1, x)
	case gpu.Square:
		return x * x
	case gpu.Sqrt:
		return math.Sqrt(x)
	case gpu.Rsqrt:
		return math.Pow(x, -0.5)
	case gpu.Recip:
		return 1 / x
	case gpu.Exp:
		return math.Exp(x)
	case gpu.Log:
		return math.Log(x)
	case gpu.Sin:
		return math.Sin(x)
	case gpu.Cos:
		return math.Cos(x)
	case gpu.Tanh:
		return math.Tanh(x)
	case gpu.Sigmoid:
		return 0.5 + 0.5*math.Tanh(x/2)
	case gpu.ReLU:
		return most(x, 0)
	case gpu.GELU:
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*math.Pow(x, 3))))
	case gpu.SiLU:
		return x / (1 + math.Exp(-x))
	case gpu.Softplus:
		if x > 30 {
			return x
		}
		return math.Log1p(math.Exp(x))
	case gpu.Floor:
		return math.Floor(x)
	}
	panic("gputest: no such unary function")
}

func specBinary(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.BinaryParams)
	for i := range args[2] {
		a, b := args[0][at(i, p.Rank, p.Dims, p.A)], args[1][at(i, p.Rank, p.Dims, p.B)]
		args[2][i] = scalar(l, p.Scale)*combine(p.Op, a, b) + scalar(l, p.Offset)
	}
}

// combine is a binary function, by its definition.
func combine(op gpu.BinaryOp, a, b float64) float64 {
	one := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	switch op {
	case gpu.Add:
		return a + b
	case gpu.Sub:
		return a - b
	case gpu.Mul:
		return a * b
	case gpu.Div:
		return a / b
	case gpu.Max:
		return most(a, b)
	case gpu.Min:
		return -most(-a, -b)
	case gpu.Pow:
		return math.Pow(a, b)
	case gpu.Less:
		return one(a < b)
	case gpu.LessEqual:
		return one(a <= b)
	case gpu.Greater:
		return one(a > b)
	case gpu.GreaterEqual:
		return one(a >= b)
	case gpu.Equal:
		return one(a == b)
	case gpu.NotEqual:
		return one(a != b)
	case gpu.ReLUBwd:
		return a * one(b > 0)
	case gpu.SigmoidBwd:
		return a * (b - b*b)
	case gpu.TanhBwd:
		return a * (1 - b) * (1 + b)
	case gpu.SqrtBwd:
		return 0.5 * a / b
	case gpu.AbsBwd:
		return a * apply(gpu.Sign, b)
	case gpu.GELUBwd:
		return a * slope(gpu.GELU, b)
	case gpu.SiLUBwd:
		return a * slope(gpu.SiLU, b)
	case gpu.SoftplusBwd:
		return a / (1 + math.Exp(-b))
	}
	panic("gputest: no such binary function")
}

// most is the larger number. Unlike math.Max it makes NaN of NaN and +Inf.
func most(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return math.Max(a, b)
}

// slope is a derivative by a complex step, exact to rounding: the imaginary
// part of f(x+ih) is h*f'(x) for a tiny h (Squire & Trapp 1998).
func slope(op gpu.UnaryOp, x float64) float64 {
	const h = 1e-100
	z := complex(x, h)
	switch op {
	case gpu.GELU:
		z = z / 2 * (1 + cmplx.Tanh(complex(math.Sqrt(2/math.Pi), 0)*(z+0.044715*z*z*z)))
	case gpu.SiLU:
		z /= 1 + cmplx.Exp(-z)
	}
	return imag(z) / h
}

func specAxpby(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.AxpbyParams)
	for i, x := range args[0] {
		y := 0.0
		if p.Beta != 0 {
			y = scalar(l, p.Beta) * args[1][i]
		}
		args[1][i] = scalar(l, p.Alpha)*x + y
	}
}

func specWhere(l *gpu.Launch, args [][]float64) {
	for i, c := range args[0] {
		args[3][i] = args[1][i]
		if c == 0 {
			args[3][i] = args[2][i]
		}
	}
}
