package tensor

import (
	"fmt"
	"slices"
	"sync/atomic"

	"gradbook/gpu"
)

// DType is the type of a tensor's elements.
type DType = gpu.DType

// The element types. Float32 is the default. Labels and indexes are Int32,
// which can be made, copied, indexed, compared and cast, but not computed with.
const (
	Float32 = gpu.Float32
	Float64 = gpu.Float64
	Int32   = gpu.Int32
)

// MaxRank is the largest number of dimensions.
const MaxRank = gpu.MaxRank

// Tensor is an array of numbers on a device. Several tensors may be views of
// the same numbers: those that T, Reshape, Slice and the like return.
type Tensor struct {
	*base
	offset  int // elements of the storage before the first one
	shape   []int
	strides []int // in elements; 0 repeats
	dtype   DType
}

// base is what the views of one storage share.
type base struct {
	store   *gpu.Storage
	holders atomic.Int32  // tensors made as views of store and not released
	version atomic.Uint32 // writes in place so far
}

// Shape returns the sizes of the dimensions, outermost first; none for a
// scalar.
func (t *Tensor) Shape() []int { return slices.Clone(t.shape) }

// Rank returns the number of dimensions.
func (t *Tensor) Rank() int { return len(t.shape) }

// Dim returns the size of dimension i; -1 is the last.
func (t *Tensor) Dim(i int) int { return t.shape[t.dim("Dim", i)] }

// Len returns the number of elements.
func (t *Tensor) Len() int { return count(t.shape) }

// DType returns the type of the elements.
func (t *Tensor) DType() DType { return t.dtype }

// Device returns the device that the tensor is on.
func (t *Tensor) Device() *gpu.Device { return t.store.Device() }

// Storage returns the storage that the tensor is a view of.
func (t *Tensor) Storage() *gpu.Storage { return t.store }

// Name returns the name of the tensor's storage in maps and errors, "" if it
// has none.
func (t *Tensor) Name() string { return t.store.Owner().Name }

// SetName names the tensor's storage in maps and errors, and returns t.
func (t *Tensor) SetName(name string) *Tensor {
	t.store.SetName(name)
	return t
}

// SetRole says in maps what the tensor's storage is for, and returns t.
func (t *Tensor) SetRole(r gpu.Role) *Tensor {
	t.store.SetRole(r)
	return t
}

// Version counts the writes in place to the tensor's storage.
func (t *Tensor) Version() int { return int(t.version.Load()) }

// View is the run of bytes from the first element to the last.
func (t *Tensor) View() gpu.View { return t.view() }

// Storages visits the storage, for those who look for what a variable holds.
func (t *Tensor) Storages(visit func(part string, s *gpu.Storage)) {
	if t != nil {
		visit("", t.store)
	}
}

// Retain counts another holder of the tensor's storage, for Release.
func (t *Tensor) Retain() { t.holders.Add(1) }

// Release gives up t. When all tensors made as views of its storage, and all
// that Retain counted, were given up, the memory is freed. A tensor that was
// dropped without Release leaves that to Go's collector.
func (t *Tensor) Release() {
	if t.holders.Add(-1) == 0 {
		t.store.Free()
	}
}

// Free gives the tensor's memory back now, and that of all its views. Using
// one of them afterwards panics. Without Free the memory comes back when Go's
// collector finds that nothing can reach it.
func (t *Tensor) Free() { t.store.Free() }

// Freed reports whether the tensor's memory was given back.
func (t *Tensor) Freed() bool { return t.store.Freed() }

// Become makes t what o is, and frees what t was. o must not be used
// afterwards. It lets a handle that others hold, such as a parameter's
// gradient, follow to a new result.
func (t *Tensor) Become(o *Tensor) {
	if t.base != o.base {
		t.Free()
	}
	*t = *o
}

// SameStorage reports whether t and o are views of one storage.
func (t *Tensor) SameStorage(o *Tensor) bool { return t.base == o.base }

// Contiguous reports whether the elements lie densely in row-major order.
func (t *Tensor) Contiguous() bool {
	want := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] != 1 && t.strides[i] != want {
			return false
		}
		want *= t.shape[i]
	}
	return true
}

// fresh makes a tensor with no content yet.
func fresh(dev *gpu.Device, op string, dt DType, shape []int) *Tensor {
	checkShape(op, shape)
	store := dev.NewStorage(int64(count(shape))*dt.Size(), op, gpu.Temporary)
	return over(store, dt, shape)
}

