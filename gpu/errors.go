package gpu

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrDeclined is a backend's answer to a launch that it has no kernel for.
	ErrDeclined = errors.New("declined")
	// ErrOutOfMemory is a backend's answer when a buffer does not fit.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrClosed is the answer of a closed device.
	ErrClosed = errors.New("device is closed")
	// ErrLost is the answer of a device that can do nothing more: what only it
	// held is gone, and it must be opened anew.
	ErrLost = errors.New("device was lost")
	// ErrFreed is the answer to the use of a freed storage.
	ErrFreed = errors.New("storage was freed")
)

// UnsupportedError tells that a primitive cannot run on the device, and that
// the device does not fall back to the host.
type UnsupportedError struct {
	Kernel  Kernel
	DType   DType
	Backend string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s has no kernel %s for %s; use another dtype or device, or allow fallback to the host", e.Backend, e.Kernel, e.DType)
}

// LaunchError wraps what a backend said about a launch.
type LaunchError struct {
	Kernel Kernel
	DType  DType
	Err    error
}

func (e *LaunchError) Error() string {
	return fmt.Sprintf("launch of %s %s: %v", e.Kernel, e.DType, e.Err)
}
func (e *LaunchError) Unwrap() error { return e.Err }

// InterruptedError tells that Interrupt stopped the work before the launch of
// Kernel.
type InterruptedError struct{ Kernel Kernel }

func (e *InterruptedError) Error() string { return "interrupted before " + e.Kernel.String() }

// Interrupted marks the error as an interrupt.
func (e *InterruptedError) Interrupted() bool { return true }

// OutOfMemoryError tells what did not fit and who holds the rest.
type OutOfMemoryError struct {
	Device  string
	Want    int64 // bytes
	Held    int64 // bytes held on the device
	Largest []Row // largest owners, largest first
}

func (e *OutOfMemoryError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is out of memory: %s more were needed beside %s held", e.Device, Bytes(e.Want), Bytes(e.Held))
	for _, r := range e.Largest {
		fmt.Fprintf(&b, "\n  %9s  %s", Bytes(r.Bytes), r.Owner)
	}
	b.WriteString("\nfree what is no longer needed, or use smaller batches")
	return b.String()
}

// Is reports that the error is ErrOutOfMemory.
func (e *OutOfMemoryError) Is(target error) bool { return target == ErrOutOfMemory }

// Bytes prints a size as people read it: 512 B, 1.5 MiB.
type Bytes int64

func (b Bytes) String() string {
	if b < 1024 {
		return fmt.Sprintf("%d B", int64(b))
	}
	v, unit := float64(b), -1
	for v >= 1024 && unit < 4 {
		v /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", v, "KMGTP"[unit])
}
