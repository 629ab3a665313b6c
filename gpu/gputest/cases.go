package gputest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gradbook/gpu"
)

// A testCase is a launch without its buffers.
type testCase struct {
	kernel gpu.Kernel
	params any
	dtypes []gpu.DType                           // those of the table's row if nil
	inputs map[string]func(r *rand.Rand) float64 // by argument; uniform in [-2, 2) if absent
	terms  float64                               // how many terms a result adds up: widens the tolerance
	loose  float64                               // a factor on the tolerance; 0 is 1
}

func (c *testCase) String() string { return fmt.Sprintf("%s%+v", c.kernel, deref(c.params)) }

func uniform(low, high float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return low + (high-low)*r.Float64() }
}

func integer(low, high int) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return float64(low + r.IntN(high-low)) }
}

func oneOf(values ...float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return values[r.IntN(len(values))] }
}

type inputs = map[string]func(*rand.Rand) float64

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// cases lists the launches that every backend is tried on.
func cases() []testCase {
	var all []testCase
	for _, list := range [][]testCase{
		elementCases(), stridedCases(), reduceCases(), gemmCases(), rowCases(), windowCases(), randomCases(),
		linearCases(), convCases(), softmaxCases(), normCases(), stepCases(),
	} {
		all = append(all, list...)
	}
	return all
}

var lengths = []uint32{1, 2, 31, 64, 257, 1000, 10007}

func elementCases() (cs []testCase) {
	for _, n := range lengths {
		cs = append(cs,
			testCase{kernel: gpu.Fill, params: &gpu.FillParams{Value: -3, N: n}},
			testCase{kernel: gpu.Fill, params: &gpu.FillParams{Value: 0.1, N: n}, dtypes: []gpu.DType{gpu.Float32, gpu.Float64}},
			testCase{kernel: gpu.Arange, params: &gpu.ArangeParams{Start: -7, Step: 3, N: n}},
			testCase{kernel: gpu.Arange, params: &gpu.ArangeParams{Start: 0.5, Step: -0.125, N: n}, dtypes: []gpu.DType{gpu.Float32, gpu.Float64}},
			testCase{kernel: gpu.Axpby, params: &gpu.AxpbyParams{Alpha: 1.5, Beta: -0.5, N: n}},
			testCase{kernel: gpu.Axpby, params: &gpu.AxpbyParams{Alpha: -2, N: n}, inputs: inputs{"y": oneOf(nan)}},
			testCase{kernel: gpu.Axpby, params: &gpu.AxpbyParams{Beta: 1, N: n}},
			testCase{kernel: gpu.Where, params: &gpu.WhereParams{N: n}, inputs: inputs{"cond": oneOf(0, 1, 0, -2.5)}},
		)
		for from := gpu.Float32; from <= gpu.Int32; from++ {
			cs = append(cs, testCase{kernel: gpu.Cast, params: &gpu.CastParams{From: uint32(from), N: n}, inputs: inputs{"x": uniform(-1000, 1000)}})
		}
	}
	const long = 70001 // more than 16 bits count
	cs = append(cs,
		testCase{kernel: gpu.Fill, params: &gpu.FillParams{Value: 5, N: long}},
		testCase{kernel: gpu.Unary, params: &gpu.UnaryParams{Scale: 2, Op: gpu.Square, N: long}},
		testCase{kernel: gpu.Axpby, params: &gpu.AxpbyParams{Alpha: 2, Beta: 1, N: long}},
		testCase{kernel: gpu.SGDStep, params: &gpu.SGDParams{LR: 0.1, Momentum: 0.9, N: long}})
	cs = append(cs, testCase{kernel: gpu.Where, params: &gpu.WhereParams{N: 100},
		inputs: inputs{"cond": oneOf(0, 1), "a": oneOf(nan, inf, 1), "b": oneOf(nan, -inf, 2)}})
	for op := range gpu.NumUnaryOps {
		c := testCase{kernel: gpu.Unary, inputs: inputs{}, loose: unaryLoose[op]}
		if d, ok := unaryDomain[op]; ok {
			c.inputs["x"] = d
		}
		for _, n := range lengths {
			c.params = &gpu.UnaryParams{Scale: 1, Op: op, N: n}
			cs = append(cs, c)
		}
		c.params = &gpu.UnaryParams{Scale: -2.5, Offset: 0.75, Op: op, N: 300}
		cs = append(cs, c)
		c.params = &gpu.UnaryParams{Scale: 1, Op: op, N: 64}
		c.inputs = inputs{"x": specials(op)}
		cs = append(cs, c)
	}
	return cs
}

