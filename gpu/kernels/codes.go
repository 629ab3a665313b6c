package kernels

import (
	"gradbook/gpu"
)

// Module is a source compiled with one set of definitions, for each of its
// dtypes.
type Module struct {
	Name    string
	Source  string   // file under src, without .slang
	Defines []string // NAME=VALUE
	DTypes  []gpu.DType
	// VulkanOnly modules have no PTX form.
	VulkanOnly bool
}

var (
	floats = []gpu.DType{gpu.Float32, gpu.Float64}
	every  = []gpu.DType{gpu.Float32, gpu.Float64, gpu.Int32}
)

// Modules lists what is compiled.
var Modules = []Module{
	{Name: "elementwise", Source: "elementwise", DTypes: every},
	{Name: "narrow", Source: "narrow", DTypes: []gpu.DType{gpu.Float32, gpu.Int32}},
	{Name: "lookup", Source: "lookup", DTypes: every},
	{Name: "reduce", Source: "reduce", DTypes: floats},
	{Name: "rows", Source: "rows", DTypes: floats},
	{Name: "window", Source: "window", DTypes: floats},
	vulkanOnly(gemmModule(&huge)),
	gemmModule(&large),
	gemmModule(&medium),
	gemmModule(&mediumAny),
	gemmModule(&small),
	{Name: "gemm_plain", Source: "gemm_plain", DTypes: floats},
	{Name: "gemm_sum", Source: "gemm_sum", DTypes: floats},
	conv64.module(),
	conv32.module(),
	convBwd64.module(),
	convBwd32.module(),
	convParam64.module(),
	{Name: "conv_narrow", Source: "conv_narrow", DTypes: floats},
	{Name: "conv_sum", Source: "conv_sum", DTypes: floats},
}

// Code is an entry of a module: what a pipeline is made of.
type Code struct {
	Name    string // the entry's name in the compiled forms
	Module  string
	Threads int // in a group
	block   gpu.Block
}

// BlockSize is the size in bytes of the code's parameter block for a dtype.
func (c *Code) BlockSize(t gpu.DType) int { return c.block.Size(t) }

// Codes are all entries by name.
var Codes = map[string]*Code{}

func entry(name, module string, threads, args int, params any) *Code {
	c := &Code{name, module, threads, gpu.Layout(name, args, params)}
	Codes[name] = c
	return c
}

// ofTable is the entry that runs a row of the kernel table as it stands.
func ofTable(k gpu.Kernel, name, module string) *Code {
	info := k.Info()
	return entry(name, module, groupThreads, len(info.Args), info.Params)
}

// Threads of a group, elements per thread of an elementwise kernel, groups in
// one row of the grid: as in src/types.slang.
const (
	groupThreads = 256
	each         = 4
	gridRow      = 32768
)

// ReducePass is a pass of reduce: see src/reduce.slang.
type ReducePass struct {
	Scale                                 float64
	Op, Outer, Axis, Inner, Chunk, Chunks uint32
}

// GemmPass is a product with its end: see src/gemm.slang.
type GemmPass struct {
	Alpha, Beta               float64
	TransA, TransB            uint32
	M, N, K                   uint32
	LDA, LDB, LDC             uint32
	Batch                     uint32
	StrideA, StrideB, StrideC uint32
	Splits, Chunk             uint32 // of K
	End, Act                  uint32
}

// Struct is a parameter block that the sources declare.
type Struct struct {
	Name   string
	Args   []gpu.Arg
	Params any
}

// Passes are the blocks that only these kernels use.
var Passes = []Struct{
	{"reduce_pass", []gpu.Arg{{Name: "x"}, {Name: "out"}}, ReducePass{}},
	{"gemm_pass", []gpu.Arg{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "bias"}}, GemmPass{}},
	{"conv_pass", []gpu.Arg{{Name: "x"}, {Name: "w"}, {Name: "b"}, {Name: "out"}}, ConvPass{}},
}

