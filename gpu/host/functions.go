package host

import (
	"math"

	"gradbook/gpu"
)

var unaryFuncs = [gpu.NumUnaryOps]func(x float64) float64{
	gpu.Identity: func(x float64) float64 { return x },
	gpu.Neg:      func(x float64) float64 { return -x },
	gpu.Abs:      math.Abs,
	gpu.Sign:     sign,
	gpu.Square:   func(x float64) float64 { return x * x },
	gpu.Sqrt:     math.Sqrt,
	gpu.Rsqrt:    func(x float64) float64 { return 1 / math.Sqrt(x) },
	gpu.Recip:    func(x float64) float64 { return 1 / x },
	gpu.Exp:      math.Exp,
	gpu.Log:      math.Log,
	gpu.Sin:      math.Sin,
	gpu.Cos:      math.Cos,
	gpu.Tanh:     math.Tanh,
	gpu.Sigmoid:  sigmoid,
	gpu.ReLU:     relu,
	gpu.GELU:     gelu,
	gpu.SiLU:     func(x float64) float64 { return x * sigmoid(x) },
	gpu.Softplus: func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
	gpu.Floor:    math.Floor,
}

var binaryFuncs = [gpu.NumBinaryOps]func(a, b float64) float64{
	gpu.Add:          func(a, b float64) float64 { return a + b },
	gpu.Sub:          func(a, b float64) float64 { return a - b },
	gpu.Mul:          func(a, b float64) float64 { return a * b },
	gpu.Div:          func(a, b float64) float64 { return a / b },
	gpu.Max:          larger,
	gpu.Min:          func(a, b float64) float64 { return -larger(-a, -b) },
	gpu.Pow:          math.Pow,
	gpu.Less:         func(a, b float64) float64 { return truth(a < b) },
	gpu.LessEqual:    func(a, b float64) float64 { return truth(a <= b) },
	gpu.Greater:      func(a, b float64) float64 { return truth(a > b) },
	gpu.GreaterEqual: func(a, b float64) float64 { return truth(a >= b) },
	gpu.Equal:        func(a, b float64) float64 { return truth(a == b) },
	gpu.NotEqual:     func(a, b float64) float64 { return truth(a != b) },
	gpu.ReLUBwd: func(dy, y float64) float64 {
		if y > 0 {
			return dy
		}
		return 0
	},
	gpu.SigmoidBwd:  func(dy, y float64) float64 { return dy * y * (1 - y) },
	gpu.TanhBwd:     func(dy, y float64) float64 { return dy * (1 - y*y) },
	gpu.SqrtBwd:     func(dy, y float64) float64 { return dy / (2 * y) },
	gpu.AbsBwd:      func(dy, x float64) float64 { return dy * sign(x) },
	gpu.GELUBwd:     func(dy, x float64) float64 { return dy * geluSlope(x) },
	gpu.SiLUBwd:     func(dy, x float64) float64 { s := sigmoid(x); return dy * s * (1 + x*(1-s)) },
	gpu.SoftplusBwd: func(dy, x float64) float64 { return dy * sigmoid(x) },
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// larger is the larger of two numbers, NaN if one is.
func larger(a, b float64) float64 {
	if a > b || a != a {
		return a
	}
	return b
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // 0 or NaN
}

func relu(x float64) float64 {
	if x < 0 {
		return 0
	}
	return x
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// geluC is the square root of 2/pi.
const geluC = math.Sqrt2 / math.SqrtPi

func gelu(x float64) float64 { return 0.5 * x * (1 + math.Tanh(geluC*(x+0.044715*x*x*x))) }

func geluSlope(x float64) float64 {
	t := math.Tanh(geluC * (x + 0.044715*x*x*x))
	return 0.5*(1+t) + 0.5*x*(1-t*t)*geluC*(1+3*0.044715*x*x)
}
