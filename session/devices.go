package session

// The devices that Use can open. One whose driver is absent says so when it is
// asked for.
import (
	_ "gradbook/gpu/cuda"
	_ "gradbook/gpu/host"
	_ "gradbook/gpu/trial"
	_ "gradbook/gpu/vulkan"
)
