//go:build cuda && linux && amd64

package cuda

import (
	"gradbook/gpu"
	"gradbook/gpu/kernels"
)

// underTaps calls f for every product of a convolution whose window is one of
// those from and to, counted over all images: the places in y, in the images and
// in the weights.
func underTaps(p *kernels.ConvPass, from, to uint32, f func(y, x, w int)) {
	windows, taps := p.OH*p.OW, p.C*p.KH*p.KW
	for i := from; i < to; i++ {
		n, oh, ow := i/windows, i%windows/p.OW, i%p.OW
		for k := range taps {
			c, kh, kw := k/(p.KH*p.KW), k/p.KW%p.KH, k%p.KW
			h, w := oh*p.SH+kh*p.DH-p.PH, ow*p.SW+kw*p.DW-p.PW // outside wraps to large
			if h >= p.H || w >= p.W {
				continue
			}
			for o := range p.O {
				f(int((n*p.O+o)*windows+i%windows), int(((n*p.C+c)*p.H+h)*p.W+w), int(o*taps+k))
			}
		}
	}
}

func convPass[T float32 | float64](p *kernels.ConvPass, x, w, b, y []T) {
	windows := p.OH * p.OW
	for i := range p.N * p.O * windows {
		y[i] = b[i/windows%p.O]
	}
	underTaps(p, 0, p.N*windows, func(o, i, k int) { y[o] += x[i] * w[k] })
	if p.Act == gpu.ReLU {
		for i := range p.N * p.O * windows {
			y[i] = activate(p.Act, y[i])
		}
	}
}

// convParamPass stores dw and db, or where the windows are split the parts: dw
// and after it db in each.
func convParamPass[T float32 | float64](p *kernels.ConvPass, x, dy, db, dw []T) {
	weights := p.O * p.C * p.KH * p.KW
	for s := range p.Splits {
		from := s * p.Chunk
		to := min(from+p.Chunk, p.N*p.OH*p.OW)
		if p.Splits > 1 {
			part := dw[s*(weights+p.O):]
			convParamPart(p, from, to, x, dy, part[weights:weights+p.O], part[:weights])
		} else {
			convParamPart(p, from, to, x, dy, db[:p.O], dw[:weights])
		}
	}
}

func convParamPart[T float32 | float64](p *kernels.ConvPass, from, to uint32, x, dy, db, dw []T) {
	clear(db)
	clear(dw)
	windows := p.OH * p.OW
	for i := from; i < to; i++ {
		for o := range p.O {
			db[o] += dy[(i/windows*p.O+o)*windows+i%windows]
		}
	}
	underTaps(p, from, to, func(y, i, w int) { dw[w] += dy[y] * x[i] })
}

func convSumPass[T float32 | float64](p *kernels.ConvPass, parts, db, dw []T) {
	weights := p.O * p.C * p.KH * p.KW
	size := weights + p.O
	for i := range size {
		var sum T
		for s := range p.Splits {
			sum += parts[s*size+i]
		}
		if i < weights {
			dw[i] = sum
		} else {
			db[i-weights] = sum
		}
	}
}
