package gpu

// MaxRank is the largest rank that strided kernels take, after neighbouring
// dimensions that lie densely have been merged.
const MaxRank = 6

// Dims are sizes of up to MaxRank dimensions, outermost first; the rest is 0.
type Dims [MaxRank]uint32

// Strides are steps in elements, in the order of Dims; 0 repeats an element.
type Strides [MaxRank]int32

// A params struct holds float64 fields first, the kernel's scalars, then
// 32-bit words. Pack lays it out after the addresses of the arguments: scalars
// in the launch's dtype, words as they are. N counts elements of the output.
type (
	// FillParams sets every element of out to Value.
	FillParams struct {
		Value float64
		N     uint32
	}

	// ArangeParams sets out[i] to Start + i*Step.
	ArangeParams struct {
		Start, Step float64
		N           uint32
	}

	// CopyParams reads x at strides, in elements from its first byte, into a
	// dense out of shape Dims.
	CopyParams struct {
		N, Rank uint32
		Dims    Dims
		X       Strides
	}

	// PasteParams writes a dense x of shape Dims into dst at strides.
	PasteParams struct {
		N, Rank uint32
		Dims    Dims
		Dst     Strides
	}

	// CastParams converts x, whose type is From, to the launch's dtype. Floats
	// become integers by truncation toward zero; what an int32 cannot hold
	// gives an undefined integer.
	CastParams struct {
		From, N uint32
	}

	// UnaryParams: out[i] = Scale*Op(x[i]) + Offset. Op is a UnaryOp.
	UnaryParams struct {
		Scale, Offset float64
		Op, N         uint32
	}

	// BinaryParams: out = Scale*Op(a, b) + Offset over Dims, a and b at
	// strides, out dense. Op is a BinaryOp.
	BinaryParams struct {
		Scale, Offset float64
		Op, N, Rank   uint32
		Dims          Dims
		A, B          Strides
	}

	// AxpbyParams: y[i] = Alpha*x[i] + Beta*y[i]. With Beta 0, y is only
	// written, whatever it held.
	AxpbyParams struct {
		Alpha, Beta float64
		N           uint32
	}

	// WhereParams: out[i] = a[i] if cond[i] is not 0, else b[i]; all dense.
	WhereParams struct {
		N uint32
	}

	// ReduceParams: x is (Outer, Axis, Inner), out is (Outer, Inner);
	// out = Scale*Op over Axis, added in a fixed order. Op is a ReduceOp.
	ReduceParams struct {
		Scale                  float64
		Op, Outer, Axis, Inner uint32
	}

	// ArgMaxParams: as ReduceParams; out holds the first index of the largest
	// element. A NaN counts as larger than any number.
	ArgMaxParams struct {
		Outer, Axis, Inner uint32
	}

	// GemmParams: for each of Batch products, row-major,
	// c = Alpha*op(a)*op(b) + Beta*c with op(a) M by K, op(b) K by N.
	// TransA and TransB are 0 or 1; LDA, LDB, LDC are the row lengths in
	// memory; StrideA, StrideB, StrideC are the steps, in elements, from one
	// matrix of the batch to the next (0 shares one). With Beta 0, c is only
	// written.
	GemmParams struct {
		Alpha, Beta               float64
		TransA, TransB            uint32
		M, N, K                   uint32
		LDA, LDB, LDC             uint32
		Batch                     uint32
		StrideA, StrideB, StrideC uint32
	}

	// RowsParams: Rows rows of Width elements are taken from, or added to, a
	// table of Table rows. An index outside the table gives a row of NaN
	// (gather; 0 for Int32) or is left out (scatter).
	RowsParams struct {
		Rows, Width, Table uint32
	}

	// WindowParams slides a KH by KW window over N images of C planes of H by
	// W; OH by OW windows fit. Column layout is (N, C*KH*KW, OH*OW). Pad is
	// what lies outside the image.
	WindowParams struct {
		Pad            float64
		N, C, H, W     uint32
		KH, KW, OH, OW uint32
		SH, SW         uint32 // stride
		PH, PW         uint32 // padding before the first row and column
		DH, DW         uint32 // dilation
	}

	// PoolParams: y is the largest element of each window, index its position in
	// the window (see MaxPool); windows are as in WindowParams, and each has a
	// position inside the image. Act is Identity or ReLU: with ReLU, y is 0 and
	// index -1 where no element is above 0 (a NaN stays NaN, with index -1),
	// which is what ReLU before or after pooling gives and lets through of a
	// gradient. The backward kernel ignores Act: dx is dy's elements at their
	// positions, and -1 is none.
	PoolParams struct {
		Act            uint32
		N, C, H, W     uint32
		KH, KW, OH, OW uint32
		SH, SW         uint32
		PH, PW         uint32
		DH, DW         uint32
	}

	// RandomParams draws N numbers with Philox4x32-10 (Salmon et al. 2011):
	// element i uses lane i%4 of the 128-bit counter (count low, count high, 0,
	// 0) with count = state.count + i/4 and key (key low, key high). Dist is a
	// RandomDist over A and B. The state is advanced by a Count launch that
	// follows.
	RandomParams struct {
		A, B    float64
		Dist, N uint32
	}

	// CountParams adds Add to the 64-bit count in the first 8 bytes of a state
	// block. A state block is four 32-bit words: count low, count high, key
	// low, key high.
	CountParams struct {
		Add uint32
	}

	// LinearParams: y = Act(x*w' + b), x Rows by In, w Out by In, b Out. Act
	// is a UnaryOp: Identity, ReLU, Sigmoid or Tanh.
	LinearParams struct {
		Act, Rows, In, Out uint32
	}

	// LinearParamBwdParams: dw = dy'*x and db = the sum of dy's rows, rows
	// added in a fixed order.
	LinearParamBwdParams struct {
		Rows, In, Out uint32
	}

	// Conv2DParams: y = Act(x * w + b), the cross-correlation of images x (N, C,
	// H, W) with kernels w (O, C, KH, KW), zeros around the images, plus b (O);
	// y is (N, O, OH, OW). Act is as in LinearParams. The two backward kernels
	// take the gradient dy of x * w + b and ignore Act: dx is that of x; dw and
	// db, sums over all windows in a fixed order, are those of w and b.
	Conv2DParams struct {
		Act            uint32
		N, C, H, W     uint32
		O              uint32
		KH, KW, OH, OW uint32
		SH, SW         uint32 // stride
		PH, PW         uint32 // padding before the first row and column
		DH, DW         uint32 // dilation
	}

	// SoftmaxParams: over each row; with Log 1, the logarithm of it.
	SoftmaxParams struct {
		Rows, Cols, Log uint32
	}

	// XentParams: loss[r] = lse[r] - logits[r][label[r]], lse[r] the log of the
	// row's sum of exponentials. A label outside [0, Cols) gives NaN.
	XentParams struct {
		Rows, Cols uint32
	}

	// XentBwdParams: dlogits[r][c] = Scale*dloss[r*DLossStride]*(softmax - onehot).
	// DLossStride is 0 (one gradient for all rows) or 1.
	XentBwdParams struct {
		Scale                   float64
		Rows, Cols, DLossStride uint32
	}

	// LayerNormParams: y = (x-mean)*rstd*gamma + beta over each row;
	// rstd = 1/sqrt(var+Eps), var without Bessel's correction.
	LayerNormParams struct {
		Eps        float64
		Rows, Cols uint32
	}

	// LayerNormBwdParams serve dx, and dgamma with dbeta.
	LayerNormBwdParams struct {
		Rows, Cols uint32
	}

	// DropoutParams: mask[i] is 0 with probability P, else 1/(1-P); y = x*mask.
	// The uniform number u of element i is RandomParams' i-th, and the mask is 0
	// where u < P. With P 1 every mask is 0.
	DropoutParams struct {
		P float64
		N uint32
	}

	// SGDParams: g += WeightDecay*w; v = Momentum*v + g;
	// w -= LR*(Nesterov ? g + Momentum*v : v).
	SGDParams struct {
		LR, Momentum, WeightDecay float64
		Nesterov, N               uint32
	}

	// AdamParams: Kingma & Ba 2015, with the step number t taken from the
	// state block's count, which is 1 or more and below 2^31:
	//
	//	g += WeightDecay*w, or with Decoupled (AdamW, Loshchilov & Hutter 2019)
	//	w -= LR*WeightDecay*w
	//	m = Beta1*m + (1-Beta1)*g; v = Beta2*v + (1-Beta2)*g*g
	//	w -= LR * (m/(1-Beta1^t)) / (sqrt(v/(1-Beta2^t)) + Eps)
	AdamParams struct {
		LR, Beta1, Beta2, Eps, WeightDecay float64
		Decoupled, N                       uint32
	}
)

