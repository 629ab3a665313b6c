package gputest

import "gradbook/gpu"

// convolved calls f for every product that a convolution adds up: an element of
// y, one of x, one of w, by their places.
func convolved(p *gpu.Conv2DParams, f func(y, x, w int)) {
	for y := range int(p.N * p.O * p.OH * p.OW) {
		ow, oh, o, n := y%int(p.OW), y/int(p.OW)%int(p.OH), y/int(p.OW*p.OH)%int(p.O), y/int(p.OW*p.OH*p.O)
		for k := range int(p.C * p.KH * p.KW) {
			kw, kh, c := k%int(p.KW), k/int(p.KW)%int(p.KH), k/int(p.KW*p.KH)
			h := oh*int(p.SH) - int(p.PH) + kh*int(p.DH)
			w := ow*int(p.SW) - int(p.PW) + kw*int(p.DW)
			if h >= 0 && h < int(p.H) && w >= 0 && w < int(p.W) {
				f(y, ((n*int(p.C)+c)*int(p.H)+h)*int(p.W)+w, o*int(p.C*p.KH*p.KW)+k)
			}
		}
	}
}

func specConv2D(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.Conv2DParams)
	for y := range args[3] {
		args[3][y] = args[2][y/int(p.OH*p.OW)%int(p.O)]
	}
	convolved(p, func(y, x, w int) { args[3][y] += args[0][x] * args[1][w] })
	for y, v := range args[3] {
		args[3][y] = apply(p.Act, v)
	}
}

func specConv2DBwd(l *gpu.Launch, args [][]float64) {
	clear(args[2])
	convolved(l.Params.(*gpu.Conv2DParams), func(y, x, w int) { args[2][x] += args[0][y] * args[1][w] })
}

func specConv2DParamBwd(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.Conv2DParams)
	clear(args[2])
	clear(args[3])
	for y, dy := range args[0] {
		args[3][y/int(p.OH*p.OW)%int(p.O)] += dy
	}
	convolved(p, func(y, x, w int) { args[2][w] += args[0][y] * args[1][x] })
}
