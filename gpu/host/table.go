package host

import "gradbook/gpu"

type float interface{ float32 | float64 }

type element interface{ float | int32 }

// kernel runs a launch whose dtype the function was instantiated for.
type kernel func(h *backend, l *gpu.Launch)

// kernels is indexed by dtype.
var kernels = [...][gpu.NumKernels]kernel{
	gpu.Float32: floats[float32](),
	gpu.Float64: floats[float64](),
	gpu.Int32: {
		gpu.Fill:       fill[int32],
		gpu.Arange:     arange[int32],
		gpu.Copy:       copyStrided[int32],
		gpu.Paste:      paste[int32],
		gpu.Cast:       cast[int32],
		gpu.GatherRows: gatherRows[int32],
		gpu.Count:      count,
	},
}

func floats[T float]() [gpu.NumKernels]kernel {
	return [gpu.NumKernels]kernel{
		gpu.Fill:           fill[T],
		gpu.Arange:         arange[T],
		gpu.Copy:           copyStrided[T],
		gpu.Paste:          paste[T],
		gpu.Cast:           cast[T],
		gpu.Unary:          unary[T],
		gpu.Binary:         binary[T],
		gpu.Axpby:          axpby[T],
		gpu.Where:          where[T],
		gpu.Reduce:         reduce[T],
		gpu.ArgMax:         argMax[T],
		gpu.Gemm:           gemm[T],
		gpu.GatherRows:     gatherRows[T],
		gpu.ScatterAddRows: scatterAddRows[T],
		gpu.Im2col:         im2col[T],
		gpu.Col2im:         col2im[T],
		gpu.Random:         random[T],

		gpu.Linear:            linear[T],
		gpu.LinearParamBwd:    linearParamBwd[T],
		gpu.Conv2D:            conv2D[T],
		gpu.Conv2DBwd:         conv2DBwd[T],
		gpu.Conv2DParamBwd:    conv2DParamBwd[T],
		gpu.Softmax:           softmax[T],
		gpu.SoftmaxBwd:        softmaxBwd[T],
		gpu.Xent:              xent[T],
		gpu.XentBwd:           xentBwd[T],
		gpu.LayerNorm:         layerNorm[T],
		gpu.LayerNormBwd:      layerNormBwd[T],
		gpu.LayerNormParamBwd: layerNormParamBwd[T],
		gpu.Dropout:           dropout[T],
		gpu.MaxPool:           maxPool[T],
		gpu.MaxPoolBwd:        maxPoolBwd[T],
		gpu.SGDStep:           sgdStep[T],
		gpu.AdamStep:          adamStep[T],
	}
}
