package gputest

import (
	"math/rand/v2"

	"gradbook/gpu"
)

func rowCases() (cs []testCase) {
	for _, s := range [][3]uint32{{1, 1, 1}, {5, 3, 7}, {100, 64, 10}, {10, 1, 1000}, {300, 130, 50}} {
		p := &gpu.RowsParams{Rows: s[0], Width: s[1], Table: s[2]}
		index := inputs{"index": integer(0, int(s[2])), "x": uniform(-100, 100), "table": uniform(-100, 100)}
		outside := inputs{"index": integer(-2, int(s[2])+2), "table": uniform(-100, 100)}
		cs = append(cs,
			testCase{kernel: gpu.GatherRows, params: p, inputs: index},
			testCase{kernel: gpu.GatherRows, params: p, inputs: outside},
			testCase{kernel: gpu.ScatterAddRows, params: p, inputs: index, terms: 100 * float64(s[0])},
			testCase{kernel: gpu.ScatterAddRows, params: p, inputs: outside, terms: 100 * float64(s[0])})
	}
	return cs
}

func windowCases() (cs []testCase) {
	for _, w := range []gpu.WindowParams{
		{N: 1, C: 1, H: 1, W: 1, KH: 1, KW: 1, SH: 1, SW: 1, DH: 1, DW: 1},
		{N: 2, C: 3, H: 8, W: 8, KH: 3, KW: 3, SH: 1, SW: 1, DH: 1, DW: 1, PH: 1, PW: 1},
		{N: 2, C: 2, H: 7, W: 5, KH: 2, KW: 2, SH: 2, SW: 2, DH: 1, DW: 1},
		{N: 1, C: 2, H: 9, W: 11, KH: 3, KW: 2, SH: 2, SW: 3, DH: 1, DW: 2, PH: 1, PW: 0},
		{N: 3, C: 1, H: 28, W: 28, KH: 5, KW: 5, SH: 1, SW: 1, DH: 1, DW: 1, PH: 2, PW: 2},
		{N: 1, C: 4, H: 10, W: 10, KH: 3, KW: 3, SH: 1, SW: 1, DH: 2, DW: 2, PH: 2, PW: 2},
		{N: 5, C: 3, H: 14, W: 14, KH: 2, KW: 2, SH: 2, SW: 2, DH: 1, DW: 1},
		{N: 3, C: 2, H: 6, W: 6, KH: 3, KW: 3, SH: 3, SW: 3, DH: 1, DW: 1},
		{N: 2, C: 2, H: 8, W: 3, KH: 2, KW: 2, SH: 2, SW: 2, DH: 1, DW: 1},
		{N: 2, C: 3, H: 10, W: 6, KH: 2, KW: 3, SH: 3, SW: 4, DH: 1, DW: 1, PH: 1, PW: 1},
	} {
		w.OH = (w.H+2*w.PH-w.DH*(w.KH-1)-1)/w.SH + 1
		w.OW = (w.W+2*w.PW-w.DW*(w.KW-1)-1)/w.SW + 1
		padded := w
		padded.Pad = -7.5
		places := int(w.KH * w.KW)
		cs = append(cs,
			testCase{kernel: gpu.Im2col, params: &w},
			testCase{kernel: gpu.Im2col, params: &padded},
			testCase{kernel: gpu.Col2im, params: &w, terms: float64(places)})
		pool := gpu.PoolParams{N: w.N, C: w.C, H: w.H, W: w.W, KH: w.KH, KW: w.KW, OH: w.OH, OW: w.OW,
			SH: w.SH, SW: w.SW, PH: w.PH, PW: w.PW, DH: w.DH, DW: w.DW}
		relu := pool
		relu.Act = gpu.ReLU
		for _, p := range []*gpu.PoolParams{&pool, &relu} {
			cs = append(cs,
				testCase{kernel: gpu.MaxPool, params: p},
				testCase{kernel: gpu.MaxPool, params: p, inputs: inputs{"x": integer(-9, -5)}},
				testCase{kernel: gpu.MaxPool, params: p, inputs: inputs{"x": integer(-9, 2)}},
				testCase{kernel: gpu.MaxPool, params: p, inputs: inputs{"x": rarely(nan)}})
		}
		if w.PH == 0 && w.PW == 0 { // every place is inside
			cs = append(cs, testCase{kernel: gpu.MaxPoolBwd, params: &pool, inputs: inputs{"index": integer(-1, places)}, terms: float64(places)})
		} else {
			middle := float64(w.KH/2*w.KW + w.KW/2)
			cs = append(cs, testCase{kernel: gpu.MaxPoolBwd, params: &pool, inputs: inputs{"index": oneOf(middle, -1)}, terms: float64(places)})
		}
	}
	return cs
}

