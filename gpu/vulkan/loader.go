package vulkan

/*
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	vk "github.com/vulkan-go/vulkan"
)

// loader is the Vulkan library; it stays open once it was found.
var loader struct {
	once            sync.Once
	err             error
	getInstanceProc C.gb_proc
	getDeviceProc   C.gb_proc
}

// The binding's own search knows only the development name, libvulkan.so.
var libraryNames = []string{"libvulkan.so.1", "libvulkan.so", "libvulkan.1.dylib", "libMoltenVK.dylib"}

func load() error {
	loader.once.Do(func() { loader.err = open(libraryNames) })
	return loader.err
}

func open(names []string) error {
	var first error
	for _, name := range names {
		h, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		instanceProc, err := purego.Dlsym(h, "vkGetInstanceProcAddr")
		if err != nil {
			return fmt.Errorf("%s is no Vulkan loader: %w", name, err)
		}
		deviceProc, err := purego.Dlsym(h, "vkGetDeviceProcAddr")
		if err != nil {
			return fmt.Errorf("%s is no Vulkan loader: %w", name, err)
		}
		vk.SetGetInstanceProcAddr(*(*unsafe.Pointer)(unsafe.Pointer(&instanceProc)))
		loader.getInstanceProc = *(*C.gb_proc)(unsafe.Pointer(&instanceProc))
		loader.getDeviceProc = *(*C.gb_proc)(unsafe.Pointer(&deviceProc))
		if err := vk.Init(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("no Vulkan loader: install libvulkan1 (Debian, Ubuntu) or vulkan-loader, and a driver for your GPU; mesa-vulkan-drivers has one that needs no GPU (%w)", first)
}

const validationLayer = "VK_LAYER_KHRONOS_validation"

// instance is shared by all devices and stays open: NVIDIA's driver can be loaded
// only some dozens of times in one process.
var instance struct {
	mu     sync.Mutex
	handle vk.Instance
}

// validation, where set before the first device is opened, is given what the
// validation layer says.
var validation func(message string)

// openInstance returns the instance.
func openInstance() (vk.Instance, error) {
	if err := load(); err != nil {
		return nil, err
	}
	instance.mu.Lock()
	defer instance.mu.Unlock()
	if instance.handle != nil {
		return instance.handle, nil
	}
	var layer, extension *C.char
	if validation != nil {
		layer, extension = C.CString(validationLayer), C.CString("VK_EXT_debug_report")
		defer C.free(unsafe.Pointer(layer))
		defer C.free(unsafe.Pointer(extension))
	}
	var opened unsafe.Pointer
	r := vk.Result(C.gb_open_instance(loader.getInstanceProc, layer, extension, &opened))
	handle := vk.Instance(opened)
	if r == vk.ErrorIncompatibleDriver {
		return nil, fmt.Errorf("the Vulkan loader found no driver: install your GPU's, or mesa-vulkan-drivers, which needs no GPU%s", driverFiles())
	}
	if r != vk.Success {
		return nil, fmt.Errorf("open Vulkan: %w", resultError(int(r)))
	}
	if err := vk.InitInstance(handle); err != nil {
		vk.DestroyInstance(handle, nil)
		return nil, fmt.Errorf("open Vulkan: %w", err)
	}
	if validation != nil {
		report := vk.DebugReportCallbackCreateInfo{SType: vk.StructureTypeDebugReportCallbackCreateInfo,
			Flags: vk.DebugReportFlags(vk.DebugReportErrorBit | vk.DebugReportWarningBit),
			PfnCallback: func(_ vk.DebugReportFlags, _ vk.DebugReportObjectType, _ uint64, _ uint, _ int32, _ string, message string, _ unsafe.Pointer) vk.Bool32 {
				validation(message)
				return vk.False
			}}
		var callback vk.DebugReportCallback
		if r := vk.CreateDebugReportCallback(handle, &report, nil, &callback); r != vk.Success {
			vk.DestroyInstance(handle, nil)
			return nil, fmt.Errorf("report what the validation layer says: %w", resultError(int(r)))
		}
	}
	instance.handle = handle
	return handle, nil
}

func driverFiles() string {
	for _, name := range []string{"VK_DRIVER_FILES", "VK_ICD_FILENAMES"} {
		if v := os.Getenv(name); v != "" {
			return fmt.Sprintf(" (%s is %q)", name, v)
		}
	}
	return ""
}
