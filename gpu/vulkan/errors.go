package vulkan

import (
	"errors"
	"fmt"

	vk "github.com/vulkan-go/vulkan"

	"gradbook/gpu"
)

// errLost is wrapped by what a device that was lost answers from then on.
var errLost = errors.New("the device was lost")

var results = map[vk.Result]string{
	vk.NotReady:                  "not ready",
	vk.Timeout:                   "timed out",
	vk.ErrorOutOfHostMemory:      "out of host memory",
	vk.ErrorInitializationFailed: "initialization failed",
	vk.ErrorMemoryMapFailed:      "memory cannot be mapped",
	vk.ErrorLayerNotPresent:      "no such layer",
	vk.ErrorExtensionNotPresent:  "no such extension",
	vk.ErrorFeatureNotPresent:    "no such feature",
	vk.ErrorIncompatibleDriver:   "incompatible driver",
	vk.ErrorTooManyObjects:       "too many objects",
	vk.ErrorFragmentedPool:       "fragmented pool",
}

// resultError says what a Vulkan call returned.
func resultError(r int) error {
	switch vk.Result(r) {
	case vk.Success:
		return nil
	case vk.ErrorDeviceLost:
		return errLost
	case vk.ErrorOutOfDeviceMemory:
		return gpu.ErrOutOfMemory
	}
	if text, ok := results[vk.Result(r)]; ok {
		return fmt.Errorf("%s (VkResult %d)", text, r)
	}
	return fmt.Errorf("VkResult %d", r)
}
