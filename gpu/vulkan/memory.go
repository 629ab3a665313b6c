package vulkan

/*
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"slices"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"gradbook/gpu"
)

// align is the alignment of buffers: what every device's copies and vector
// loads are content with.
const align = 256

// Blocks grow with what is held, so that a small session takes little and a
// large one makes few allocations: drivers allow some 4,096.
const (
	firstBlock = 8 << 20
	maxBlock   = 256 << 20
)

// block is one allocation of the driver's with one buffer over all of it.
type block struct {
	kind    *memoryKind
	memory  vk.DeviceMemory
	buffer  vk.Buffer
	size    int64
	address uint64
	mapped  unsafe.Pointer // nil unless the host sees it
	free    []extent       // by offset; neighbours are merged
}

type extent struct{ at, size int64 }

// memoryKind is a type of memory with the blocks taken from it.
type memoryKind struct {
	name   string
	index  uint32
	heap   uint32
	mapped bool
	cached bool // reading it is fast for the host
	blocks []*block
	held   int64 // bytes of all blocks
}

// kindWith finds the first memory type with the wanted properties whose heap is
// at least so large.
func (p *physical) kindWith(name string, want vk.MemoryPropertyFlagBits, heapBytes int64) *memoryKind {
	for i := range p.memory.MemoryTypeCount {
		t := p.memory.MemoryTypes[i]
		if t.PropertyFlags&vk.MemoryPropertyFlags(want) != vk.MemoryPropertyFlags(want) || int64(p.memory.MemoryHeaps[t.HeapIndex].Size) < heapBytes {
			continue
		}
		const visible = vk.MemoryPropertyHostVisibleBit | vk.MemoryPropertyHostCoherentBit
		return &memoryKind{name: name, index: i, heap: t.HeapIndex,
			mapped: want&visible == visible,
			cached: t.PropertyFlags&vk.MemoryPropertyFlags(vk.MemoryPropertyHostCachedBit) != 0}
	}
	return nil
}

// take finds room for size bytes, in a new block if need be.
func (b *Backend) take(k *memoryKind, size int64) (*block, int64, error) {
	size = (size + align - 1) / align * align
	var best *block
	at, room := 0, int64(0)
	for _, bl := range k.blocks {
		for i, e := range bl.free {
			if e.size >= size && (best == nil || e.size < room) {
				best, at, room = bl, i, e.size
			}
		}
	}
	if best == nil {
		bl, err := b.newBlock(k, max(size, min(max(firstBlock, k.held), maxBlock)))
		if err != nil && size < firstBlock {
			bl, err = b.newBlock(k, size)
		}
		if err != nil {
			return nil, 0, err
		}
		best, at = bl, 0
	}
	e := &best.free[at]
	offset := e.at
	if e.size == size {
		best.free = slices.Delete(best.free, at, at+1)
	} else {
		e.at, e.size = e.at+size, e.size-size
	}
	return best, offset, nil
}

// put gives an extent back, and its block where nothing is left in it and
// another has room.
func (b *Backend) put(bl *block, at, size int64) {
	size = (size + align - 1) / align * align
	i, _ := slices.BinarySearchFunc(bl.free, at, func(e extent, at int64) int { return int(e.at - at) })
	bl.free = slices.Insert(bl.free, i, extent{at, size})
	if i+1 < len(bl.free) && at+size == bl.free[i+1].at {
		bl.free[i].size += bl.free[i+1].size
		bl.free = slices.Delete(bl.free, i+1, i+2)
	}
	if i > 0 && bl.free[i-1].at+bl.free[i-1].size == at {
		bl.free[i-1].size += bl.free[i].size
		bl.free = slices.Delete(bl.free, i, i+1)
	}
	if bl.empty() && (bl.size > maxBlock || slices.ContainsFunc(bl.kind.blocks, func(o *block) bool { return o != bl && o.empty() })) {
		b.dropBlock(bl)
	}
}

func (bl *block) empty() bool { return len(bl.free) == 1 && bl.free[0].size == bl.size }

// dropEmpty gives every block that holds nothing back to the driver.
func (b *Backend) dropEmpty(k *memoryKind) {
	for _, bl := range slices.Clone(k.blocks) {
		if bl.empty() {
			b.dropBlock(bl)
		}
	}
}

func (b *Backend) newBlock(k *memoryKind, size int64) (*block, error) {
	if size > b.physical.maxAlloc {
		return nil, fmt.Errorf("%w: one allocation of %s, and the device allows %s at most", gpu.ErrOutOfMemory, gpu.Bytes(size), gpu.Bytes(b.physical.maxAlloc))
	}
	if free, known := b.physical.free(k.heap); known && free < size {
		return nil, fmt.Errorf("%w: the driver would give %s more", gpu.ErrOutOfMemory, gpu.Bytes(max(free, 0)))
	}
	info := vk.BufferCreateInfo{SType: vk.StructureTypeBufferCreateInfo, Size: vk.DeviceSize(size),
		Usage: vk.BufferUsageFlags(vk.BufferUsageStorageBufferBit|vk.BufferUsageTransferSrcBit|vk.BufferUsageTransferDstBit) | C.GB_BUFFER_ADDRESS_BIT}
	var buffer vk.Buffer
	r := vk.CreateBuffer(b.device, &info, nil, &buffer)
	info.Free()
	if r != vk.Success {
		return nil, resultError(int(r))
	}
	var needs vk.MemoryRequirements
	vk.GetBufferMemoryRequirements(b.device, buffer, &needs)
	needs.Deref()
	flags := (*C.gb_memory_flags)(C.calloc(1, C.sizeof_gb_memory_flags))
	defer C.free(unsafe.Pointer(flags))
	flags._type, flags.flags = C.GB_MEMORY_FLAGS, C.GB_MEMORY_ADDRESS_BIT
	alloc := vk.MemoryAllocateInfo{SType: vk.StructureTypeMemoryAllocateInfo, PNext: unsafe.Pointer(flags), AllocationSize: needs.Size, MemoryTypeIndex: k.index}
	var memory vk.DeviceMemory
	r = vk.AllocateMemory(b.device, &alloc, nil, &memory)
	alloc.Free()
	if r == vk.Success {
		r = vk.BindBufferMemory(b.device, buffer, memory, 0)
	}
	var mapped unsafe.Pointer
	if r == vk.Success && k.mapped {
		r = vk.MapMemory(b.device, memory, 0, vk.DeviceSize(size), 0, &mapped)
	}
	if r != vk.Success {
		vk.DestroyBuffer(b.device, buffer, nil)
		vk.FreeMemory(b.device, memory, nil)
		return nil, resultError(int(r))
	}
	bl := &block{kind: k, memory: memory, buffer: buffer, size: size, mapped: mapped, free: []extent{{0, size}},
		address: uint64(C.gb_address(b.calls, unsafe.Pointer(buffer)))}
	k.blocks = append(k.blocks, bl)
	k.held += size
	return bl, nil
}

func (b *Backend) dropBlock(bl *block) {
	k := bl.kind
	k.blocks = slices.DeleteFunc(k.blocks, func(o *block) bool { return o == bl })
	k.held -= bl.size
	vk.DestroyBuffer(b.device, bl.buffer, nil)
	vk.FreeMemory(b.device, bl.memory, nil)
}

// buffer is a part of a block.
type buffer struct {
	block *block
	at    int64
	bytes int64
	freed bool

	// The submission that last uses it, and the epochs (stretches between
	// barriers) in which it was last read and written.
	used          uint64
	read, written uint64
}

func (m *buffer) Bytes() int64 { return m.bytes }

func (m *buffer) address() uint64 { return m.block.address + uint64(m.at) }

// host is the buffer's memory as the host sees it, or nil.
func (m *buffer) host(at, bytes int64) []byte {
	if m.block.mapped == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(m.block.mapped, m.at+at)), bytes)
}
