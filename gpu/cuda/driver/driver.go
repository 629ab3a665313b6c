//go:build cuda && linux && amd64

package driver

// #cgo CFLAGS: -I${SRCDIR}/compat -Wall -Wextra
// #cgo LDFLAGS: -ldl
// #cgo noescape queue_launch
// #cgo noescape queue_upload
// #cgo noescape queue_download
// #cgo noescape capture_follow
// #cgo noescape capture_leaves
// #cgo noescape node_kernel
// #include <stdlib.h>
// #include "driver.h"
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

//go:generate ./symbols.sh

// Library is the file that Load opens. A test may put its own there before the
// first Load.
var Library = "libcuda.so.1"

var load = sync.OnceValue(func() error {
	name := C.CString(Library)
	defer C.free(unsafe.Pointer(name))
	var result C.int
	if why := C.driver_open(name, &result); why != nil {
		return fmt.Errorf("no CUDA driver: %s", C.GoString(why))
	}
	if err := check(result); err != nil {
		return fmt.Errorf("the CUDA driver does not start: %w", err)
	}
	return nil
})

// Load opens the driver, once. Before it has succeeded, calls answer
// CUDA_ERROR_NO_DEVICE.
func Load() error { return load() }

// Result is a CUresult other than success.
type Result int

// The results that callers tell apart.
const (
	OutOfMemory           Result = 2
	NoDevice              Result = 100
	InvalidImage          Result = 200
	NoBinaryForGPU        Result = 209
	ECCUncorrectable      Result = 214
	InvalidPTX            Result = 218
	NVLinkUncorrectable   Result = 220
	JITCompilerNotFound   Result = 221
	UnsupportedPTXVersion Result = 222
	NotReady              Result = 600
	IllegalAddress        Result = 700
	LaunchTimeout         Result = 702
	ContextIsDestroyed    Result = 709
	Assert                Result = 710
	HardwareStackError    Result = 714
	IllegalInstruction    Result = 715
	MisalignedAddress     Result = 716
	InvalidAddressSpace   Result = 717
	InvalidPC             Result = 718
	LaunchFailed          Result = 719
	NotSupported          Result = 801
	CaptureInvalidated    Result = 901
	Unknown               Result = 999
)

// Error is the driver's own text and name for the result.
func (r Result) Error() string {
	name, text := C.driver_error_name(C.int(r)), C.driver_error_text(C.int(r))
	if name == nil || text == nil {
		return fmt.Sprintf("CUDA error %d", int(r))
	}
	return fmt.Sprintf("%s (%s)", C.GoString(text), C.GoString(name))
}

// Lost reports that the context which had the result can do nothing more.
func (r Result) Lost() bool {
	switch r {
	case ECCUncorrectable, NVLinkUncorrectable, IllegalAddress, LaunchTimeout, ContextIsDestroyed, Assert,
		HardwareStackError, IllegalInstruction, MisalignedAddress, InvalidAddressSpace, InvalidPC, LaunchFailed, Unknown:
		return true
	}
	return false
}

func check(result C.int) error {
	if result == 0 {
		return nil
	}
	return Result(result)
}

// ResultOf returns the Result in an error of gorgonia.org/cu, whose own type
// is an unexported integer.
func ResultOf(err error) error {
	if err == nil {
		return nil
	}
	var r Result
	if _, scan := fmt.Sscanf(fmt.Sprintf("%d", err), "%d", &r); scan != nil {
		return err
	}
	return r
}

// Queue is a stream in a context. Work given to it runs in order.
type Queue struct{ q C.queue }

// NewQueue makes a queue of a context and a stream made in it.
func NewQueue(ctx cu.CUContext, stream cu.Stream) Queue {
	return Queue{C.queue{context: *(*unsafe.Pointer)(unsafe.Pointer(&ctx)), stream: unsafe.Pointer(stream.C())}}
}

// Launch starts a function whose one parameter is the struct in params.
func (q Queue) Launch(fn cu.Function, grid, block [3]uint32, params []byte) error {
	return check(C.queue_launch(q.q, *(*unsafe.Pointer)(unsafe.Pointer(&fn)),
		(*C.uint32_t)(&grid[0]), (*C.uint32_t)(&block[0]), unsafe.Pointer(&params[0])))
}

// Upload starts a copy to the device. Src must be pinned and stay as it is
// until the copy has run.
func (q Queue) Upload(dst cu.DevicePtr, src []byte) error {
	return check(C.queue_upload(q.q, C.uint64_t(dst), unsafe.Pointer(&src[0]), C.size_t(len(src))))
}

// Download starts a copy from the device. Dst must be pinned and holds the
// bytes when the copy has run.
func (q Queue) Download(dst []byte, src cu.DevicePtr) error {
	return check(C.queue_download(q.q, unsafe.Pointer(&dst[0]), C.uint64_t(src), C.size_t(len(dst))))
}

// Copy starts a copy on the device.
func (q Queue) Copy(dst, src cu.DevicePtr, bytes int64) error {
	return check(C.queue_copy(q.q, C.uint64_t(dst), C.uint64_t(src), C.size_t(bytes)))
}

// Wait waits until the queue's work has run.
func (q Queue) Wait() error { return check(C.queue_wait(q.q)) }

// Pinned returns host memory that the device's copy engine reaches. It is not
// Go's: give it back with Unpin.
func (q Queue) Pinned(bytes int) ([]byte, error) {
	var p unsafe.Pointer
	if err := check(C.queue_pinned(q.q, &p, C.size_t(bytes))); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), bytes), nil
}

// Unpin gives memory of Pinned back.
func (q Queue) Unpin(b []byte) error {
	return check(C.queue_pinned_free(q.q, unsafe.Pointer(&b[0])))
}

// Elapsed is the time in milliseconds between two recorded events.
func (q Queue) Elapsed(start, end cu.Event) (float32, error) {
	var ms C.float
	err := check(C.event_elapsed(q.q, *(*unsafe.Pointer)(unsafe.Pointer(&start)), *(*unsafe.Pointer)(unsafe.Pointer(&end)), &ms))
	return float32(ms), err
}
