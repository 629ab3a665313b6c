//go:build cuda && linux && amd64

package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"unsafe"

	"gradbook/gpu"
	"gradbook/gpu/host"
	"gradbook/gpu/kernels"
)

// signature is what an entry of a module takes.
type signature struct {
	kernel gpu.Kernel // of the table; meaningless for a pass
	pass   bool
	args   []gpu.Arg
	params any
}

func signatureOf(entry string) (signature, bool) {
	for _, p := range kernels.Passes {
		if family, _, _ := strings.Cut(p.Name, "_"); strings.HasPrefix(entry, family+"_") {
			return signature{pass: true, args: p.Args, params: p.Params}, true
		}
	}
	best := -1
	for i, k := range gpu.Kernels {
		if strings.HasPrefix(entry, k.Name) && (best < 0 || len(k.Name) > len(gpu.Kernels[best].Name)) {
			best = i
		}
	}
	if best < 0 {
		return signature{}, false
	}
	k := &gpu.Kernels[best]
	return signature{kernel: k.ID, args: k.Args, params: k.Params}, true
}

// unpack is gpu.Pack's inverse.
func (s signature) unpack(t gpu.DType, block []byte) (addrs []uint64, params any) {
	layout := gpu.Layout("", len(s.args), s.params)
	for range s.args {
		addrs = append(addrs, binary.LittleEndian.Uint64(block))
		block = block[8:]
	}
	p := reflect.New(reflect.TypeOf(s.params))
	at := func(f gpu.BlockField, i int) unsafe.Pointer {
		return unsafe.Add(p.UnsafePointer(), f.Offset+uintptr(4*i))
	}
	for _, f := range layout.Scalars {
		var v float64
		switch t {
		case gpu.Float64:
			v = math.Float64frombits(binary.LittleEndian.Uint64(block))
		case gpu.Float32:
			v = float64(math.Float32frombits(binary.LittleEndian.Uint32(block)))
		default:
			v = float64(int32(binary.LittleEndian.Uint32(block)))
		}
		*(*float64)(at(f, 0)) = v
		block = block[t.Size():]
	}
	for _, f := range layout.Words {
		for i := range f.Len {
			*(*uint32)(at(f, i)) = binary.LittleEndian.Uint32(block)
			block = block[4:]
		}
	}
	return addrs, p.Interface()
}

// Results of executing a kernel, as the driver has them.
const (
	ok             = 0
	notFound       = 500
	illegalAddress = 700
	launchFailed   = 719
)

// execute runs a kernel of the device on the host: those of the table on the
// host backend, the passes of package kernels on loops of their own.
func (f *fakeDriver) execute(entry string, t gpu.DType, block []byte) int32 {
	s, known := signatureOf(entry)
	if !known {
		return notFound
	}
	addrs, params := s.unpack(t, block)
	spans := make([][]byte, len(addrs))
	for i, a := range addrs {
		n := f.extent(a)
		if n == 0 {
			return illegalAddress
		}
		spans[i] = unsafe.Slice((*byte)(f.at(a)), n)
	}
	if s.pass {
		if t == gpu.Float64 {
			return runPass[float64](entry, params, spans)
		}
		return runPass[float32](entry, params, spans)
	}
	if err := runOnHost(s.kernel, t, params, spans); err != nil {
		fmt.Println("fake:", entry, t, err)
		return launchFailed
	}
	return ok
}

var reference = host.New()

