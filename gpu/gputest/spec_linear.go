package gputest

import (
	"math"

	"gradbook/gpu"
)

// axisOf calls f with the elements of x (outer, axis, inner) along the axis.
func axisOf(outer, axis, inner uint32, x []float64, f func(o int, column []float64)) {
	column := make([]float64, axis)
	for o := range int(outer * inner) {
		for k := range column {
			column[k] = x[(o/int(inner)*int(axis)+k)*int(inner)+o%int(inner)]
		}
		f(o, column)
	}
}

func specReduce(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.ReduceParams)
	axisOf(p.Outer, p.Axis, p.Inner, args[0], func(o int, column []float64) {
		r := 0.0
		switch p.Op {
		case gpu.ReduceMax:
			r = math.Inf(-1)
		case gpu.ReduceMin:
			r = math.Inf(1)
		}
		for _, v := range column {
			switch p.Op {
			case gpu.ReduceSum:
				r += v
			case gpu.ReduceMax:
				r = most(r, v)
			case gpu.ReduceMin:
				r = -most(-r, -v)
			}
		}
		args[1][o] = scalar(l, p.Scale) * r
	})
}

func specArgMax(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.ArgMaxParams)
	axisOf(p.Outer, p.Axis, p.Inner, args[0], func(o int, column []float64) {
		args[1][o] = float64(first(column))
	})
}

// first is the index of the first NaN, else of the first largest element.
func first(column []float64) int {
	for i, v := range column {
		if math.IsNaN(v) {
			return i
		}
	}
	best := 0
	for i, v := range column {
		if v > column[best] {
			best = i
		}
	}
	return best
}

func specGemm(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.GemmParams)
	element := func(x []float64, batch, stride, row, col, ld, trans uint32) float64 {
		if trans != 0 {
			row, col = col, row
		}
		return x[batch*stride+row*ld+col]
	}
	for b := range p.Batch {
		for i := range p.M {
			for j := range p.N {
				sum := 0.0
				for k := range p.K {
					sum += element(args[0], b, p.StrideA, i, k, p.LDA, p.TransA) * element(args[1], b, p.StrideB, k, j, p.LDB, p.TransB)
				}
				c := &args[2][b*p.StrideC+i*p.LDC+j]
				if p.Beta == 0 {
					*c = 0
				}
				*c = scalar(l, p.Alpha)*sum + scalar(l, p.Beta)**c
			}
		}
	}
}

func specGatherRows(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.RowsParams)
	w := int(p.Width)
	for i := range args[2] {
		row := int(args[1][i/w])
		switch {
		case row >= 0 && row < int(p.Table):
			args[2][i] = args[0][row*w+i%w]
		case l.DType == gpu.Int32:
			args[2][i] = 0
		default:
			args[2][i] = math.NaN()
		}
	}
}

func specScatterAddRows(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.RowsParams)
	w := int(p.Width)
	for i, v := range args[0] {
		if row := int(args[1][i/w]); row >= 0 && row < int(p.Table) {
			args[2][row*w+i%w] += v
		}
	}
}

// pixel is the place in the image under place (kh, kw) of window (oh, ow) of a
// plane, -1 outside.
func pixel(p *gpu.WindowParams, plane, kh, kw, oh, ow int) int {
	h := oh*int(p.SH) - int(p.PH) + kh*int(p.DH)
	w := ow*int(p.SW) - int(p.PW) + kw*int(p.DW)
	if h < 0 || w < 0 || h >= int(p.H) || w >= int(p.W) {
		return -1
	}
	return (plane*int(p.H)+h)*int(p.W) + w
}

// columns calls f for every element of the column matrix.
func columns(p *gpu.WindowParams, f func(column, pixel int)) {
	kh, kw, oh, ow := int(p.KH), int(p.KW), int(p.OH), int(p.OW)
	for i := range int(p.N*p.C) * kh * kw * oh * ow {
		f(i, pixel(p, i/(kh*kw*oh*ow), i/(kw*oh*ow)%kh, i/(oh*ow)%kw, i/ow%oh, i%ow))
	}
}

func specIm2col(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.WindowParams)
	columns(p, func(c, x int) {
		args[1][c] = scalar(l, p.Pad)
		if x >= 0 {
			args[1][c] = args[0][x]
		}
	})
}

func specCol2im(l *gpu.Launch, args [][]float64) {
	clear(args[1])
	columns(l.Params.(*gpu.WindowParams), func(c, x int) {
		if x >= 0 {
			args[1][x] += args[0][c]
		}
	})
}

// pooled calls f for every window with the values under it, -Inf outside, and
// their places in the image.
func pooled(q *gpu.PoolParams, image []float64, f func(window int, values []float64, pixels []int)) {
	p := &gpu.WindowParams{N: q.N, C: q.C, H: q.H, W: q.W, KH: q.KH, KW: q.KW, OH: q.OH, OW: q.OW,
		SH: q.SH, SW: q.SW, PH: q.PH, PW: q.PW, DH: q.DH, DW: q.DW}
	windows := int(p.OH * p.OW)
	for i := range int(p.N*p.C) * windows {
		var values []float64
		var pixels []int
		for k := range int(p.KH * p.KW) {
			x := pixel(p, i/windows, k/int(p.KW), k%int(p.KW), i%windows/int(p.OW), i%int(p.OW))
			v := math.Inf(-1)
			if x >= 0 && image != nil {
				v = image[x]
			}
			values, pixels = append(values, v), append(pixels, x)
		}
		f(i, values, pixels)
	}
}

func specMaxPool(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.PoolParams)
	pooled(p, args[0], func(i int, values []float64, pixels []int) {
		best := first(values)
		args[1][i], args[2][i] = apply(p.Act, values[best]), float64(best)
		if p.Act == gpu.ReLU && !(values[best] > 0) {
			args[2][i] = -1
		}
	})
}

func specMaxPoolBwd(l *gpu.Launch, args [][]float64) {
	clear(args[2])
	pooled(l.Params.(*gpu.PoolParams), nil, func(i int, values []float64, pixels []int) {
		if k := int(args[1][i]); k >= 0 {
			args[2][pixels[k]] += args[0][i]
		}
	})
}

func specLinear(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.LinearParams)
	in, out := int(p.In), int(p.Out)
	for i := range args[3] {
		sum := args[2][i%out]
		for k := range in {
			sum += args[0][i/out*in+k] * args[1][i%out*in+k]
		}
		args[3][i] = apply(p.Act, sum)
	}
}

func specLinearParamBwd(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.LinearParamBwdParams)
	in, out := int(p.In), int(p.Out)
	clear(args[2])
	clear(args[3])
	for i, dy := range args[0] {
		args[3][i%out] += dy
		for k := range in {
			args[2][i%out*in+k] += dy * args[1][i/out*in+k]
		}
	}
}
