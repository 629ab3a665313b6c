package tensor

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// bytes returns the elements in row-major order, in memory of their own.
func (t *Tensor) bytes(op string) []byte {
	operands(op, t)
	x, free := t.dense(op)
	defer free()
	b := make([]byte, int64(t.Len())*t.dtype.Size())
	if err := x.store.Read(b, int64(x.offset)*t.dtype.Size()); err != nil {
		panic(&DeviceError{op, err})
	}
	return b
}

type number interface{ ~int32 | ~float32 | ~float64 }

// cast reads b as numbers of type T.
func cast[T number](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var z T
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(z)))
}

func raw[T number](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

func convert[To, From number | ~int](v []From) []To {
	out := make([]To, len(v))
	for i, x := range v {
		out[i] = To(x)
	}
	return out
}

// Float64s waits for the device and returns the elements in row-major order.
func (t *Tensor) Float64s() []float64 {
	b := t.bytes("Float64s")
	switch t.dtype {
	case Float64:
		return cast[float64](b)
	case Float32:
		return convert[float64](cast[float32](b))
	}
	return convert[float64](cast[int32](b))
}

// Float32s waits for the device and returns the elements in row-major order.
func (t *Tensor) Float32s() []float32 {
	b := t.bytes("Float32s")
	switch t.dtype {
	case Float32:
		return cast[float32](b)
	case Float64:
		return convert[float32](cast[float64](b))
	}
	return convert[float32](cast[int32](b))
}

// Ints waits for the device and returns the elements in row-major order,
// floats truncated toward zero.
func (t *Tensor) Ints() []int {
	b := t.bytes("Ints")
	switch t.dtype {
	case Int32:
		return convert[int](cast[int32](b))
	case Float64:
		return convert[int](cast[float64](b))
	}
	return convert[int](cast[float32](b))
}

// Item waits for the device and returns the one element of t.
func (t *Tensor) Item() float64 {
	operands("Item", t)
	if t.Len() != 1 {
		Fail("Item", fmt.Sprintf("has %d elements, not one", t.Len()), "pick one with At, or reduce first", t)
	}
	return t.Float64s()[0]
}

// At waits for the device and returns one element. Negative indexes count
// from the end.
func (t *Tensor) At(indexes ...int) float64 {
	operands("At", t)
	if len(indexes) != len(t.shape) {
		Fail("At", fmt.Sprintf("got %d indexes", len(indexes)), "give one a dimension", t)
	}
	return t.Index(indexes...).Item()
}

// Set replaces the elements of t by values, in row-major order.
func (t *Tensor) Set(values []float64) {
	operands("Set", t)
	if len(values) != t.Len() {
		Fail("Set", fmt.Sprintf("got %d values for %d elements", len(values), t.Len()), "", t)
	}
	data := encode(values, t.dtype)
	whole := t.Contiguous() && int64(len(data)) == t.store.Bytes()
	if whole {
		if err := t.store.Write(data); err != nil {
			panic(&DeviceError{"Set", err})
		}
		t.version.Add(1)
		return
	}
	x := over(t.Device().FromHost(data, "Set", 0), t.dtype, t.shape)
	defer x.Free()
	t.CopyFrom(x)
}

func encode(values []float64, dt DType) []byte {
	switch dt {
	case Float64:
		return append([]byte(nil), raw(values)...)
	case Float32:
		return raw(convert[float32](values))
	}
	return raw(convert[int32](values))
}

// HostBytes returns the bytes of a contiguous tensor in host memory, which
// must not be changed. The host keeps them, so a second call costs nothing.
func (t *Tensor) HostBytes() []byte {
	operands("HostBytes", t)
	if !t.Contiguous() {
		Fail("HostBytes", "is not contiguous", "use Dense first", t)
	}
	b, err := t.store.Host()
	if err != nil {
		panic(&DeviceError{"HostBytes", err})
	}
	size := t.dtype.Size()
	return b[int64(t.offset)*size:][:int64(t.Len())*size]
}

// edge is how many elements at each end of a long dimension String shows.
const edge = 3

// String shows dtype, shape and device, and the values, of long dimensions the
// first and last ones. It waits for the device.
func (t *Tensor) String() string {
	if t == nil {
		return "nil tensor"
	}
	head := fmt.Sprintf("%s %s on %s", t.dtype, shapeString(t.shape), t.Device())
	if n := t.Name(); n != "" {
		head = n + ": " + head
	}
	if t.Freed() {
		return head + ", freed"
	}
	values, err := t.shown()
	if err != nil {
		return head + ": " + err.Error()
	}
	return head + "\n" + values
}

func (t *Tensor) shown() (s string, err error) {
	defer func() {
		if e, ok := recover().(*DeviceError); ok {
			err = e
		}
	}()
	// A scalar is read as it is; of a large tensor only the rows shown are.
	var b strings.Builder
	t.show(&b, 1)
	return b.String(), nil
}

func (t *Tensor) show(b *strings.Builder, indent int) {
	switch len(t.shape) {
	case 0:
		b.WriteString(t.format(t.Float64s()[0]))
	case 1:
		b.WriteByte('[')
		n := t.shape[0]
		if n <= 4*edge {
			t.list(b, t)
		} else {
			t.list(b, t.part(0, edge))
			b.WriteString(" ... ")
			t.list(b, t.part(n-edge, n))
		}
		b.WriteByte(']')
	default:
		b.WriteByte('[')
		n := t.shape[0]
		for i := 0; i < n; i++ {
			if i > 0 {
				b.WriteString("\n" + strings.Repeat(" ", indent))
			}
			if n > 4*edge && i == edge {
				b.WriteString("...\n" + strings.Repeat(" ", indent))
				i = n - edge
			}
			t.part(i, i+1).drop().show(b, indent+1)
		}
		b.WriteByte(']')
	}
}

// part and drop are Slice and Index for looking only: no holders of the storage.
func (t *Tensor) part(lo, hi int) *Tensor {
	shape := append([]int{hi - lo}, t.shape[1:]...)
	return &Tensor{base: t.base, offset: t.offset + lo*t.strides[0], shape: shape, strides: t.strides, dtype: t.dtype}
}

func (t *Tensor) drop() *Tensor {
	return &Tensor{base: t.base, offset: t.offset, shape: t.shape[1:], strides: t.strides[1:], dtype: t.dtype}
}

func (t *Tensor) list(b *strings.Builder, part *Tensor) {
	for i, v := range part.Float64s() {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.format(v))
	}
}

func (t *Tensor) format(v float64) string {
	if t.dtype == Int32 {
		return strconv.Itoa(int(v))
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}