func randomCases() (cs []testCase) {
	words := []inputs{
		{"state": oneOf(0)},
		{"state": oneOf(1<<32 - 1)},
		{"state": func(r *rand.Rand) float64 { return float64(r.Uint32()) }},
	}
	for _, state := range words {
		for _, n := range lengths {
			cs = append(cs,
				testCase{kernel: gpu.Random, params: &gpu.RandomParams{A: -1, B: 3, Dist: gpu.Uniform, N: n}, inputs: state},
				testCase{kernel: gpu.Random, params: &gpu.RandomParams{B: 1, Dist: gpu.Uniform, N: n}, inputs: state},
				testCase{kernel: gpu.Random, params: &gpu.RandomParams{A: 0.5, B: 2, Dist: gpu.Normal, N: n}, inputs: state, loose: 16},
				testCase{kernel: gpu.Dropout, params: &gpu.DropoutParams{P: 0.3, N: n}, inputs: state},
				testCase{kernel: gpu.Dropout, params: &gpu.DropoutParams{P: 1, N: n}, inputs: state},
				testCase{kernel: gpu.Dropout, params: &gpu.DropoutParams{N: n}, inputs: state})
		}
		for _, add := range []uint32{0, 1, 12345, 1<<32 - 1} {
			cs = append(cs, testCase{kernel: gpu.Count, params: &gpu.CountParams{Add: add}, inputs: state})
		}
	}
	return cs
}

func linearCases() (cs []testCase) {
	for _, s := range [][3]uint32{{1, 1, 1}, {5, 7, 3}, {32, 100, 10}, {64, 64, 64}, {17, 300, 33}, {256, 20, 130}, {160, 264, 96}} {
		for _, act := range []gpu.UnaryOp{gpu.Identity, gpu.ReLU, gpu.Sigmoid, gpu.Tanh} {
			cs = append(cs, testCase{kernel: gpu.Linear, terms: float64(s[1]),
				params: &gpu.LinearParams{Act: act, Rows: s[0], In: s[1], Out: s[2]}, loose: 4})
		}
		// A NaN stays one: where a device's maximum loses it, training that went wrong looks right.
		cs = append(cs, testCase{kernel: gpu.Linear, terms: float64(s[1]),
			params: &gpu.LinearParams{Act: gpu.ReLU, Rows: s[0], In: s[1], Out: s[2]}, inputs: inputs{"x": rarely(nan)}, loose: 4})
		cs = append(cs, testCase{kernel: gpu.LinearParamBwd, terms: float64(s[0]),
			params: &gpu.LinearParamBwdParams{Rows: s[0], In: s[1], Out: s[2]}})
	}
	return cs
}

var matrixSizes = [][2]uint32{{1, 1}, {1, 10}, {7, 1}, {33, 10}, {128, 65}, {5, 1000}, {300, 3}, {2, 2049}}