// unaryDomain is where a function is tried, if not in [-2, 2).
var unaryDomain = map[gpu.UnaryOp]func(*rand.Rand) float64{
	gpu.Sqrt:     uniform(0, 100),
	gpu.Rsqrt:    uniform(0.01, 100),
	gpu.Recip:    uniform(0.1, 10),
	gpu.Exp:      uniform(-20, 5),
	gpu.Log:      uniform(1e-6, 100),
	gpu.Sin:      uniform(-7, 7),
	gpu.Cos:      uniform(-7, 7),
	gpu.Tanh:     uniform(-12, 12),
	gpu.Sigmoid:  uniform(-30, 30),
	gpu.GELU:     uniform(-8, 8),
	gpu.SiLU:     uniform(-30, 30),
	gpu.Softplus: uniform(-30, 50),
	gpu.Floor:    uniform(-1000, 1000),
}

// unaryLoose widens the tolerance where a function makes its argument's
// rounding larger, or where graphics hardware is allowed to be coarse.
var unaryLoose = map[gpu.UnaryOp]float64{gpu.Exp: 8, gpu.Sin: 8, gpu.Cos: 8, gpu.Log: 4, gpu.GELU: 8, gpu.SiLU: 8, gpu.Sigmoid: 4, gpu.Softplus: 8, gpu.Tanh: 4}

// specials are the values at which a function is special. The signs of zeros
// and the results for arguments where the function has none are left free.
func specials(op gpu.UnaryOp) func(*rand.Rand) float64 {
	switch op {
	case gpu.Sin, gpu.Cos:
		return oneOf(0, nan)
	case gpu.Sqrt, gpu.Log:
		return oneOf(0, 1, inf, nan)
	case gpu.Rsqrt:
		return oneOf(1, inf, nan)
	case gpu.Recip:
		return oneOf(1, inf, -inf, nan)
	case gpu.GELU, gpu.SiLU: // -Inf times 0
		return oneOf(0, inf, nan, 100)
	}
	return oneOf(0, inf, -inf, nan, 100, -100)
}

// broadcasts are shapes with the strides of two operands.
var broadcasts = []struct {
	dims []uint32
	a, b []int32
}{
	{nil, nil, nil},
	{[]uint32{1000}, []int32{1}, []int32{1}},
	{[]uint32{10007}, []int32{1}, []int32{1}},
	{[]uint32{257}, []int32{1}, []int32{0}},
	{[]uint32{257}, []int32{0}, []int32{1}},
	{[]uint32{33, 17}, []int32{17, 1}, []int32{0, 1}},
	{[]uint32{33, 17}, []int32{17, 1}, []int32{1, 0}},
	{[]uint32{33, 17}, []int32{1, 33}, []int32{17, 1}},
	{[]uint32{130, 65}, []int32{0, 1}, []int32{1, 0}},
	{[]uint32{3, 5, 7}, []int32{35, 7, 1}, []int32{7, 0, 1}},
	{[]uint32{3, 5, 7}, []int32{35, 7, 1}, []int32{0, 1, 0}},
	{[]uint32{4, 3, 6, 5}, []int32{90, 30, 5, 1}, []int32{0, 1, 0, 0}},
	{[]uint32{2, 3, 2, 3, 2, 3}, []int32{108, 36, 18, 6, 3, 1}, []int32{0, 12, 0, 4, 0, 1}},
	{[]uint32{40, 2}, []int32{4, 2}, []int32{2, 1}},
}

