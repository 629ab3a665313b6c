package tensor

import (
	"fmt"

	"gradbook/gpu"
	_ "gradbook/gpu/host" // the device that is always there
)

// Maker makes tensors on a device and of a dtype. The functions of the package
// with the same names make Float32 tensors on gpu.Default().
type Maker struct {
	Device *gpu.Device
	DType  DType
}

// On returns a maker of Float32 tensors on dev.
func On(dev *gpu.Device) Maker { return Maker{dev, Float32} }

// As returns a maker of tensors of dtype dt on gpu.Default().
func As(dt DType) Maker { return Maker{gpu.Default(), dt} }

// As returns a maker of tensors of dtype dt on m's device.
func (m Maker) As(dt DType) Maker { return Maker{m.Device, dt} }

func def() Maker { return On(gpu.Default()) }

// New makes a tensor of values in row-major order; without a shape, a vector.
func New(values []float64, shape ...int) *Tensor { return def().New(values, shape...) }

// New makes a tensor of values in row-major order; without a shape, a vector.
func (m Maker) New(values []float64, shape ...int) *Tensor {
	return m.from("new", encode(values, m.DType), len(values), shape)
}

// Scalar makes a tensor of rank 0.
func Scalar(v float64) *Tensor { return def().Scalar(v) }

// Scalar makes a tensor of rank 0.
func (m Maker) Scalar(v float64) *Tensor {
	return over(m.Device.FromHost(encode([]float64{v}, m.DType), "scalar", 0), m.DType, nil)
}

// FromRows makes a matrix of rows of equal length.
func FromRows(rows [][]float64) *Tensor { return def().FromRows(rows) }

// FromRows makes a matrix of rows of equal length.
func (m Maker) FromRows(rows [][]float64) *Tensor {
	if len(rows) == 0 {
		Fail("fromrows", "there are no rows", "")
	}
	var flat []float64
	for i, r := range rows {
		if len(r) != len(rows[0]) {
			Fail("fromrows", fmt.Sprintf("row %d has %d values, row 0 has %d", i, len(r), len(rows[0])), "")
		}
		flat = append(flat, r...)
	}
	return m.New(flat, len(rows), len(rows[0]))
}

// FromFloat32s makes a Float32 tensor of values; without a shape, a vector.
// The tensor takes the slice over: do not change it afterwards.
func FromFloat32s(values []float32, shape ...int) *Tensor {
	return def().FromFloat32s(values, shape...)
}

// FromFloat32s makes a tensor of values; without a shape, a vector. A Float32
// maker takes the slice over: do not change it afterwards.
func (m Maker) FromFloat32s(values []float32, shape ...int) *Tensor {
	data := raw(values)
	if m.DType != Float32 {
		data = encode(convert[float64](values), m.DType)
	}
	return m.from("new", data, len(values), shape)
}

// FromInts makes an Int32 tensor of labels or indexes; without a shape, a
// vector.
func FromInts(values []int, shape ...int) *Tensor { return def().FromInts(values, shape...) }

// FromInts makes an Int32 tensor of labels or indexes, whatever m's dtype;
// without a shape, a vector.
func (m Maker) FromInts(values []int, shape ...int) *Tensor {
	for i, v := range values {
		if int(int32(v)) != v {
			Fail("fromints", fmt.Sprintf("value %d, %d, is no int32", i, v), "")
		}
	}
	return m.As(Int32).from("new", raw(convert[int32](values)), len(values), shape)
}

// FromBytes makes a tensor of bytes in the device's (little-endian) order.
// The tensor takes the slice over: do not change it afterwards.
func (m Maker) FromBytes(data []byte, shape ...int) *Tensor {
	size := int(m.DType.Size())
	if len(data)%size != 0 {
		Fail("frombytes", fmt.Sprintf("%d bytes are no whole number of %s", len(data), m.DType), "")
	}
	return m.from("new", data, len(data)/size, shape)
}

func (m Maker) from(op string, data []byte, n int, shape []int) *Tensor {
	if len(shape) == 0 {
		shape = []int{n}
	}
	checkShape(op, shape)
	if count(shape) != n {
		Fail(op, fmt.Sprintf("%d values do not fit shape %s", n, shapeString(shape)), "")
	}
	return over(m.Device.FromHost(data, op, gpu.Temporary), m.DType, shape)
}

// Zeros makes a tensor of zeros.
func Zeros(shape ...int) *Tensor { return def().Zeros(shape...) }

// Zeros makes a tensor of zeros.
func (m Maker) Zeros(shape ...int) *Tensor { return m.fill("zeros", 0, shape) }

