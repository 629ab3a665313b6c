package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// MaxBlock is the largest parameter block in bytes: what every Vulkan device
// takes as push constants.
const MaxBlock = 128

// Block is the layout of a kernel's parameter block: the 64-bit addresses of
// the arguments, then the scalars in the launch's dtype, then 32-bit words.
type Block struct {
	Args    int
	Scalars []BlockField
	Words   []BlockField
	typ     reflect.Type // pointer to the params struct
	words   int          // of 32 bits, arrays counted whole
}

// BlockField is a field of a params struct. Len is 1, or an array's length.
type BlockField struct {
	Name   string
	Offset uintptr // in the Go struct
	Len    int
	Signed bool
}

var blocks [NumKernels]Block

func init() {
	for i := range Kernels {
		k := &Kernels[i]
		blocks[i] = Layout(k.Name, len(k.Args), k.Params)
	}
}

// BlockOf returns the layout of a kernel's parameter block.
func BlockOf(k Kernel) *Block { return &blocks[k] }

// Size is the block's size in bytes for a dtype.
func (b *Block) Size(t DType) int {
	return 8*b.Args + len(b.Scalars)*int(t.Size()) + 4*b.words
}

// Layout works out the block of a kernel with that many arguments and a params
// struct like params. Backends' own kernels use it too. It panics if the struct
// does not follow the rules above or the block is larger than MaxBlock.
func Layout(name string, args int, params any) Block {
	typ := reflect.TypeOf(params)
	b := Block{Args: args, typ: reflect.PointerTo(typ)}
	for i := range typ.NumField() {
		f := typ.Field(i)
		field := BlockField{Name: f.Name, Offset: f.Offset, Len: 1}
		elem := f.Type
		if elem.Kind() == reflect.Array {
			field.Len, elem = elem.Len(), elem.Elem()
		}
		switch elem.Kind() {
		case reflect.Float64:
			if len(b.Words) > 0 || field.Len != 1 {
				panic(fmt.Sprintf("gpu: %s: scalar %s must stand before the words", name, f.Name))
			}
			b.Scalars = append(b.Scalars, field)
		case reflect.Uint32, reflect.Int32:
			field.Signed = elem.Kind() == reflect.Int32
			b.Words = append(b.Words, field)
			b.words += field.Len
		default:
			panic(fmt.Sprintf("gpu: %s: %s is neither a scalar nor a word", name, f.Name))
		}
	}
	if n := b.Size(Float64); n > MaxBlock {
		panic(fmt.Sprintf("gpu: %s: parameter block of %d bytes, at most %d", name, n, MaxBlock))
	}
	return b
}

// Pack writes the parameter block of l into dst, which holds at least MaxBlock
// bytes, and returns its size. addrs are the device addresses of the
// arguments.
func Pack(dst []byte, l *Launch, addrs []uint64) (int, error) {
	n, err := blocks[l.Kernel].Pack(dst, l.DType, addrs, l.Params)
	if err != nil {
		return 0, fmt.Errorf("gpu: %s: %w", l.Kernel, err)
	}
	return n, nil
}

// Pack writes the block for a launch of dtype t. params points to a struct of
// the type that the block was laid out for.
func (b *Block) Pack(dst []byte, t DType, addrs []uint64, params any) (int, error) {
	if typ := reflect.TypeOf(params); typ != b.typ {
		return 0, fmt.Errorf("params are %v, want %v", typ, b.typ)
	}
	if len(addrs) != b.Args {
		return 0, fmt.Errorf("%d arguments, want %d", len(addrs), b.Args)
	}
	n := 0
	for _, a := range addrs {
		binary.LittleEndian.PutUint64(dst[n:], a)
		n += 8
	}
	p := reflect.ValueOf(params).UnsafePointer()
	for _, f := range b.Scalars {
		v := *(*float64)(unsafe.Add(p, f.Offset))
		switch t {
		case Float64:
			binary.LittleEndian.PutUint64(dst[n:], math.Float64bits(v))
			n += 8
		case Float32:
			binary.LittleEndian.PutUint32(dst[n:], math.Float32bits(float32(v)))
			n += 4
		default:
			binary.LittleEndian.PutUint32(dst[n:], uint32(int32(v)))
			n += 4
		}
	}
	for _, f := range b.Words {
		for _, w := range unsafe.Slice((*uint32)(unsafe.Add(p, f.Offset)), f.Len) {
			binary.LittleEndian.PutUint32(dst[n:], w)
			n += 4
		}
	}
	return n, nil
}
