package data

import (
	"fmt"
	"math/rand/v2"

	"gradbook/autograd"
	"gradbook/gpu"
	"gradbook/tensor"
)

// Dataset is rows of inputs X and targets Y, seen in some order.
type Dataset struct {
	// X holds all inputs, (n, ...), whatever the order.
	X *autograd.Var
	// Y holds all targets: Int32 labels (n), or values (n, ...).
	Y *autograd.Var
	// Name says what it is.
	Name string
	// Classes names the labels; nil if they are numbers, or Y is no labels.
	Classes []string
	// Mean and Dev tell, for images, what a pixel p from 0 to 255 became:
	// (p/255 - Mean) / Dev. Dev is 0 for what are no images.
	Mean, Dev float64

	order []int // rows in the order in which they are seen; nil: all, as they are
}

// Batch is some rows of a dataset.
type Batch struct {
	X, Y *autograd.Var
}

// Len returns the number of rows.
func (b Batch) Len() int { return b.X.Dim(0) }

// New makes a dataset of inputs (n, ...) and targets (n, ...).
func New(x, y *tensor.Tensor) *Dataset {
	if x.Rank() == 0 || y.Rank() == 0 || x.Dim(0) != y.Dim(0) {
		tensor.Fail("dataset", "inputs and targets must have as many rows", "", x, y)
	}
	return &Dataset{X: autograd.Const(x.Dense().SetRole(gpu.Data)), Y: autograd.Const(y.Dense().SetRole(gpu.Data))}
}

// Len returns the number of rows seen.
func (d *Dataset) Len() int {
	if d.order == nil {
		return d.X.Dim(0)
	}
	return len(d.order)
}

func (d *Dataset) String() string {
	name := d.Name
	if name == "" {
		name = "dataset"
	}
	return fmt.Sprintf("%s: %d rows, X %v, Y %v", name, d.Len(), d.X.Shape()[1:], d.Y.Shape()[1:])
}

// row is where the i-th row seen lies.
func (d *Dataset) row(i int) int {
	if d.order == nil {
		return i
	}
	return d.order[i]
}

func (d *Dataset) ordered(order []int) *Dataset {
	c := *d
	c.order = order
	return &c
}

// Shuffled returns the same rows in an order drawn from the seed, an epoch's
// number for example. It copies no rows.
func (d *Dataset) Shuffled(seed int) *Dataset {
	order := make([]int, d.Len())
	for i := range order {
		order[i] = d.row(i)
	}
	r := rand.New(rand.NewPCG(uint64(seed), 0x5348554646)) // a stream of its own
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return d.ordered(order)
}

// Subset returns the rows at the given places.
func (d *Dataset) Subset(rows []int) *Dataset {
	if len(rows) == 0 {
		tensor.Fail("subset", "there are no rows", "", d.X.Value)
	}
	order := make([]int, len(rows))
	for i, r := range rows {
		if r < 0 || r >= d.Len() {
			tensor.Fail("subset", fmt.Sprintf("row %d of a dataset of %d", r, d.Len()), "", d.X.Value)
		}
		order[i] = d.row(r)
	}
	return d.ordered(order)
}

// Slice returns rows lo up to, but not including, hi.
func (d *Dataset) Slice(lo, hi int) *Dataset {
	if lo < 0 || hi > d.Len() || lo >= hi {
		tensor.Fail("slice", fmt.Sprintf("%d up to %d is not a range of %d rows", lo, hi, d.Len()), "", d.X.Value)
	}
	order := make([]int, hi-lo)
	for i := range order {
		order[i] = d.row(lo + i)
	}
	return d.ordered(order)
}

// Split returns the given part of the rows, 0.9 for nine of ten, and the rest.
// Shuffle first unless the order is random already.
func (d *Dataset) Split(part float64) (first, rest *Dataset) {
	n := int(part*float64(d.Len()) + 0.5)
	if n < 1 || n >= d.Len() {
		tensor.Fail("split", fmt.Sprintf("%g of %d rows leaves one side empty", part, d.Len()), "use a part between 0 and 1", d.X.Value)
	}
	return d.Slice(0, n), d.Slice(n, d.Len())
}

// Reshaped returns the dataset with each input in another shape: (1, 28, 28)
// for images that a convolution takes. It copies no rows.
func (d *Dataset) Reshaped(shape ...int) *Dataset {
	c := *d
	c.X = d.X.Reshape(append([]int{d.X.Dim(0)}, shape...)...)
	return &c
}

// Batches yields batches of n rows, numbered from 0; the last may be smaller.
// It is for range:
//
//	for i, b := range train.Batches(128) {
func (d *Dataset) Batches(n int) func(yield func(i int, b Batch) bool) {
	if n < 1 {
		tensor.Fail("batches", fmt.Sprintf("of %d rows", n), "give 1 or more", d.X.Value)
	}
	return func(yield func(i int, b Batch) bool) {
		for i := 0; i*n < d.Len(); i++ {
			if !yield(i, d.Rows(i*n, min((i+1)*n, d.Len()))) {
				return
			}
		}
	}
}

// Steps returns how many batches of n rows there are.
func (d *Dataset) Steps(n int) int { return (d.Len() + n - 1) / n }

// Each calls f with each batch of n rows until f returns false.
func (d *Dataset) Each(n int, f func(x, y *autograd.Var) bool) {
	for _, b := range d.Batches(n) {
		if !f(b.X, b.Y) {
			return
		}
	}
}

// Rows returns rows lo up to, but not including, hi as one batch.
func (d *Dataset) Rows(lo, hi int) Batch {
	if lo < 0 || hi > d.Len() || lo >= hi {
		tensor.Fail("rows", fmt.Sprintf("%d up to %d is not a range of %d rows", lo, hi, d.Len()), "", d.X.Value)
	}
	return Batch{d.gather(d.X.Value, lo, hi).Named("batch X"), d.gather(d.Y.Value, lo, hi).Named("batch Y")}
}

// gather brings rows together in host memory. Rows that lie together are not
// copied.
func (d *Dataset) gather(t *tensor.Tensor, lo, hi int) *autograd.Var {
	all := t.HostBytes()
	width := len(all) / t.Dim(0)
	var part []byte
	if d.order == nil {
		part = all[lo*width : hi*width : hi*width]
	} else {
		part = make([]byte, 0, (hi-lo)*width)
		for _, r := range d.order[lo:hi] {
			part = append(part, all[r*width:(r+1)*width]...)
		}
	}
	shape := t.Shape()
	shape[0] = hi - lo
	return autograd.Const(tensor.On(t.Device()).As(t.DType()).FromBytes(part, shape...).SetRole(gpu.Data))
}

// To returns the dataset for models on another device: the rows stay in host
// memory, batches go to dev.
func (d *Dataset) To(dev *gpu.Device) *Dataset {
	c := *d
	c.X, c.Y = autograd.Const(d.X.Value.To(dev)), autograd.Const(d.Y.Value.To(dev))
	return &c
}