func runOnHost(k gpu.Kernel, t gpu.DType, params any, spans [][]byte) error {
	l := gpu.Launch{Kernel: k, DType: t, Params: params}
	for _, s := range spans {
		b, err := reference.Alloc(int64(len(s)))
		if err != nil {
			return err
		}
		defer reference.Free(b)
		span := gpu.Span{Buffer: b, Bytes: int64(len(s))}
		if err := reference.Upload(span, s); err != nil {
			return err
		}
		l.Args = append(l.Args, span)
	}
	if err := reference.Launch(l); err != nil {
		return err
	}
	for i, s := range spans {
		if k.Info().Args[i].Access != gpu.In {
			if err := reference.Download(s, l.Args[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func runPass[T float32 | float64](entry string, params any, spans [][]byte) int32 {
	x := make([][]T, len(spans))
	for i, s := range spans {
		x[i] = unsafe.Slice((*T)(unsafe.Pointer(&s[0])), len(s)/int(unsafe.Sizeof(T(0))))
	}
	switch p := params.(type) {
	case *kernels.ReducePass:
		reducePass(p, x[0], x[1])
	case *kernels.GemmPass:
		switch entry {
		case "gemm_sum":
			sumPass(p, x[0], x[2], x[3])
		case "gemm_activate":
			for i := range p.M * p.N {
				x[2][i] = activate(p.Act, x[2][i])
			}
		default:
			gemmPass(p, x[0], x[1], x[2], x[3])
		}
	case *kernels.ConvPass:
		switch {
		case entry == "conv_sum":
			convSumPass(p, x[0], x[2], x[3])
		case strings.HasPrefix(entry, "conv_param"), entry == "conv_narrow":
			convParamPass(p, x[0], x[1], x[2], x[3])
		case strings.HasPrefix(entry, "conv_bwd"):
			clear(x[3][:p.N*p.C*p.H*p.W])
			underTaps(p, 0, p.N*p.OH*p.OW, func(y, image, w int) { x[3][image] += x[0][y] * x[1][w] })
		default:
			convPass(p, x[0], x[1], x[2], x[3])
		}
	default:
		return notFound
	}
	return ok
}

func reducePass[T float32 | float64](p *kernels.ReducePass, x, out []T) {
	for outer := range int(p.Outer) {
		for chunk := range int(p.Chunks) {
			for inner := range int(p.Inner) {
				from := chunk * int(p.Chunk)
				to := min(from+int(p.Chunk), int(p.Axis))
				var s T
				if p.Op != gpu.ReduceSum {
					s = T(math.Inf(map[uint32]int{gpu.ReduceMax: -1, gpu.ReduceMin: 1}[p.Op]))
				}
				for a := from; a < to; a++ {
					v := x[(outer*int(p.Axis)+a)*int(p.Inner)+inner]
					switch {
					case p.Op == gpu.ReduceSum:
						s += v
					case v != v || s != s:
						s = T(math.NaN())
					case p.Op == gpu.ReduceMax:
						s = max(s, v)
					case p.Op == gpu.ReduceMin:
						s = min(s, v)
					}
				}
				out[(outer*int(p.Chunks)+chunk)*int(p.Inner)+inner] = T(p.Scale) * s
			}
		}
	}
}

// The ends of a product, as in src/gemm_end.slang.
const (
	endLinear   = 1
	endParamBwd = 2
)

// finish stores the sum v of element (m, n).
func finish[T float32 | float64](p *kernels.GemmPass, batch, m, n int, v T, c, bias []T) {
	at := &c[batch*int(p.StrideC)+m*int(p.LDC)+n]
	switch p.End {
	case endParamBwd:
		*at = v
	case endLinear:
		v += bias[n]
		if p.Act == gpu.ReLU {
			v = activate(p.Act, v)
		}
		*at = v
	default:
		v *= T(p.Alpha)
		if p.Beta != 0 {
			v += T(p.Beta) * *at
		}
		*at = v
	}
}

func activate[T float32 | float64](act uint32, v T) T {
	switch act {
	case gpu.ReLU:
		if v == v {
			v = max(v, 0)
		}
	case gpu.Tanh:
		v = T(math.Tanh(float64(v)))
	case gpu.Sigmoid:
		v = T(1 / (1 + math.Exp(-float64(v))))
	}
	return v
}

// gemmPass stores sums, or where K is split the parts: (batch, split, M, N) and
// after them (split, M).
func gemmPass[T float32 | float64](p *kernels.GemmPass, a, b, c, bias []T) {
	elem := func(x []T, batch, stride, trans, ld uint32, i, j int) T {
		if trans != 0 {
			i, j = j, i
		}
		return x[int(batch*stride)+i*int(ld)+j]
	}
	for batch := range p.Batch {
		for split := range p.Splits {
			from := int(split * p.Chunk)
			to := min(from+int(p.Chunk), int(p.K))
			part := int(batch*p.Splits + split)
			for m := range int(p.M) {
				var row T
				for k := from; k < to; k++ {
					row += elem(a, batch, p.StrideA, p.TransA, p.LDA, m, k)
				}
				for n := range int(p.N) {
					var s T
					for k := from; k < to; k++ {
						s += elem(a, batch, p.StrideA, p.TransA, p.LDA, m, k) * elem(b, batch, p.StrideB, p.TransB, p.LDB, k, n)
					}
					if p.Splits == 1 {
						finish(p, int(batch), m, n, s, c, bias)
					} else {
						c[(part*int(p.M)+m)*int(p.N)+n] = s
					}
				}
				if p.End == endParamBwd {
					if p.Splits == 1 {
						bias[m] = row
					} else {
						c[int((p.Splits*p.N+split)*p.M)+m] = row
					}
				}
			}
		}
	}
}

func sumPass[T float32 | float64](p *kernels.GemmPass, parts, c, bias []T) {
	size := int(p.M * p.N)
	for batch := range int(p.Batch) {
		for at := range size {
			var s T
			for k := range int(p.Splits) {
				s += parts[(batch*int(p.Splits)+k)*size+at]
			}
			finish(p, batch, at/int(p.N), at%int(p.N), s, c, bias)
		}
	}
	if p.End == endParamBwd {
		for m := range int(p.M) {
			var s T
			for k := range int(p.Splits) {
				s += parts[int(p.Splits)*size+k*int(p.M)+m]
			}
			bias[m] = s
		}
	}
}
