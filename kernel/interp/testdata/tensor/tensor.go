// Package tensor stands in for compiled packages in the case files: types, interfaces, options, generics, misbehaviour.
package tensor

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// DType is an enum.
type DType int

const (
	Float32 DType = iota
	Float64
	Int64
)

func (d DType) String() string { return [...]string{"f32", "f64", "i64"}[d] }

// MaxRank is an untyped const; BigConst overflows int64; Eps is an untyped float; Name a string.
const (
	MaxRank        = 8
	BigConst       = 1 << 63
	Eps            = 1e-8
	LibName        = "tensor"
	TypedLim int32 = 77
)

// DefaultLR is a settable package var.
var DefaultLR = 0.01

// ErrShape is a sentinel.
var ErrShape = errors.New("shape mismatch")

// Hook is a settable func var.
var Hook func(string)

// ShapeError is a typed error.
type ShapeError struct{ Want, Got []int }

func (e *ShapeError) Error() string { return fmt.Sprintf("shape: want %v got %v", e.Want, e.Got) }
func (e *ShapeError) Unwrap() error { return ErrShape }

// Base is embedded.
type Base struct{ Name string }

func (b *Base) SetName(n string) { b.Name = n }
func (b Base) GetName() string   { return b.Name }

// Tensor type.
type Tensor struct {
	Base
	Data  []float64
	Shape []int
	Grad  *Tensor
	Meta  map[string]any
	DT    DType
	priv  int
}

func New(data []float64, shape ...int) *Tensor { return &Tensor{Data: data, Shape: shape} }
func Zeros(shape ...int) *Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return &Tensor{Data: make([]float64, n), Shape: shape}
}
func Check(a, b *Tensor) (*Tensor, error) {
	if len(a.Data) != len(b.Data) {
		return nil, &ShapeError{a.Shape, b.Shape}
	}
	return a.Add(b), nil
}
func (t *Tensor) Add(o *Tensor) *Tensor {
	if len(t.Data) != len(o.Data) {
		panic(&ShapeError{t.Shape, o.Shape})
	}
	r := Zeros(t.Shape...)
	for i := range t.Data {
		r.Data[i] = t.Data[i] + o.Data[i]
	}
	return r
}
func (t *Tensor) At(idx ...int) float64 {
	off := 0
	for i, x := range idx {
		off = off*t.Shape[i] + x
	}
	return t.Data[off]
}
func (t *Tensor) Inc()      { t.priv++ }
func (t *Tensor) Priv() int { return t.priv }
func (t *Tensor) String() string {
	if t == nil {
		return "Tensor<nil>"
	}
	return fmt.Sprintf("Tensor%v%v", t.Shape, t.Data)
}
func (t *Tensor) Map(f func(float64) float64) *Tensor {
	r := Zeros(t.Shape...)
	for i := range t.Data {
		r.Data[i] = f(t.Data[i])
	}
	return r
}
func (t *Tensor) Each(yield func(int, float64) bool) {
	for i, v := range t.Data {
		if !yield(i, v) {
			return
		}
	}
}

// All is a range-over-func iterator.
func (t *Tensor) All() func(yield func(int, float64) bool) {
	return func(yield func(int, float64) bool) { t.Each(yield) }
}

// Module is implemented by notebooks.
type Module interface {
	Forward(x *Tensor) *Tensor
	Parameters() []*Tensor
}

// Trainable has an optional extra method (tested by type assertion in compiled code).
type Trainable interface {
	Module
	SetTraining(on bool)
}

// Apply calls an interpreted module from compiled code.
func Apply(m Module, x *Tensor) *Tensor { return m.Forward(x) }

// TryTrain asserts optional interface on a Module.
func TryTrain(m Module) bool {
	if t, ok := m.(Trainable); ok {
		t.SetTraining(true)
		return true
	}
	return false
}

// Sequential composes Modules.
type Sequential struct{ Mods []Module }

func NewSequential(ms ...Module) *Sequential { return &Sequential{ms} }
func (s *Sequential) Forward(x *Tensor) *Tensor {
	for _, m := range s.Mods {
		x = m.Forward(x)
	}
	return x
}
func (s *Sequential) Parameters() []*Tensor {
	var out []*Tensor
	for _, m := range s.Mods {
		out = append(out, m.Parameters()...)
	}
	return out
}

