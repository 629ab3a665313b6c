package gputest

import "gradbook/gpu"

var specs = [gpu.NumKernels]spec{
	gpu.Fill:           specFill,
	gpu.Arange:         specArange,
	gpu.Copy:           specCopy,
	gpu.Paste:          specPaste,
	gpu.Cast:           specCast,
	gpu.Unary:          specUnary,
	gpu.Binary:         specBinary,
	gpu.Axpby:          specAxpby,
	gpu.Where:          specWhere,
	gpu.Reduce:         specReduce,
	gpu.ArgMax:         specArgMax,
	gpu.Gemm:           specGemm,
	gpu.GatherRows:     specGatherRows,
	gpu.ScatterAddRows: specScatterAddRows,
	gpu.Im2col:         specIm2col,
	gpu.Col2im:         specCol2im,
	gpu.Random:         specRandom,
	gpu.Count:          specCount,

	gpu.Linear:            specLinear,
	gpu.LinearParamBwd:    specLinearParamBwd,
	gpu.Softmax:           specSoftmax,
	gpu.SoftmaxBwd:        specSoftmaxBwd,
	gpu.Xent:              specXent,
	gpu.XentBwd:           specXentBwd,
	gpu.LayerNorm:         specLayerNorm,
	gpu.LayerNormBwd:      specLayerNormBwd,
	gpu.LayerNormParamBwd: specLayerNormParamBwd,
	gpu.Dropout:           specDropout,
	gpu.MaxPool:           specMaxPool,
	gpu.MaxPoolBwd:        specMaxPoolBwd,
	gpu.SGDStep:           specSGDStep,
	gpu.AdamStep:          specAdamStep,
}
