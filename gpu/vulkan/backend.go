package vulkan

/*
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"gradbook/gpu"
	"gradbook/gpu/kernels"
)

// Backend is an open device.
type Backend struct {
	info     gpu.Info
	physical *physical
	limits   kernels.Device
	device   vk.Device
	calls    *C.gb_calls
	closed   bool
	lost     error // what every call answers once the device is gone

	local    *memoryKind // where buffers live
	stage    *memoryKind // what the host writes for uploads
	readback *memoryKind // what the host reads of downloads

	pipelines pipelines

	pool    vk.CommandPool
	current *batch   // being recorded, or nil
	idle    []*batch // ready to be recorded
	flight  []*batch // submitted, oldest first
	serial  uint64   // of the batch being recorded, or that the next one will have
	done    uint64   // the last serial that has run
	epoch   uint64   // counts barriers

	ring    ring
	reader  *buffer // staging for downloads
	scratch *buffer
	waiting []*buffer // freed while in use

	plan  kernels.Plan
	block unsafe.Pointer // gpu.MaxBlock bytes of C memory: the parameters of a dispatch

	held    int64
	buffers int
	spent   [gpu.NumKernels]time.Duration
	times   []C.uint64_t // reused by book
}

var _ gpu.Backend = (*Backend)(nil)

// Open opens the index-th device of Devices.
func Open(index int) (gpu.Backend, error) {
	b, err := openBackend(index)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func openBackend(index int) (*Backend, error) {
	inst, err := openInstance()
	if err != nil {
		return nil, err
	}
	ps, err := physicals(inst)
	if err == nil && (index < 0 || index >= len(ps)) {
		var names []string
		for i := range ps {
			names = append(names, fmt.Sprintf("%d (%s)", i, ps[i].name))
		}
		err = fmt.Errorf("vulkan has no device %d: it has %s", index, strings.Join(names, ", "))
	}
	if err != nil {
		return nil, err
	}
	p := &ps[index]
	b := &Backend{info: p.info(index), physical: p, serial: 1, epoch: 1, block: C.calloc(1, gpu.MaxBlock),
		limits: kernels.Device{SharedBytes: p.shared, Processor: p.kind == vk.PhysicalDeviceTypeCpu, Huge: true}}
	if err := b.start(); err != nil {
		b.Close()
		return nil, fmt.Errorf("open %s: %w", p.name, err)
	}
	return b, nil
}

func (b *Backend) start() error {
	p := b.physical
	var extension *C.char
	if p.budget {
		extension = C.CString(budgetExtension)
		defer C.free(unsafe.Pointer(extension))
	}
	float64 := C.int(0)
	if p.float64 {
		float64 = 1
	}
	var opened unsafe.Pointer
	if r := C.gb_open_device(loader.getInstanceProc, unsafe.Pointer(p.instance), unsafe.Pointer(p.handle), C.uint32_t(p.queueFamily), float64, extension, &opened); r != 0 {
		return resultError(int(r))
	}
	device := vk.Device(opened)
	b.device = device
	var q vk.Queue
	vk.GetDeviceQueue(device, p.queueFamily, 0, &q)
	var missing *C.char
	if b.calls = C.gb_load(loader.getDeviceProc, unsafe.Pointer(device), unsafe.Pointer(q), &missing); b.calls == nil {
		return fmt.Errorf("the driver has no %s", C.GoString(missing))
	}
	if err := b.chooseMemory(); err != nil {
		return err
	}
	if err := b.pipelines.open(b); err != nil {
		return err
	}
	poolInfo := vk.CommandPoolCreateInfo{SType: vk.StructureTypeCommandPoolCreateInfo, QueueFamilyIndex: p.queueFamily,
		Flags: vk.CommandPoolCreateFlags(vk.CommandPoolCreateResetCommandBufferBit)}
	var pool vk.CommandPool
	if r := vk.CreateCommandPool(device, &poolInfo, nil, &pool); r != vk.Success {
		return resultError(int(r))
	}
	b.pool = pool
	for range batches {
		t, err := b.newBatch(marks + 1)
		if err != nil {
			return err
		}
		b.idle = append(b.idle, t)
	}
	return b.ring.open(b)
}

// chooseMemory prefers, for buffers, device memory that the host sees, where that
// is all of the device's memory.
func (b *Backend) chooseMemory() error {
	p := b.physical
	const device, visible, cached = vk.MemoryPropertyDeviceLocalBit, vk.MemoryPropertyHostVisibleBit | vk.MemoryPropertyHostCoherentBit, vk.MemoryPropertyHostCachedBit
	first := func(name string, kinds ...vk.MemoryPropertyFlagBits) *memoryKind {
		for i, k := range kinds {
			size := int64(0)
			if k&device != 0 && i < len(kinds)-1 {
				size = p.deviceBytes
			}
			if m := p.kindWith(name, k, size); m != nil {
				return m
			}
		}
		return nil
	}
	b.local = first("device", device|visible|cached, device|visible, device)
	b.stage = first("upload", visible)
	b.readback = first("download", visible|cached, visible)
	if b.local == nil || b.stage == nil || b.readback == nil {
		return errors.New("the driver lacks a type of memory: device-local, or visible and coherent to the host")
	}
	return nil
}

// Info describes the device.
func (b *Backend) Info() gpu.Info { return b.info }

// Alloc takes a buffer from the device's memory. When there is none left it
// waits for what was freed while in use, and tries once more.
func (b *Backend) Alloc(bytes int64) (gpu.Buffer, error) {
	if b.lost != nil {
		return nil, b.lost
	}
	m, err := b.alloc(b.local, bytes)
	if err != nil {
		return nil, err
	}
	b.held += bytes
	b.buffers++
	return m, nil
}

func (b *Backend) alloc(k *memoryKind, bytes int64) (*buffer, error) {
	bl, at, err := b.take(k, max(bytes, 1))
	if errors.Is(err, gpu.ErrOutOfMemory) {
		if err := b.finish(); err != nil {
			return nil, err
		}
		b.dropEmpty(k)
		bl, at, err = b.take(k, max(bytes, 1))
	}
	if err != nil {
		return nil, err
	}
	return &buffer{block: bl, at: at, bytes: bytes}, nil
}

// Free gives a buffer back as soon as nothing that was launched uses it.
func (b *Backend) Free(g gpu.Buffer) {
	m := g.(*buffer)
	if m.freed {
		panic("vulkan: buffer freed twice")
	}
	b.held -= m.bytes
	b.buffers--
	b.free(m)
}

func (b *Backend) free(m *buffer) {
	m.freed = true
	if m.used > b.done {
		b.waiting = append(b.waiting, m)
		return
	}
	b.put(m.block, m.at, max(m.bytes, 1))
}

// Stats tells what is held and the time that kernels took, as the device's own
// clock measured it at the end of each.
func (b *Backend) Stats() gpu.BackendStats {
	if b.lost == nil && !b.closed {
		b.poll()
	}
	return gpu.BackendStats{BytesHeld: b.held, Buffers: b.buffers, KernelTime: b.spent}
}

// Sync waits until everything launched has run.
func (b *Backend) Sync() error {
	if b.lost != nil {
		return b.lost
	}
	return b.finish()
}

// Close waits for the device and frees everything, buffers too.
func (b *Backend) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	err := b.lost
	if b.device != nil {
		if b.lost == nil && b.calls != nil {
			err = b.finish()
		}
		vk.DeviceWaitIdle(b.device)
		b.pipelines.close(b)
		for _, t := range append(b.idle, b.flight...) {
			b.dropBatch(t)
		}
		if b.current != nil {
			b.dropBatch(b.current)
		}
		if b.pool != vk.NullCommandPool {
			vk.DestroyCommandPool(b.device, b.pool, nil)
		}
		for _, k := range []*memoryKind{b.local, b.stage, b.readback} {
			for k != nil && len(k.blocks) > 0 {
				b.dropBlock(k.blocks[0])
			}
		}
		vk.DestroyDevice(b.device, nil)
	}
	C.free(unsafe.Pointer(b.calls))
	C.free(b.block)
	return err
}
