package gpu

// Kernel names a row of the kernel table.
type Kernel uint8

// The kernels: primitives first, then fused ones.
const (
	Fill Kernel = iota
	Arange
	Copy
	Paste
	Cast
	Unary
	Binary
	Axpby
	Where
	Reduce
	ArgMax
	Gemm
	GatherRows
	ScatterAddRows
	Im2col
	Col2im
	Random
	Count

	Linear
	LinearParamBwd
	Conv2D
	Conv2DBwd
	Conv2DParamBwd
	Softmax
	SoftmaxBwd
	Xent
	XentBwd
	LayerNorm
	LayerNormBwd
	LayerNormParamBwd
	Dropout
	MaxPool
	MaxPoolBwd
	SGDStep
	AdamStep

	NumKernels
)

var (
	floats = []DType{Float32, Float64}
	all    = []DType{Float32, Float64, Int32}
	state  = []DType{Int32}
)

func in(name string) Arg    { return Arg{name, In, Typed} }
func out(name string) Arg   { return Arg{name, Out, Typed} }
func inOut(name string) Arg { return Arg{name, InOut, Typed} }

// Kernels is the kernel table. Census, traces, documentation, the kernel
// sources' parameter blocks and the conformance suite are derived from it.
var Kernels = [NumKernels]KernelInfo{
	Fill:   {Name: "fill", Args: []Arg{out("out")}, Params: FillParams{}, DTypes: all},
	Arange: {Name: "arange", Args: []Arg{out("out")}, Params: ArangeParams{}, DTypes: all},
	Copy:   {Name: "copy", Args: []Arg{in("x"), out("out")}, Params: CopyParams{}, DTypes: all},
	Paste:  {Name: "paste", Args: []Arg{in("x"), inOut("dst")}, Params: PasteParams{}, DTypes: all},
	Cast:   {Name: "cast", Args: []Arg{{"x", In, Foreign}, out("out")}, Params: CastParams{}, DTypes: all},
	Unary:  {Name: "unary", Args: []Arg{in("x"), out("out")}, Params: UnaryParams{}, DTypes: floats},
	Binary: {Name: "binary", Args: []Arg{in("a"), in("b"), out("out")}, Params: BinaryParams{}, DTypes: floats},
	Axpby: {Name: "axpby", Args: []Arg{in("x"), inOut("y")}, Params: AxpbyParams{}, DTypes: floats,
		Overwrites: func(p any) bool { return p.(*AxpbyParams).Beta == 0 }},
	Where:  {Name: "where", Args: []Arg{in("cond"), in("a"), in("b"), out("out")}, Params: WhereParams{}, DTypes: floats},
	Reduce: {Name: "reduce", Args: []Arg{in("x"), out("out")}, Params: ReduceParams{}, DTypes: floats},
	ArgMax: {Name: "argmax", Args: []Arg{in("x"), {"out", Out, Index}}, Params: ArgMaxParams{}, DTypes: floats},
	Gemm: {Name: "gemm", Args: []Arg{in("a"), in("b"), inOut("c")}, Params: GemmParams{}, DTypes: floats,
		Overwrites: func(p any) bool { return p.(*GemmParams).overwrites() }},
	GatherRows:     {Name: "gather_rows", Args: []Arg{in("table"), {"index", In, Index}, out("out")}, Params: RowsParams{}, DTypes: all},
	ScatterAddRows: {Name: "scatter_add_rows", Args: []Arg{in("x"), {"index", In, Index}, inOut("table")}, Params: RowsParams{}, DTypes: floats},
	Im2col:         {Name: "im2col", Args: []Arg{in("x"), out("cols")}, Params: WindowParams{}, DTypes: floats},
	Col2im:         {Name: "col2im", Args: []Arg{in("cols"), out("x")}, Params: WindowParams{}, DTypes: floats},
	Random:         {Name: "random", Args: []Arg{{"state", In, State}, out("out")}, Params: RandomParams{}, DTypes: floats},
	Count:          {Name: "count", Args: []Arg{{"state", InOut, State}}, Params: CountParams{}, DTypes: state},

	Linear:            {Name: "linear", Tier: Fused, Args: []Arg{in("x"), in("w"), in("b"), out("y")}, Params: LinearParams{}, DTypes: floats},
	LinearParamBwd:    {Name: "linear_param_bwd", Tier: Fused, Args: []Arg{in("dy"), in("x"), out("dw"), out("db")}, Params: LinearParamBwdParams{}, DTypes: floats},
	Conv2D:            {Name: "conv2d", Tier: Fused, Args: []Arg{in("x"), in("w"), in("b"), out("y")}, Params: Conv2DParams{}, DTypes: floats},
	Conv2DBwd:         {Name: "conv2d_bwd", Tier: Fused, Args: []Arg{in("dy"), in("w"), out("dx")}, Params: Conv2DParams{}, DTypes: floats},
	Conv2DParamBwd:    {Name: "conv2d_param_bwd", Tier: Fused, Args: []Arg{in("dy"), in("x"), out("dw"), out("db")}, Params: Conv2DParams{}, DTypes: floats},
	Softmax:           {Name: "softmax", Tier: Fused, Args: []Arg{in("x"), out("y")}, Params: SoftmaxParams{}, DTypes: floats},
	SoftmaxBwd:        {Name: "softmax_bwd", Tier: Fused, Args: []Arg{in("y"), in("dy"), out("dx")}, Params: SoftmaxParams{}, DTypes: floats},
	Xent:              {Name: "xent", Tier: Fused, Args: []Arg{in("logits"), {"labels", In, Index}, out("loss"), out("lse")}, Params: XentParams{}, DTypes: floats},
	XentBwd:           {Name: "xent_bwd", Tier: Fused, Args: []Arg{in("logits"), {"labels", In, Index}, in("lse"), in("dloss"), out("dlogits")}, Params: XentBwdParams{}, DTypes: floats},
	LayerNorm:         {Name: "layer_norm", Tier: Fused, Args: []Arg{in("x"), in("gamma"), in("beta"), out("y"), out("mean"), out("rstd")}, Params: LayerNormParams{}, DTypes: floats},
	LayerNormBwd:      {Name: "layer_norm_bwd", Tier: Fused, Args: []Arg{in("dy"), in("x"), in("gamma"), in("mean"), in("rstd"), out("dx")}, Params: LayerNormBwdParams{}, DTypes: floats},
	LayerNormParamBwd: {Name: "layer_norm_param_bwd", Tier: Fused, Args: []Arg{in("dy"), in("x"), in("mean"), in("rstd"), out("dgamma"), out("dbeta")}, Params: LayerNormBwdParams{}, DTypes: floats},
	Dropout:           {Name: "dropout", Tier: Fused, Args: []Arg{{"state", In, State}, in("x"), out("y"), out("mask")}, Params: DropoutParams{}, DTypes: floats},
	MaxPool:           {Name: "max_pool", Tier: Fused, Args: []Arg{in("x"), out("y"), {"index", Out, Index}}, Params: PoolParams{}, DTypes: floats},
	MaxPoolBwd:        {Name: "max_pool_bwd", Tier: Fused, Args: []Arg{in("dy"), {"index", In, Index}, out("dx")}, Params: PoolParams{}, DTypes: floats},
	SGDStep:           {Name: "sgd_step", Tier: Fused, Args: []Arg{in("g"), inOut("w"), inOut("v")}, Params: SGDParams{}, DTypes: floats},
	AdamStep:          {Name: "adam_step", Tier: Fused, Args: []Arg{in("g"), {"state", In, State}, inOut("w"), inOut("m"), inOut("v")}, Params: AdamParams{}, DTypes: floats},
}

// MaxPool's index is the position in the window, kh*KW+kw, of the first
// largest element; a padded position never wins, and a NaN counts as larger
// than any number.

func init() {
	for i := range Kernels {
		Kernels[i].ID = Kernel(i)
	}
}