func stridedCases() (cs []testCase) {
	for _, b := range broadcasts {
		dims, n := shape(b.dims)
		rank := uint32(len(b.dims))
		cs = append(cs, testCase{kernel: gpu.Copy, params: &gpu.CopyParams{N: n, Rank: rank, Dims: dims, X: strides(b.a)}})
		cs = append(cs, testCase{kernel: gpu.Copy, params: &gpu.CopyParams{N: n, Rank: rank, Dims: dims, X: strides(b.b)}})
		for op := range gpu.NumBinaryOps {
			c := testCase{kernel: gpu.Binary, loose: binaryLoose[op], inputs: binaryInputs(op),
				params: &gpu.BinaryParams{Scale: 1, Op: op, N: n, Rank: rank, Dims: dims, A: strides(b.a), B: strides(b.b)}}
			cs = append(cs, c)
			if rank == 2 {
				p := *c.params.(*gpu.BinaryParams)
				p.Scale, p.Offset = -1.5, 0.25
				c.params = &p
				cs = append(cs, c)
			}
		}
	}
	for op := range gpu.NumBinaryOps {
		if op == gpu.Pow || op >= gpu.ReLUBwd {
			continue
		}
		special := oneOf(0, 1, -1, inf, -inf, nan)
		cs = append(cs, testCase{kernel: gpu.Binary, inputs: inputs{"a": special, "b": special},
			params: &gpu.BinaryParams{Scale: 1, Op: op, N: 400, Rank: 1, Dims: gpu.Dims{400}, A: gpu.Strides{1}, B: gpu.Strides{1}}})
	}
	for _, b := range []struct {
		dims []uint32
		dst  []int32
	}{
		{nil, nil}, {[]uint32{100}, []int32{1}}, {[]uint32{100}, []int32{3}}, {[]uint32{9, 11}, []int32{20, 1}},
		{[]uint32{9, 11}, []int32{1, 9}}, {[]uint32{70001}, []int32{1}}, {[]uint32{130, 65}, []int32{1, 131}}, {[]uint32{2, 3, 4}, []int32{24, 8, 2}},
		{[]uint32{2, 1, 2, 3, 2, 3}, []int32{72, 72, 36, 12, 6, 2}},
	} {
		dims, n := shape(b.dims)
		cs = append(cs, testCase{kernel: gpu.Paste, params: &gpu.PasteParams{N: n, Rank: uint32(len(b.dims)), Dims: dims, Dst: strides(b.dst)}})
	}
	return cs
}

var binaryLoose = map[gpu.BinaryOp]float64{gpu.Pow: 16, gpu.GELUBwd: 16, gpu.SiLUBwd: 16, gpu.SoftplusBwd: 4}

func binaryInputs(op gpu.BinaryOp) inputs {
	switch op {
	case gpu.Div:
		return inputs{"b": uniform(0.2, 3)}
	case gpu.Pow:
		return inputs{"a": uniform(0.1, 3), "b": uniform(-3, 3)}
	case gpu.SqrtBwd:
		return inputs{"b": uniform(0.1, 3)}
	case gpu.Less, gpu.LessEqual, gpu.Greater, gpu.GreaterEqual, gpu.Equal, gpu.NotEqual:
		return inputs{"a": integer(-2, 3), "b": integer(-2, 3)}
	case gpu.GELUBwd, gpu.SiLUBwd, gpu.SoftplusBwd:
		return inputs{"b": uniform(-8, 8)}
	case gpu.ReLUBwd, gpu.AbsBwd:
		return inputs{"b": oneOf(0, 1, -1, 0.5)}
	}
	return inputs{}
}

func shape(sizes []uint32) (dims gpu.Dims, n uint32) {
	n = 1
	for i, s := range sizes {
		dims[i] = s
		n *= s
	}
	return dims, n
}

func strides(steps []int32) (s gpu.Strides) {
	copy(s[:], steps)
	return s
}