// Ones makes a tensor of ones.
func Ones(shape ...int) *Tensor { return def().Ones(shape...) }

// Ones makes a tensor of ones.
func (m Maker) Ones(shape ...int) *Tensor { return m.fill("ones", 1, shape) }

// One returns the number 1 as a tensor of one element, of the given shape. All
// share its storage, and nobody must write to it.
func (m Maker) One(shape ...int) *Tensor {
	s, err := m.Device.One(m.DType)
	if err != nil {
		panic(&DeviceError{"one", err})
	}
	return over(s, m.DType, shape)
}

// Full makes a tensor whose elements all are v.
func Full(v float64, shape ...int) *Tensor { return def().Full(v, shape...) }

// Full makes a tensor whose elements all are v.
func (m Maker) Full(v float64, shape ...int) *Tensor { return m.fill("full", v, shape) }

func (m Maker) fill(op string, v float64, shape []int) *Tensor {
	t := fresh(m.Device, op, m.DType, shape)
	run(op, gpu.Fill, m.DType, &gpu.FillParams{Value: v, N: uint32(t.Len())}, t.view())
	return t
}

// Arange makes the vector start, start+step, ... of the values before stop.
func Arange(start, stop, step float64) *Tensor { return def().Arange(start, stop, step) }

// Arange makes the vector start, start+step, ... of the values before stop.
func (m Maker) Arange(start, stop, step float64) *Tensor {
	n := 0
	if step != 0 {
		n = max(0, int((stop-start)/step))
		for n >= 0 && (stop-(start+float64(n)*step))*step > 0 {
			n++
		}
	}
	if n < 1 {
		Fail("arange", fmt.Sprintf("no values from %g up to %g by %g", start, stop, step), "")
	}
	return m.arange("arange", start, step, n)
}

// Linspace makes the vector of n values from start to stop, both included.
func Linspace(start, stop float64, n int) *Tensor { return def().Linspace(start, stop, n) }

// Linspace makes the vector of n values from start to stop, both included.
func (m Maker) Linspace(start, stop float64, n int) *Tensor {
	return m.arange("linspace", start, (stop-start)/float64(max(1, n-1)), n)
}

func (m Maker) arange(op string, start, step float64, n int) *Tensor {
	t := fresh(m.Device, op, m.DType, []int{n})
	run(op, gpu.Arange, m.DType, &gpu.ArangeParams{Start: start, Step: step, N: uint32(n)}, t.view())
	return t
}

// Eye makes the n by n unit matrix.
func Eye(n int) *Tensor { return def().Eye(n) }

// Eye makes the n by n unit matrix.
func (m Maker) Eye(n int) *Tensor {
	t := m.Zeros(n, n)
	ones := m.Ones(n)
	defer ones.Free()
	diagonal := &Tensor{base: t.base, shape: []int{n}, strides: []int{n + 1}, dtype: t.dtype}
	diagonal.CopyFrom(ones)
	return t
}

// Rand draws a tensor of numbers uniform in [0, 1), on the device, from its
// generator (see Seed).
func Rand(shape ...int) *Tensor { return def().Rand(shape...) }

// Rand draws a tensor of numbers uniform in [0, 1), on the device, from its
// generator.
func (m Maker) Rand(shape ...int) *Tensor { return m.random("rand", gpu.Uniform, 0, 1, shape) }

// Randn draws a tensor of numbers with mean 0 and deviation 1, on the device,
// from its generator (see Seed).
func Randn(shape ...int) *Tensor { return def().Randn(shape...) }

// Randn draws a tensor of numbers with mean 0 and deviation 1, on the device,
// from its generator.
func (m Maker) Randn(shape ...int) *Tensor { return m.random("randn", gpu.Normal, 0, 1, shape) }

func (m Maker) random(op string, dist gpu.RandomDist, a, b float64, shape []int) *Tensor {
	t := fresh(m.Device, op, m.DType, shape)
	state := m.Device.RandomState().All()
	run(op, gpu.Random, m.DType, &gpu.RandomParams{A: a, B: b, Dist: dist, N: uint32(t.Len())}, state, t.view())
	advance(op, m.Device.RandomState(), (t.Len()+3)/4)
	return t
}

// advance adds n to the count of a state block.
func advance(op string, state *gpu.Storage, n int) {
	run(op, gpu.Count, Int32, &gpu.CountParams{Add: uint32(n)}, state.All())
}

// Seed starts the random numbers of gpu.Default() anew, for tensors, for
// initial parameters and for dropout: same seed, same numbers.
func Seed(seed uint64) {
	if err := gpu.Default().Seed(seed); err != nil {
		panic(&DeviceError{"seed", err})
	}
}
