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
		blocks[i] = layout(&Kernels[i])
	}
}

// BlockOf returns the layout of a kernel's parameter block.
func BlockOf(k Kernel) *Block { return &blocks[k] }

// Size is the block's size in bytes for a dtype.
func (b *Block) Size(t DType) int {
	return 8*b.Args + len(b.Scalars)*int(t.Size()) + 4*b.words
}

func layout(k *KernelInfo) Block {
	typ := reflect.TypeOf(k.Params)
	b := Block{Args: len(k.Args), typ: reflect.PointerTo(typ)}
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
				panic(fmt.Sprintf("gpu: %s: scalar %s must stand before the words", k.Name, f.Name))
			}
			b.Scalars = append(b.Scalars, field)
		case reflect.Uint32, reflect.Int32:
			field.Signed = elem.Kind() == reflect.Int32
			b.Words = append(b.Words, field)
			b.words += field.Len
		default:
			panic(fmt.Sprintf("gpu: %s: %s is neither a scalar nor a word", k.Name, f.Name))
		}
	}
	if n := b.Size(Float64); n > MaxBlock {
		panic(fmt.Sprintf("gpu: %s: parameter block of %d bytes, at most %d", k.Name, n, MaxBlock))
	}
	return b
}

// Pack writes the parameter block of l into dst, which holds at least MaxBlock
// bytes, and returns its size. addrs are the device addresses of the
// arguments.
func Pack(dst []byte, l *Launch, addrs []uint64) (int, error) {
	b := &blocks[l.Kernel]
	if t := reflect.TypeOf(l.Params); t != b.typ {
		return 0, fmt.Errorf("gpu: %s: params are %v, want %v", l.Kernel, t, b.typ)
	}
	if len(addrs) != b.Args {
		return 0, fmt.Errorf("gpu: %s: %d arguments, want %d", l.Kernel, len(addrs), b.Args)
	}
	n := 0
	for _, a := range addrs {
		binary.LittleEndian.PutUint64(dst[n:], a)
		n += 8
	}
	p := reflect.ValueOf(l.Params).UnsafePointer()
	for _, f := range b.Scalars {
		v := *(*float64)(unsafe.Add(p, f.Offset))
		switch l.DType {
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