var (
	fill        = ofTable(gpu.Fill, "fill", "elementwise")
	arange      = ofTable(gpu.Arange, "arange", "elementwise")
	copyCode    = ofTable(gpu.Copy, "copy", "elementwise")
	copyDense   = ofTable(gpu.Copy, "copy_dense", "elementwise")
	paste       = ofTable(gpu.Paste, "paste", "elementwise")
	castFloat32 = ofTable(gpu.Cast, "cast_float32", "elementwise")
	castInt32   = ofTable(gpu.Cast, "cast_int32", "elementwise")
	// Float32 and Int32 have it in a module of its own.
	castFloat64 = ofTable(gpu.Cast, "cast_float64", "elementwise")
	castNarrow  = ofTable(gpu.Cast, "cast_narrow", "narrow")
	count       = ofTable(gpu.Count, "count", "elementwise")
	unary       = ofTable(gpu.Unary, "unary", "elementwise")
	binary      = ofTable(gpu.Binary, "binary", "elementwise")
	binaryDense = ofTable(gpu.Binary, "binary_dense", "elementwise")
	binaryQuad  = ofTable(gpu.Binary, "binary_quad", "elementwise")
	axpby       = ofTable(gpu.Axpby, "axpby", "elementwise")
	where       = ofTable(gpu.Where, "where_", "elementwise")
	random      = ofTable(gpu.Random, "random", "elementwise")
	dropout     = ofTable(gpu.Dropout, "dropout", "elementwise")
	sgdStep     = ofTable(gpu.SGDStep, "sgd_step", "elementwise")
	adamStep    = ofTable(gpu.AdamStep, "adam_step", "elementwise")
	adamStepFew = ofTable(gpu.AdamStep, "adam_step_few", "elementwise")

	gatherRows     = ofTable(gpu.GatherRows, "gather_rows", "lookup")
	scatterAddRows = ofTable(gpu.ScatterAddRows, "scatter_add_rows", "lookup")

	reduceThread = entry("reduce_thread", "reduce", groupThreads, 2, ReducePass{})
	reduceRow    = entry("reduce_row", "reduce", groupThreads, 2, ReducePass{})
	reduceColumn = entry("reduce_column", "reduce", groupThreads, 2, ReducePass{})
	argmaxThread = ofTable(gpu.ArgMax, "argmax_thread", "reduce")
	argmaxRow    = ofTable(gpu.ArgMax, "argmax_row", "reduce")

	softmax           = ofTable(gpu.Softmax, "softmax", "rows")
	softmaxBwd        = ofTable(gpu.SoftmaxBwd, "softmax_bwd", "rows")
	xent              = ofTable(gpu.Xent, "xent", "rows")
	xentBwd           = ofTable(gpu.XentBwd, "xent_bwd", "rows")
	layerNorm         = ofTable(gpu.LayerNorm, "layer_norm", "rows")
	layerNormBwd      = ofTable(gpu.LayerNormBwd, "layer_norm_bwd", "rows")
	layerNormParamBwd = ofTable(gpu.LayerNormParamBwd, "layer_norm_param_bwd", "rows")

	im2col     = ofTable(gpu.Im2col, "im2col", "window")
	im2colQuad = ofTable(gpu.Im2col, "im2col_quad", "window")
	col2im     = ofTable(gpu.Col2im, "col2im", "window")
	maxPool    = ofTable(gpu.MaxPool, "max_pool", "window")
	maxPoolBwd = ofTable(gpu.MaxPoolBwd, "max_pool_bwd", "window")

	maxPool2x2     = ofTable(gpu.MaxPool, "max_pool_2x2", "window")
	maxPoolBwdQuad = ofTable(gpu.MaxPoolBwd, "max_pool_bwd_quad", "window")

	gemmPlain    = entry("gemm_plain", "gemm_plain", 64, 4, GemmPass{})
	gemmActivate = entry("gemm_activate", "gemm_sum", groupThreads, 4, GemmPass{})
	gemmSum      = entry("gemm_sum", "gemm_sum", groupThreads, 4, GemmPass{})

	convSum = entry("conv_sum", "conv_sum", groupThreads, 4, ConvPass{})
)
