package gpu

import "fmt"

// DType is the type of a storage's elements.
type DType uint8

// The element types. Masks are 0 and 1 in the type of what they mask; labels
// and indexes are Int32.
const (
	Float32 DType = iota
	Float64
	Int32
)

// Size is the number of bytes of one element.
func (t DType) Size() int64 {
	if t == Float64 {
		return 8
	}
	return 4
}

// IsFloat reports whether t is Float32 or Float64.
func (t DType) IsFloat() bool { return t == Float32 || t == Float64 }

func (t DType) String() string {
	switch t {
	case Float32:
		return "float32"
	case Float64:
		return "float64"
	case Int32:
		return "int32"
	}
	return fmt.Sprintf("DType(%d)", uint8(t))
}
