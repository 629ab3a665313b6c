package tensor

import (
	"errors"
	"fmt"
	"strings"
)

// Error is what misuse of a tensor panics with.
type Error struct {
	Op      string   // the operation, "matmul"
	Shapes  [][]int  // of the operands
	DTypes  []DType  // of the operands
	Names   []string // of the operands, "" for those without
	Problem string   // what is wrong
	Advice  string   // what to do; may be ""
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	for i, s := range e.Shapes {
		sep := ", "
		if i == 0 {
			sep = " of "
		}
		b.WriteString(sep)
		if n := e.Names[i]; n != "" {
			b.WriteString(n + " ")
		}
		fmt.Fprintf(&b, "%s %s", e.DTypes[i], shapeString(s))
	}
	b.WriteString(": " + e.Problem)
	if e.Advice != "" {
		b.WriteString("; " + e.Advice)
	}
	return b.String()
}

// Fail panics with an Error about operands ts, nil ones left out.
func Fail(op, problem, advice string, ts ...*Tensor) {
	e := &Error{Op: op, Problem: problem, Advice: advice}
	for _, t := range ts {
		if t == nil {
			continue
		}
		e.Shapes = append(e.Shapes, t.Shape())
		e.DTypes = append(e.DTypes, t.dtype)
		e.Names = append(e.Names, t.Name())
	}
	panic(e)
}

// DeviceError is what an operation panics with when its device fails. It wraps
// the device's error: errors.Is finds gpu.ErrOutOfMemory and gpu.ErrFreed,
// errors.As finds *gpu.OutOfMemoryError, *gpu.UnsupportedError and others.
type DeviceError struct {
	Op  string
	Err error
}

func (e *DeviceError) Error() string { return e.Op + ": " + e.Err.Error() }
func (e *DeviceError) Unwrap() error { return e.Err }

// Interrupted reports whether the operation was stopped by an interrupt, not
// by a fault.
func (e *DeviceError) Interrupted() bool {
	var i interface{ Interrupted() bool }
	return errors.As(e.Err, &i) && i.Interrupted()
}

func shapeString(s []int) string {
	parts := make([]string, len(s))
	for i, n := range s {
		parts[i] = fmt.Sprint(n)
	}
	if len(s) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// operands panics unless all ts are there, on one device, and of one dtype.
func operands(op string, ts ...*Tensor) {
	for i, t := range ts {
		if t == nil {
			Fail(op, fmt.Sprintf("operand %d is nil", i+1), "", ts...)
		}
	}
	for _, t := range ts[1:] {
		if t.Device() != ts[0].Device() {
			Fail(op, fmt.Sprintf("the operands are on different devices, %s and %s", ts[0].Device(), t.Device()), "move one with To", ts...)
		}
		if t.dtype != ts[0].dtype {
			Fail(op, "the dtypes differ", "convert one with Cast", ts...)
		}
	}
}

// floats panics unless all ts are of one float dtype on one device.
func floats(op string, ts ...*Tensor) {
	operands(op, ts...)
	if !ts[0].dtype.IsFloat() {
		Fail(op, "needs a float dtype", "convert with Cast(tensor.Float32)", ts...)
	}
}

func rank(op string, t *Tensor, n int, of string) {
	if len(t.shape) != n {
		Fail(op, fmt.Sprintf("needs %s, has rank %d", of, len(t.shape)), "", t)
	}
}

// indexes panics unless ix is an Int32 tensor on t's device.
func indexes(op string, t, ix *Tensor) {
	if ix == nil {
		Fail(op, "the indexes are nil", "", t)
	}
	if ix.dtype != Int32 {
		Fail(op, "the indexes must be int32", "make them with FromInts, or convert with Cast(tensor.Int32)", t, ix)
	}
	if ix.Device() != t.Device() {
		Fail(op, fmt.Sprintf("the operands are on different devices, %s and %s", t.Device(), ix.Device()), "move one with To", t, ix)
	}
}
