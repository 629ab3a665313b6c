// Package vulkan runs launches on any Vulkan 1.2 device with buffer device
// addresses: desktop and data-centre GPUs, and lavapipe.
//
// Its one idea: launches are recorded into command buffers and submitted in
// batches to one queue. A launch's parameters, addresses included, are push
// constants, so there are no descriptor sets; a barrier stands only where a
// launch needs what an earlier one did; the host waits only to read, or for
// room.
//
// The package must not know what kernels compute or which of them a launch
// takes: that is gpu/kernels. It knows nothing of residency.
//
// The Vulkan loader is opened at first use. Where there is none, or no device,
// the package still works: its driver lists nothing and says why.
package vulkan
