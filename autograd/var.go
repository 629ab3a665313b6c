package autograd

import (
	"gradbook/gpu"
	"gradbook/tensor"
)

// DType is the type of a variable's elements.
type DType = tensor.DType

// Var is a value that gradients can be found for.
type Var struct {
	// Value is what the variable is.
	Value *tensor.Tensor
	// Grad is the gradient of the last losses with respect to Value, nil
	// before the first Backward. Only variables made by Param and Leaf, and
	// those told to KeepGrad, have one.
	Grad *tensor.Tensor

	name string
	// node is the operation on the tape that gave the value, nil if none did.
	node *node
	// wanted tells that a gradient is wanted, or needed on the way to one.
	wanted bool
	// keep tells that Grad is set though node is not nil.
	keep bool
	// used tells that an optimizer has taken Grad: the next Backward starts
	// from nothing.
	used bool
	// made tells that an operation gave the value without a tape.
	made bool
	// inner tells that only compiled code has seen the variable: its value
	// goes with the tape.
	inner bool
}

// Const makes a variable without a gradient: data, a target.
func Const(t *tensor.Tensor) *Var {
	t.Retain()
	return &Var{Value: t}
}

// Param makes a trainable parameter.
func Param(t *tensor.Tensor) *Var {
	if beingRecorded(t.Device()) {
		tensor.Fail("param", "a parameter is made inside a recorded step", "make it before", t)
	}
	t.Retain()
	t.SetRole(gpu.Parameter)
	return &Var{Value: t, wanted: true, name: t.Name()}
}

// Leaf makes a variable whose gradient is wanted though it is no parameter: an
// input to be explained.
func Leaf(t *tensor.Tensor) *Var {
	t.Retain()
	return &Var{Value: t, wanted: true, name: t.Name()}
}

// Scalar makes a constant of rank 0, Float32, on gpu.Default().
func Scalar(v float64) *Var { return Const(tensor.Scalar(v)) }

// New makes a Float32 constant of values in row-major order, on gpu.Default();
// without a shape, a vector.
func New(values []float64, shape ...int) *Var { return Const(tensor.New(values, shape...)) }

// Named names the variable, and returns it. Errors, maps and saved files use
// the name.
func (v *Var) Named(name string) *Var {
	v.name = name
	v.Value.SetName(name)
	if v.Grad != nil {
		v.Grad.SetName(gradName(name))
	}
	return v
}

func gradName(name string) string {
	if name == "" {
		return ""
	}
	return name + ".Grad"
}

// Name returns the name given by Named, "" if none was.
func (v *Var) Name() string { return v.name }

// NeedsGrad reports whether Backward would send a gradient through v.
func (v *Var) NeedsGrad() bool { return v.wanted }

// Freeze stops or, with false, resumes that gradients are found for a leaf.
func (v *Var) Freeze(frozen bool) {
	if v.node != nil {
		tensor.Fail("freeze", "the variable is the result of "+v.node.op, "freeze parameters, or use Detach", v.Value)
	}
	v.wanted = !frozen
}

// KeepGrad makes Backward set Grad of a variable that is a result, and returns
// it.
func (v *Var) KeepGrad() *Var {
	v.keep = true
	return v
}

// Detach returns a constant with the same value, which Backward does not go
// through.
func (v *Var) Detach() *Var { return Const(v.Value) }

// ZeroGrad drops the gradient.
func (v *Var) ZeroGrad() {
	if v.Grad != nil {
		v.Grad.Free()
	}
	v.Grad, v.used = nil, false
}

// UseGrad takes the gradient as used: the next Backward replaces it instead of
// adding to it. It reports whether there was one to use.
func (v *Var) UseGrad() bool {
	if !v.HasGrad() {
		return false
	}
	v.used = true
	return true
}

// HasGrad reports whether there is a gradient that no optimizer has used.
func (v *Var) HasGrad() bool { return v.Grad != nil && !v.used }

// Discard says that nobody will look at v again except Backward: its memory
// goes with the tape, at once if there is none. Leaves stay as they are.
// Modules written in Go call it for what lies between their operations.
func (v *Var) Discard() {
	switch {
	case v.inner:
	case v.node != nil:
		v.inner = true
		if v.node.gone {
			v.Value.Release()
		}
	case v.made:
		v.inner = true
		v.Value.Release()
	}
}

// Shape returns the sizes of the dimensions, outermost first.
func (v *Var) Shape() []int { return v.Value.Shape() }

// Rank returns the number of dimensions.
func (v *Var) Rank() int { return v.Value.Rank() }

// Dim returns the size of dimension i; -1 is the last.
func (v *Var) Dim(i int) int { return v.Value.Dim(i) }

// Len returns the number of elements.
func (v *Var) Len() int { return v.Value.Len() }

// DType returns the type of the elements.
func (v *Var) DType() DType { return v.Value.DType() }

// Device returns the device that the value is on.
func (v *Var) Device() *gpu.Device { return v.Value.Device() }

// View is the run of bytes that holds the value.
func (v *Var) View() gpu.View { return v.Value.View() }

// Item waits for the device and returns the value of a variable with one
// element.
func (v *Var) Item() float64 { return v.Value.Item() }

// Later copies the value of a variable with one element, as it is after the
// operations so far, and returns what reads it; see [tensor.Tensor.Later].
func (v *Var) Later() func() float64 { return v.Value.Later() }

// Float64s waits for the device and returns the elements in row-major order.
func (v *Var) Float64s() []float64 { return v.Value.Float64s() }

// Ints waits for the device and returns the elements in row-major order,
// floats truncated toward zero.
func (v *Var) Ints() []int { return v.Value.Ints() }

// Storages visits what the variable holds, for those who look for the names of
// storages.
func (v *Var) Storages(visit func(part string, s *gpu.Storage)) {
	if v == nil {
		return
	}
	if v.Value != nil {
		visit("", v.Value.Storage())
	}
	if v.Grad != nil {
		visit("Grad", v.Grad.Storage())
	}
}

// String shows where the variable comes from, and its value. It waits for the
// device.
func (v *Var) String() string {
	if v == nil {
		return "nil variable"
	}
	s := v.Value.String()
	switch {
	case v.node != nil:
		return "result of " + v.node.op + ", " + s
	case v.wanted:
		return "leaf, " + s
	}
	return s
}