func softmaxCases() (cs []testCase) {
	for _, s := range matrixSizes {
		rows, cols := s[0], s[1]
		for log := range uint32(2) {
			p := &gpu.SoftmaxParams{Rows: rows, Cols: cols, Log: log}
			cs = append(cs,
				testCase{kernel: gpu.Softmax, params: p, loose: 8, inputs: inputs{"x": uniform(-10, 10)}},
				testCase{kernel: gpu.Softmax, params: p, loose: 64, inputs: inputs{"x": uniform(900, 1000)}},
				testCase{kernel: gpu.Softmax, params: p, loose: 8, inputs: inputs{"x": rarely(nan)}})
			y := uniform(0, 1)
			if log == 1 {
				y = uniform(-8, 0)
			}
			cs = append(cs, testCase{kernel: gpu.SoftmaxBwd, params: p, terms: float64(cols), loose: 4, inputs: inputs{"y": y}})
		}
		labels, outside := integer(0, int(cols)), integer(-1, int(cols)+1)
		p := &gpu.XentParams{Rows: rows, Cols: cols}
		cs = append(cs,
			testCase{kernel: gpu.Xent, params: p, loose: 8, inputs: inputs{"logits": uniform(-10, 10), "labels": labels}},
			testCase{kernel: gpu.Xent, params: p, loose: 64, inputs: inputs{"logits": uniform(900, 1000), "labels": labels}},
			testCase{kernel: gpu.Xent, params: p, loose: 8, inputs: inputs{"labels": outside}})
		for stride := range uint32(2) {
			p := &gpu.XentBwdParams{Scale: 0.125, Rows: rows, Cols: cols, DLossStride: stride}
			cs = append(cs, testCase{kernel: gpu.XentBwd, params: p, loose: 16, inputs: inputs{"lse": uniform(2, 4), "labels": outside}})
		}
	}
	return cs
}

func normCases() (cs []testCase) {
	for _, s := range matrixSizes {
		rows, cols := s[0], s[1]
		terms := float64(cols)
		p := &gpu.LayerNormParams{Eps: 1e-5, Rows: rows, Cols: cols}
		if cols > 1 {
			cs = append(cs, testCase{kernel: gpu.LayerNorm, params: p, terms: 64, loose: 8},
				// The mean's rounding is large beside a small deviation.
				testCase{kernel: gpu.LayerNorm, params: p, terms: 64, loose: 1024, inputs: inputs{"x": uniform(98, 102)}})
		}
		rstd := uniform(0.5, 2)
		q := &gpu.LayerNormBwdParams{Rows: rows, Cols: cols}
		cs = append(cs,
			testCase{kernel: gpu.LayerNormBwd, params: q, terms: 64 + terms, loose: 4, inputs: inputs{"rstd": rstd}},
			testCase{kernel: gpu.LayerNormParamBwd, params: q, terms: float64(rows), loose: 8, inputs: inputs{"rstd": rstd}})
	}
	return cs
}

func stepCases() (cs []testCase) {
	for _, n := range lengths {
		for _, p := range []gpu.SGDParams{
			{LR: 0.1}, {LR: 0.1, Momentum: 0.9}, {LR: 0.01, Momentum: 0.9, WeightDecay: 0.01}, {LR: 0.1, Momentum: 0.9, Nesterov: 1},
			{LR: 0.1, Momentum: 0.5, WeightDecay: 0.1, Nesterov: 1},
		} {
			p.N = n
			cs = append(cs, testCase{kernel: gpu.SGDStep, params: &p})
		}
		for _, p := range []gpu.AdamParams{
			{LR: 1e-3}, {LR: 0.1, WeightDecay: 0.01}, {LR: 0.1, WeightDecay: 0.01, Decoupled: 1},
		} {
			for _, step := range []float64{1, 2, 1000, 1e6} {
				cs = append(cs, adamCase(p, n, step))
			}
		}
	}
	// More than leaves a large device half empty: backends may have other code for it.
	return append(cs, adamCase(gpu.AdamParams{LR: 0.1, WeightDecay: 0.01, Decoupled: 1}, 1<<18+7, 3))
}

func adamCase(p gpu.AdamParams, n uint32, step float64) testCase {
	p.N, p.Beta1, p.Beta2, p.Eps = n, 0.9, 0.999, 1e-8
	state := 0
	words := []float64{step, 0, 0, 0}
	return testCase{kernel: gpu.AdamStep, params: &p, loose: 8, inputs: inputs{
		"v":     uniform(0.01, 2),
		"state": func(*rand.Rand) float64 { state++; return words[(state-1)%4] },
	}}
}
