package tensor

import (
	"fmt"
	"slices"
)

// another returns a view of t's storage that counts as a holder of it.
func (t *Tensor) another(offset int, shape, strides []int) *Tensor {
	t.Retain()
	return &Tensor{base: t.base, offset: offset, shape: shape, strides: strides, dtype: t.dtype}
}

// dim resolves a dimension, negative ones from the last.
func (t *Tensor) dim(op string, i int) int {
	d := i
	if d < 0 {
		d += len(t.shape)
	}
	if d < 0 || d >= len(t.shape) {
		Fail(op, fmt.Sprintf("there is no dimension %d", i), "", t)
	}
	return d
}

// T returns a view with the last two dimensions exchanged.
func (t *Tensor) T() *Tensor {
	operands("t", t)
	if len(t.shape) < 2 {
		Fail("t", "needs two dimensions", "", t)
	}
	return t.Transpose(-2, -1)
}

// Transpose returns a view with dimensions i and j exchanged.
func (t *Tensor) Transpose(i, j int) *Tensor {
	operands("transpose", t)
	i, j = t.dim("transpose", i), t.dim("transpose", j)
	shape, strides := slices.Clone(t.shape), slices.Clone(t.strides)
	shape[i], shape[j] = shape[j], shape[i]
	strides[i], strides[j] = strides[j], strides[i]
	return t.another(t.offset, shape, strides)
}

// Permute returns a view whose dimension i is t's dimension dims[i].
func (t *Tensor) Permute(dims ...int) *Tensor {
	operands("permute", t)
	if len(dims) != len(t.shape) {
		Fail("permute", fmt.Sprintf("got %d dimensions", len(dims)), "name each dimension once", t)
	}
	shape, strides := make([]int, len(dims)), make([]int, len(dims))
	seen := make([]bool, len(dims))
	for i, d := range dims {
		d = t.dim("permute", d)
		if seen[d] {
			Fail("permute", fmt.Sprintf("dimension %d comes twice", d), "name each dimension once", t)
		}
		seen[d] = true
		shape[i], strides[i] = t.shape[d], t.strides[d]
	}
	return t.another(t.offset, shape, strides)
}

// Reshape returns the same elements in another shape: a view where the strides
// allow it, else a copy. One size may be -1 and is worked out.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	operands("reshape", t)
	shape = t.resolve(shape)
	checkShape("reshape", shape)
	if strides, ok := restride(t.shape, t.strides, shape); ok {
		return t.another(t.offset, shape, strides)
	}
	c := t.copy("reshape")
	c.shape, c.strides = shape, rowMajor(shape)
	return c
}

func (t *Tensor) resolve(shape []int) []int {
	shape = slices.Clone(shape)
	known, open := 1, -1
	for i, s := range shape {
		if s == -1 && open < 0 {
			open = i
		} else {
			known *= s
		}
	}
	if open >= 0 && known > 0 {
		shape[open] = t.Len() / known
		known *= shape[open]
	}
	if known != t.Len() {
		Fail("reshape", fmt.Sprintf("%d elements do not fit %s", t.Len(), shapeString(shape)), "", t)
	}
	return shape
}

// restride finds strides for a new shape over the same elements. Each group of
// old dimensions that a group of new ones covers must step through memory as
// one.
func restride(old, strides, shape []int) ([]int, bool) {
	var from, by []int // old dimensions without those of size 1
	for i, s := range old {
		if s != 1 {
			from, by = append(from, s), append(by, strides[i])
		}
	}
	out := make([]int, len(shape))
	i, j := 0, 0
	for i < len(from) {
		a, b := from[i], 1
		first, last := i, i
		start := j
		for a != b {
			if a < b {
				last++
				a *= from[last]
			} else {
				b *= shape[j]
				j++
			}
		}
		for k := first; k < last; k++ {
			if by[k] != by[k+1]*from[k+1] {
				return nil, false
			}
		}
		step := by[last]
		for k := j - 1; k >= start; k-- {
			out[k] = step
			step *= shape[k]
		}
		i = last + 1
	}
	for ; j < len(shape); j++ {
		out[j] = 1 // what is left has size 1
	}
	return out, true
}