func reduceCases() (cs []testCase) {
	for _, s := range [][3]uint32{{1, 1, 1}, {1, 1000, 1}, {7, 33, 1}, {1, 64, 50}, {3, 5, 4}, {128, 1, 1}, {1, 1, 128}, {2, 300, 300},
		{1000, 3, 1}, {1, 3, 1000}, {1, 100003, 1}, {5, 1025, 2}, {300, 256, 1}} {
		for op := range gpu.NumReduceOps {
			for _, scale := range []float64{1, -0.25} {
				cs = append(cs, testCase{kernel: gpu.Reduce, terms: float64(s[1]),
					params: &gpu.ReduceParams{Scale: scale, Op: op, Outer: s[0], Axis: s[1], Inner: s[2]}})
			}
			if s[0]*s[1]*s[2] < 5000 {
				cs = append(cs, testCase{kernel: gpu.Reduce, terms: float64(s[1]), inputs: inputs{"x": rarely(nan)},
					params: &gpu.ReduceParams{Scale: 1, Op: op, Outer: s[0], Axis: s[1], Inner: s[2]}})
			}
		}
		p := &gpu.ArgMaxParams{Outer: s[0], Axis: s[1], Inner: s[2]}
		cs = append(cs, testCase{kernel: gpu.ArgMax, params: p},
			testCase{kernel: gpu.ArgMax, params: p, inputs: inputs{"x": integer(-2, 3)}},
			testCase{kernel: gpu.ArgMax, params: p, inputs: inputs{"x": rarely(nan)}},
			testCase{kernel: gpu.ArgMax, params: p, inputs: inputs{"x": oneOf(-inf)}})
	}
	cs = append(cs, testCase{kernel: gpu.Reduce, params: &gpu.ReduceParams{Scale: 1, Op: gpu.ReduceSum, Outer: 5, Axis: 0, Inner: 3}})
	return cs
}

func rarely(special float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.IntN(40) == 0 {
			return special
		}
		return r.Float64()
	}
}

func gemmCases() (cs []testCase) {
	for _, s := range [][3]uint32{{1, 1, 1}, {1, 10, 300}, {10, 1, 300}, {2, 3, 4}, {16, 16, 16}, {17, 33, 65}, {64, 64, 64}, {100, 10, 128},
		{128, 784, 32}, {65, 129, 1}, {3, 257, 130}, {200, 200, 33}} {
		for trans := range uint32(4) {
			for _, f := range [][2]float64{{1, 0}, {-0.5, 1}, {1, 0.25}} {
				p := &gpu.GemmParams{Alpha: f[0], Beta: f[1], TransA: trans & 1, TransB: trans >> 1, M: s[0], N: s[1], K: s[2], Batch: 1}
				dense(p)
				c := testCase{kernel: gpu.Gemm, params: p, terms: float64(p.K)}
				if p.Beta == 0 {
					c.inputs = inputs{"c": oneOf(nan)}
				}
				cs = append(cs, c)
			}
		}
	}
	for trans := range uint32(4) {
		p := &gpu.GemmParams{Alpha: 1, Beta: 0.5, TransA: trans & 1, TransB: trans >> 1, M: 9, N: 13, K: 21, Batch: 5}
		dense(p)
		p.StrideA, p.StrideB, p.StrideC = p.M*p.K, p.K*p.N, p.M*p.N
		shared := *p
		shared.StrideB = 0
		wide := *p
		wide.LDA, wide.LDB, wide.LDC = p.LDA+3, p.LDB+1, p.LDC+5
		wide.StrideA, wide.StrideB, wide.StrideC = 1000, 2001, 3003
		onto := wide
		onto.Beta = 0
		for _, p := range []*gpu.GemmParams{p, &shared, &wide, &onto} {
			cs = append(cs, testCase{kernel: gpu.Gemm, params: p, terms: float64(p.K)})
		}
		empty := &gpu.GemmParams{Alpha: 1, Beta: 0.5 * float64(trans&1), TransA: trans & 1, TransB: trans >> 1, M: 4, N: 3, Batch: 1}
		dense(empty)
		cs = append(cs, testCase{kernel: gpu.Gemm, params: empty})
	}
	return cs
}

// dense sets the row lengths of matrices without gaps.
func dense(p *gpu.GemmParams) {
	p.LDA, p.LDB, p.LDC = max(p.K, 1), max(p.N, 1), max(p.N, 1)
	if p.TransA != 0 {
		p.LDA = max(p.M, 1)
	}
	if p.TransB != 0 {
		p.LDB = max(p.K, 1)
	}
}
