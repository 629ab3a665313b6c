package vulkan

/*
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sort"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"gradbook/gpu"
)

func init() {
	gpu.Register(gpu.Driver{Name: "vulkan", Devices: Devices, Open: Open})
}

// physical is a device that the driver offers.
type physical struct {
	instance    vk.Instance
	handle      vk.PhysicalDevice
	kind        vk.PhysicalDeviceType
	name        string
	driver      string
	cacheKey    string // what compiled pipelines depend on
	memory      vk.PhysicalDeviceMemoryProperties
	deviceBytes int64
	maxAlloc    int64
	shared      int
	tick        float64 // nanoseconds
	queueFamily uint32
	timestamps  bool
	stampMask   uint64 // the bits of a timestamp that count
	float64     bool
	budget      bool
	missing     string // why it cannot be used, or empty
}

// rank puts discrete GPUs first and software devices last.
var rank = map[vk.PhysicalDeviceType]int{vk.PhysicalDeviceTypeDiscreteGpu: 0, vk.PhysicalDeviceTypeIntegratedGpu: 1,
	vk.PhysicalDeviceTypeVirtualGpu: 2, vk.PhysicalDeviceTypeOther: 3, vk.PhysicalDeviceTypeCpu: 4}

// physicals lists the usable devices, discrete ones first. The error of an empty
// list says what was found and what it lacks.
func physicals(inst vk.Instance) ([]physical, error) {
	var n uint32
	if r := vk.EnumeratePhysicalDevices(inst, &n, nil); r != vk.Success {
		return nil, fmt.Errorf("list Vulkan devices: %w", resultError(int(r)))
	}
	handles := make([]vk.PhysicalDevice, n)
	if r := vk.EnumeratePhysicalDevices(inst, &n, handles); r != vk.Success && r != vk.Incomplete {
		return nil, fmt.Errorf("list Vulkan devices: %w", resultError(int(r)))
	}
	var usable []physical
	var lacks []error
	for _, h := range handles[:n] {
		p := inspect(inst, h)
		if p.missing != "" {
			lacks = append(lacks, fmt.Errorf("%s has no %s", p.name, p.missing))
			continue
		}
		usable = append(usable, p)
	}
	sort.SliceStable(usable, func(i, j int) bool { return rank[usable[i].kind] < rank[usable[j].kind] })
	if len(usable) == 0 {
		if len(lacks) > 0 {
			return nil, fmt.Errorf("no usable Vulkan device: %w; a newer driver may help", errors.Join(lacks...))
		}
		return nil, errors.New("no Vulkan device: install your GPU's driver, or mesa-vulkan-drivers, which needs no GPU")
	}
	return usable, nil
}

// ask fills a chain of structures.
func ask(inst vk.Instance, h vk.PhysicalDevice, call string, typ C.uint32_t, chain unsafe.Pointer) {
	name := C.CString(call)
	defer C.free(unsafe.Pointer(name))
	C.gb_ask(loader.getInstanceProc, unsafe.Pointer(inst), name, unsafe.Pointer(h), typ, chain)
}

func inspect(inst vk.Instance, h vk.PhysicalDevice) physical {
	p := physical{instance: inst, handle: h}
	var base vk.PhysicalDeviceProperties
	vk.GetPhysicalDeviceProperties(h, &base)
	base.Deref()
	base.Limits.Deref()
	p.kind, p.name = base.DeviceType, vk.ToString(base.DeviceName[:])
	p.shared, p.tick = int(base.Limits.MaxComputeSharedMemorySize), float64(base.Limits.TimestampPeriod)
	if v := vk.Version(base.ApiVersion); v.Major() < 1 || v.Major() == 1 && v.Minor() < 2 {
		p.missing = fmt.Sprintf("Vulkan 1.2 (it has %d.%d)", v.Major(), v.Minor())
		return p
	}

	driver := (*C.gb_driver)(C.calloc(1, C.sizeof_gb_driver))
	limits := (*C.gb_limits)(C.calloc(1, C.sizeof_gb_limits))
	features := (*C.gb_address_features)(C.calloc(1, C.sizeof_gb_address_features))
	defer C.free(unsafe.Pointer(driver))
	defer C.free(unsafe.Pointer(limits))
	defer C.free(unsafe.Pointer(features))
	driver._type, limits._type, features._type = C.GB_DRIVER, C.GB_LIMITS, C.GB_ADDRESS_FEATURES
	driver.next = unsafe.Pointer(limits)
	ask(inst, h, "vkGetPhysicalDeviceProperties2", C.GB_PROPERTIES_2, unsafe.Pointer(driver))
	p.driver = C.GoString(&driver.name[0])
	if info := C.GoString(&driver.info[0]); info != "" {
		p.driver += " " + info
	}
	p.maxAlloc = int64(min(uint64(limits.allocation), 1<<62))
	p.cacheKey = fmt.Sprintf("%08x-%08x-%08x-%x", base.VendorID, base.DeviceID, base.DriverVersion, base.PipelineCacheUUID)

	ask(inst, h, "vkGetPhysicalDeviceFeatures2", C.GB_FEATURES_2, unsafe.Pointer(features))
	var able vk.PhysicalDeviceFeatures
	vk.GetPhysicalDeviceFeatures(h, &able)
	able.Deref()
	p.float64 = able.ShaderFloat64 == vk.True
	if features.address == 0 {
		p.missing = "buffer device addresses (bufferDeviceAddress)"
		return p
	}
	if able.ShaderInt64 != vk.True {
		p.missing = "64-bit integers in shaders (shaderInt64)"
		return p
	}

	vk.GetPhysicalDeviceMemoryProperties(h, &p.memory)
	p.memory.Deref()
	for i := range p.memory.MemoryTypes {
		p.memory.MemoryTypes[i].Deref()
	}
	for i := range p.memory.MemoryHeaps[:p.memory.MemoryHeapCount] {
		heap := &p.memory.MemoryHeaps[i]
		heap.Deref()
		if heap.Flags&vk.MemoryHeapFlags(vk.MemoryHeapDeviceLocalBit) != 0 {
			p.deviceBytes = max(p.deviceBytes, int64(heap.Size))
		}
	}

	var family, bits C.uint32_t
	if C.gb_queue_family(loader.getInstanceProc, unsafe.Pointer(inst), unsafe.Pointer(h), &family, &bits) == 0 {
		p.missing = "queue that computes"
	}
	p.queueFamily, p.timestamps, p.stampMask = uint32(family), bits > 0, 1<<bits-1
	name := C.CString(budgetExtension)
	defer C.free(unsafe.Pointer(name))
	p.budget = C.gb_has_extension(loader.getInstanceProc, unsafe.Pointer(inst), unsafe.Pointer(h), name) != 0
	return p
}

const budgetExtension = "VK_EXT_memory_budget"

func (p *physical) info(index int) gpu.Info {
	return gpu.Info{Backend: "vulkan", Index: index, Name: p.name, Driver: p.driver, MemoryBytes: p.deviceBytes,
		Float64: p.float64, Unified: p.kind != vk.PhysicalDeviceTypeDiscreteGpu}
}

// Devices lists the devices that Open can open, discrete GPUs first.
func Devices() ([]gpu.Info, error) {
	inst, err := openInstance()
	if err != nil {
		return nil, err
	}
	ps, err := physicals(inst)
	if err != nil {
		return nil, err
	}
	infos := make([]gpu.Info, len(ps))
	for i := range ps {
		infos[i] = ps[i].info(i)
	}
	return infos, nil
}

// free tells how much of the device's memory the driver would still give this
// process, and whether it says so.
func (p *physical) free(heap uint32) (int64, bool) {
	if !p.budget {
		return 0, false
	}
	b := (*C.gb_budget)(C.calloc(1, C.sizeof_gb_budget))
	defer C.free(unsafe.Pointer(b))
	b._type = C.GB_BUDGET
	ask(p.instance, p.handle, "vkGetPhysicalDeviceMemoryProperties2", C.GB_MEMORY_2, unsafe.Pointer(b))
	return int64(b.budget[heap]) - int64(b.usage[heap]), true
}
