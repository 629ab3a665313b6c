package live

// The devices that GRADBOOK_DEVICE may name.
import (
	_ "gradbook/gpu/cuda"
	_ "gradbook/gpu/vulkan"
)
