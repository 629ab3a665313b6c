package gputest

import "gradbook/gpu"

// convCases have one image and several, one channel and several, tiles filled
// and not, windows that do not overlap, gaps, and images that are not square.
func convCases() (cs []testCase) {
	for _, p := range []gpu.Conv2DParams{
		{N: 1, C: 1, H: 1, W: 1, O: 1, KH: 1, KW: 1, SH: 1, SW: 1, DH: 1, DW: 1},
		{N: 3, C: 1, H: 12, W: 12, O: 32, KH: 3, KW: 3, SH: 1, SW: 1, PH: 1, PW: 1, DH: 1, DW: 1},
		{N: 2, C: 32, H: 14, W: 14, O: 64, KH: 3, KW: 3, SH: 1, SW: 1, PH: 1, PW: 1, DH: 1, DW: 1},
		{N: 5, C: 3, H: 9, W: 7, O: 5, KH: 3, KW: 3, SH: 1, SW: 1, DH: 1, DW: 1},
		{N: 2, C: 4, H: 11, W: 6, O: 70, KH: 2, KW: 5, SH: 1, SW: 1, PH: 1, PW: 2, DH: 1, DW: 1},
		{N: 1, C: 70, H: 8, W: 8, O: 33, KH: 3, KW: 3, SH: 2, SW: 2, PH: 1, PW: 1, DH: 1, DW: 1},
		{N: 3, C: 2, H: 10, W: 13, O: 3, KH: 3, KW: 2, SH: 2, SW: 3, PH: 1, DH: 1, DW: 2},
		{N: 1, C: 3, H: 12, W: 12, O: 4, KH: 3, KW: 3, SH: 1, SW: 1, PH: 3, PW: 3, DH: 3, DW: 2},
		{N: 2, C: 5, H: 6, W: 6, O: 9, KH: 2, KW: 2, SH: 3, SW: 3, DH: 1, DW: 1},
		{N: 4, C: 6, H: 5, W: 3, O: 8, KH: 1, KW: 1, SH: 1, SW: 1, DH: 1, DW: 1},
		{N: 300, C: 2, H: 4, W: 4, O: 3, KH: 3, KW: 3, SH: 1, SW: 1, PH: 1, PW: 1, DH: 1, DW: 1},
		{N: 1, C: 100, H: 5, W: 5, O: 10, KH: 3, KW: 3, SH: 1, SW: 1, PH: 1, PW: 1, DH: 1, DW: 1},
	} {
		p.OH = (p.H+2*p.PH-p.DH*(p.KH-1)-1)/p.SH + 1
		p.OW = (p.W+2*p.PW-p.DW*(p.KW-1)-1)/p.SW + 1
		acts := []gpu.UnaryOp{gpu.ReLU, gpu.Identity, gpu.Sigmoid, gpu.Tanh}
		if p.C*p.O > 100 {
			acts = acts[:1] // the plain loops of the specification take long
		}
		for _, act := range acts {
			q := p
			q.Act = act
			cs = append(cs, testCase{kernel: gpu.Conv2D, params: &q, terms: float64(p.C * p.KH * p.KW)})
		}
		cs = append(cs,
			testCase{kernel: gpu.Conv2DBwd, params: &p, terms: float64(p.O * p.KH * p.KW)},
			testCase{kernel: gpu.Conv2DParamBwd, params: &p, terms: float64(p.N * p.OH * p.OW)})
	}
	return cs
}