// overwrites reports that c is only written and has no gaps between its rows
// and matrices, which would keep what they hold.
func (p *GemmParams) overwrites() bool {
	return p.Beta == 0 && (p.LDC == p.N || p.M <= 1) && (p.Batch <= 1 || p.StrideC == p.M*p.N)
}

// UnaryOp selects the function of a unary launch.
type UnaryOp = uint32

// Unary functions. GELU is the tanh form (Hendrycks & Gimpel 2016). Sign of 0
// is 0. A NaN gives a NaN, through ReLU and Sign too.
const (
	Identity UnaryOp = iota
	Neg
	Abs
	Sign
	Square
	Sqrt
	Rsqrt
	Recip
	Exp
	Log
	Sin
	Cos
	Tanh
	Sigmoid
	ReLU
	GELU
	SiLU
	Softplus
	Floor
	NumUnaryOps
)

// BinaryOp selects the function of a binary launch.
type BinaryOp = uint32

// Binary functions. Comparisons give 0 or 1. Max and Min of a NaN and anything
// give NaN. The names that end in Bwd take
// the gradient of a function's result first; second, what the function
// returned (ReLU, Sigmoid, Tanh, Sqrt) or what it was given (Abs, GELU, SiLU,
// Softplus).
const (
	Add BinaryOp = iota
	Sub
	Mul
	Div
	Max
	Min
	Pow
	Less
	LessEqual
	Greater
	GreaterEqual
	Equal
	NotEqual
	ReLUBwd
	SigmoidBwd
	TanhBwd
	SqrtBwd
	AbsBwd
	GELUBwd
	SiLUBwd
	SoftplusBwd
	NumBinaryOps
)

// ReduceOp selects what a reduce launch does along its axis. A NaN on the axis
// gives NaN. Over an axis of length 0 the sum is 0; max and min need one
// element.
type ReduceOp = uint32

const (
	ReduceSum ReduceOp = iota
	ReduceMax
	ReduceMin
	NumReduceOps
)

// RandomDist selects the distribution of a random launch.
type RandomDist = uint32

const (
	// Uniform is A + (B-A)*u with u = (word>>8) / 2^24, in both dtypes.
	Uniform RandomDist = iota
	// Normal has mean A and deviation B: Box-Muller on lanes (0,1) and (2,3).
	// With u = ((w0>>8)+1) / 2^24 and v = (w1>>8) / 2^24 the first of a pair is
	// A + B*sqrt(-2 ln u)*cos(2 pi v), the second the same with sin.
	Normal
)