func over(store *gpu.Storage, dt DType, shape []int) *Tensor {
	b := &base{store: store}
	b.holders.Store(1)
	return &Tensor{base: b, shape: slices.Clone(shape), strides: rowMajor(shape), dtype: dt}
}

// like makes a tensor with no content yet on t's device.
func (t *Tensor) like(op string, shape []int) *Tensor {
	return fresh(t.Device(), op, t.dtype, shape)
}

// view is the run of bytes from the first element to the last.
func (t *Tensor) view() gpu.View {
	last := 0
	for i, n := range t.shape {
		last += (n - 1) * t.strides[i]
	}
	size := t.dtype.Size()
	return gpu.View{Storage: t.store, Offset: int64(t.offset) * size, Bytes: int64(last+1) * size}
}

// run launches a kernel on the device of its last argument, which every kernel
// writes.
func run(op string, k gpu.Kernel, dt DType, params any, args ...gpu.View) {
	if err := args[len(args)-1].Storage.Device().Run(k, dt, params, args...); err != nil {
		panic(&DeviceError{op, err})
	}
}

// dense returns t if it is contiguous, else a copy, and a function that frees
// the copy.
func (t *Tensor) dense(op string) (*Tensor, func()) {
	if t.Contiguous() {
		return t, func() {}
	}
	c := t.copy(op)
	return c, c.Free
}

func (t *Tensor) copy(op string) *Tensor {
	out := t.like(op, t.shape)
	p := gpu.CopyParams{N: uint32(t.Len())}
	p.Rank, p.Dims = merge(t.shape, []*gpu.Strides{&p.X}, t.strides)
	run(op, gpu.Copy, t.dtype, &p, t.view(), out.view())
	return out
}

// Clone returns a contiguous copy of t with a storage of its own.
func (t *Tensor) Clone() *Tensor { return t.copy("clone") }

// Dense returns t if it is contiguous, else a copy that is.
func (t *Tensor) Dense() *Tensor {
	if t.Contiguous() {
		return t
	}
	return t.copy("dense")
}

// Cast returns t converted to dtype dt; t itself if it has it already. Floats
// become integers by truncation toward zero.
func (t *Tensor) Cast(dt DType) *Tensor {
	operands("cast", t)
	if dt == t.dtype {
		return t
	}
	x, free := t.dense("cast")
	defer free()
	out := fresh(t.Device(), "cast", dt, t.shape)
	run("cast", gpu.Cast, dt, &gpu.CastParams{From: uint32(t.dtype), N: uint32(t.Len())}, x.view(), out.view())
	return out
}

// To returns t on device dev; t itself if it is there already. The numbers go
// through host memory.
func (t *Tensor) To(dev *gpu.Device) *Tensor {
	operands("to", t)
	if dev == t.Device() {
		return t
	}
	return over(dev.FromHost(t.bytes("to"), "to", t.store.Owner().Role), t.dtype, t.shape).SetName(t.Name())
}

func count(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

func rowMajor(shape []int) []int {
	strides := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = n
		n *= shape[i]
	}
	return strides
}

func checkShape(op string, shape []int) {
	if len(shape) > MaxRank {
		Fail(op, fmt.Sprintf("shape %s has more than %d dimensions", shapeString(shape), MaxRank), "reshape")
	}
	n := 1
	for _, s := range shape {
		if s < 1 {
			Fail(op, fmt.Sprintf("shape %s has a size below 1", shapeString(shape)), "")
		}
		if n > maxLen/s {
			Fail(op, fmt.Sprintf("shape %s has more than %d elements", shapeString(shape), maxLen), "split it")
		}
		n *= s
	}
}

// maxLen is the largest number of elements: kernels count and step in 32 bits.
const maxLen = 1<<31 - 1

// merge joins neighbouring dimensions that all stride lists step through as
// one, and writes the strides out.
func merge(shape []int, out []*gpu.Strides, strides ...[]int) (uint32, gpu.Dims) {
	var dims gpu.Dims
	n := 0
	for i, s := range shape {
		if s == 1 {
			continue
		}
		joins := n > 0
		for k := range strides {
			joins = joins && int(out[k][n-1]) == strides[k][i]*s
		}
		if joins {
			n--
			dims[n] *= uint32(s)
		} else {
			dims[n] = uint32(s)
		}
		for k := range strides {
			out[k][n] = int32(strides[k][i])
		}
		n++
	}
	if n == 0 {
		dims[0], n = 1, 1
	}
	return uint32(n), dims
}