// Linear is a compiled Module.
type Linear struct {
	Base
	W *Tensor
}

func NewLinear(n int) *Linear {
	l := &Linear{W: Zeros(n)}
	for i := range l.W.Data {
		l.W.Data[i] = 1
	}
	return l
}
func (l *Linear) Forward(x *Tensor) *Tensor { return x.Add(l.W) }
func (l *Linear) Parameters() []*Tensor     { return []*Tensor{l.W} }

// Config with functional options.
type Config struct {
	LR       float64
	Momentum float64
	Tags     []string
}

// Option is a functional option.
type Option func(*Config)

func WithLR(lr float64) Option      { return func(c *Config) { c.LR = lr } }
func WithMomentum(m float64) Option { return func(c *Config) { c.Momentum = m } }
func NewSGD(params []*Tensor, opts ...Option) *SGD {
	s := &SGD{Params: params, Cfg: Config{LR: DefaultLR}}
	for _, o := range opts {
		o(&s.Cfg)
	}
	return s
}

// SGD type.
type SGD struct {
	Params []*Tensor
	Cfg    Config
}

func (s *SGD) Step(closure func() float64) float64 { return closure() }

// Number constraint.
type Number interface {
	~int | ~int64 | ~float32 | ~float64
}

// Sum is generic.
func Sum[T Number](xs ...T) (s T) {
	for _, x := range xs {
		s += x
	}
	return
}

// MapSlice is generic.
func MapSlice[T, U any](xs []T, f func(T) U) []U {
	out := make([]U, 0, len(xs))
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}

// Pair is a generic type.
type Pair[K comparable, V any] struct {
	Key K
	Val V
}

func (p Pair[K, V]) String() string { return fmt.Sprintf("<%v=%v>", p.Key, p.Val) }

// SumInts is an explicit instantiation, as a var.
var SumInts = Sum[int]

// StrPair is an instantiated alias.
type StrPair = Pair[string, int]

// MakePair returns an instantiated generic.
func MakePair(k string, v int) Pair[string, int] { return Pair[string, int]{k, v} }

// Test helpers.
func CallN(n int, f func(int) int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += f(i)
	}
	return s
}
func Panics(msg string)    { panic(msg) }
func PanicIndex(i int) int { x := []int{1, 2, 3}; return x[i] }
func PanicNil() int        { var t *Tensor; return t.Shape[0] }
func Sleep(ms int)         { time.Sleep(time.Duration(ms) * time.Millisecond) }
func BlockForever()        { select {} }
func SpinForever() {
	for i := 0; ; i++ {
		_ = i
	}
}
func GoPanic() { go func() { panic("compiled goroutine panic") }() }
func RunInGoroutine(f func()) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	<-done
}
func WriteTo(w io.Writer, s string) { fmt.Fprint(w, s) }
func ReadAll(r io.Reader) string    { b, _ := io.ReadAll(r); return string(b) }
func Describe(x any) string         { return fmt.Sprintf("%T|%v|%+v", x, x, x) }
func IsStringer(x any) bool         { _, ok := x.(fmt.Stringer); return ok }
func IsError(x any) bool            { _, ok := x.(error); return ok }
func IsModule(x any) bool           { _, ok := x.(Module); return ok }
func VarAny(xs ...any) int          { return len(xs) }
func Ptr(f *float64)                { *f = 42 }

// Visitor interface with several method shapes.
type Visitor interface {
	Visit(t *Tensor, depth int, extra ...string) (Visitor, error)
}

// Walk calls a Visitor.
func Walk(v Visitor, n int) error {
	var err error
	for i := 0; i < n && v != nil; i++ {
		v, err = v.Visit(Zeros(1), i, "a", "b")
		if err != nil {
			return err
		}
	}
	return nil
}

// RT-like helpers a kernel would register.
func RTStringer(x fmt.Stringer) any { return x }
func RTError(x error) any           { return x }
func RTIdent(x any) any             { return x }