// Flatten returns the elements of each row of the first dimension as one
// dimension: (n, c, h, w) becomes (n, c*h*w).
func (t *Tensor) Flatten() *Tensor {
	operands("flatten", t)
	if len(t.shape) == 0 {
		return t.Reshape(1, 1)
	}
	return t.Reshape(t.shape[0], -1)
}

// Unsqueeze returns a view with a dimension of size 1 put in at dim.
func (t *Tensor) Unsqueeze(dim int) *Tensor {
	operands("unsqueeze", t)
	if dim < 0 {
		dim += len(t.shape) + 1
	}
	if dim < 0 || dim > len(t.shape) {
		Fail("unsqueeze", fmt.Sprintf("there is no place %d", dim), "", t)
	}
	return t.Reshape(slices.Insert(slices.Clone(t.shape), dim, 1)...)
}

// Squeeze returns a view without dimension dim, which must have size 1.
func (t *Tensor) Squeeze(dim int) *Tensor {
	operands("squeeze", t)
	d := t.dim("squeeze", dim)
	if t.shape[d] != 1 {
		Fail("squeeze", fmt.Sprintf("dimension %d has size %d, not 1", dim, t.shape[d]), "", t)
	}
	return t.another(t.offset, slices.Delete(slices.Clone(t.shape), d, d+1), slices.Delete(slices.Clone(t.strides), d, d+1))
}

// BroadcastTo returns a view of the given shape that repeats dimensions of
// size 1 and puts new ones in front.
func (t *Tensor) BroadcastTo(shape ...int) *Tensor {
	operands("broadcast", t)
	checkShape("broadcast", shape)
	lead := len(shape) - len(t.shape)
	strides := make([]int, len(shape))
	fits := lead >= 0
	for i := 0; fits && i < len(t.shape); i++ {
		switch {
		case t.shape[i] == shape[lead+i]:
			strides[lead+i] = t.strides[i]
		case t.shape[i] != 1:
			fits = false
		}
	}
	if !fits {
		Fail("broadcast", "does not broadcast to "+shapeString(shape), "sizes must be equal or 1, from the last dimension on", t)
	}
	return t.another(t.offset, slices.Clone(shape), strides)
}

// Index returns a view of what lies at the given indexes of the first
// dimensions: row i of a matrix. Negative indexes count from the end.
func (t *Tensor) Index(indexes ...int) *Tensor {
	operands("index", t)
	if len(indexes) > len(t.shape) {
		Fail("index", fmt.Sprintf("got %d indexes", len(indexes)), "", t)
	}
	offset := t.offset
	for d, i := range indexes {
		offset += t.position("index", d, i) * t.strides[d]
	}
	return t.another(offset, slices.Clone(t.shape[len(indexes):]), slices.Clone(t.strides[len(indexes):]))
}

func (t *Tensor) position(op string, d, i int) int {
	p := i
	if p < 0 {
		p += t.shape[d]
	}
	if p < 0 || p >= t.shape[d] {
		Fail(op, fmt.Sprintf("index %d is outside dimension %d of size %d", i, d, t.shape[d]), "", t)
	}
	return p
}

// Slice returns a view of positions lo up to, but not including, hi of
// dimension dim. Negative positions count from the end.
func (t *Tensor) Slice(dim, lo, hi int) *Tensor {
	operands("slice", t)
	d := t.dim("slice", dim)
	n := t.shape[d]
	a, b := lo, hi
	if a < 0 {
		a += n
	}
	if b < 0 {
		b += n
	}
	if a < 0 || b > n || a >= b {
		Fail("slice", fmt.Sprintf("%d up to %d is not a range of dimension %d of size %d", lo, hi, dim, n), "", t)
	}
	shape := slices.Clone(t.shape)
	shape[d] = b - a
	return t.another(t.offset+a*t.strides[d], shape, slices.Clone(t.strides))
}
