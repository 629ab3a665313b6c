package gpu

import "time"

// Backend is what a device must do. A Device calls it under a mutex, from any
// goroutine: a backend that needs a context current on the thread sees to it
// at each entry.
type Backend interface {
	Info() Info

	// Alloc returns a buffer of at least bytes bytes with undefined content,
	// or an error that Is ErrOutOfMemory.
	Alloc(bytes int64) (Buffer, error)

	// Free gives a buffer back. Launches that use it may still be running;
	// the backend keeps its memory until they are done.
	Free(Buffer)

	// Upload copies src into dst. src may be reused when Upload returns.
	Upload(dst Span, src []byte) error

	// Download copies src into dst after everything launched before it.
	Download(dst []byte, src Span) error

	// Launch starts a kernel after everything launched before it. It may
	// return before the kernel has run. ErrDeclined means that this backend
	// has no such kernel for this dtype or these sizes; then, as with any
	// other error, nothing was launched.
	Launch(Launch) error

	// Record compiles launches into one submission that can be replayed. The
	// buffers named by them stay valid until the recording is closed.
	// Inputs are spans that each replay may fill first. ErrDeclined means that
	// the backend has nothing better than launching them one by one.
	Record(launches []Launch, inputs []Span) (Recording, error)

	// Sync waits until everything launched has run, and reports errors that
	// the device met on the way.
	Sync() error

	// Stats tells what the backend holds and how long its kernels ran.
	Stats() BackendStats

	// Close frees everything. The backend is not used afterwards.
	Close() error
}

// Recording is a list of launches that a backend runs as one submission.
type Recording interface {
	// Replay starts the launches, as Launch does. Before them it copies to
	// each input from its place in sources, or leaves it as it is if there is
	// no buffer, or there are no sources at all. A source is as long as its
	// input and lies in none of the recording's buffers. ErrDeclined means that
	// this backend cannot copy as part of a replay. After that or another error
	// nothing has run.
	Replay(sources []Span) error
	Close()
}

// Buffer is a backend's handle for memory on its device. Only the backend that
// made it looks inside.
type Buffer interface {
	// Bytes is the size that was asked for.
	Bytes() int64
}

// Span is a run of bytes inside a buffer. Offset and Bytes are multiples of
// the element size of what is stored there.
type Span struct {
	Buffer Buffer
	Offset int64
	Bytes  int64
}

// Info describes a device. It does not change while the device is open.
type Info struct {
	Backend     string // "host", "vulkan", "cuda"
	Index       int    // among the backend's devices
	Name        string // as the driver calls it
	Driver      string // driver or library and its version
	MemoryBytes int64  // total memory of the device; 0 if unknown
	Float64     bool   // whether kernels exist in float64
	Unified     bool   // device memory is the host's memory
}

// BackendStats are the backend's own books, kept apart from the Device's so
// that the two can be compared.
type BackendStats struct {
	// BytesHeld is the sum of the sizes of live buffers, as asked for.
	BytesHeld int64
	// Buffers is the number of live buffers.
	Buffers int
	// KernelTime is the time the device spent in each kernel since it was
	// opened, where the backend can tell; zero elsewhere.
	KernelTime [NumKernels]time.Duration
}
