package host

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"gradbook/gpu"
)

func init() {
	gpu.Register(gpu.Driver{
		Name: "host",
		Devices: func() ([]gpu.Info, error) {
			var infos []gpu.Info
			for i, b := range libraries() {
				infos = append(infos, describe(i, b))
			}
			return infos, nil
		},
		Open: func(index int) (gpu.Backend, error) {
			libs := libraries()
			if index < 0 || index >= len(libs) {
				return nil, fmt.Errorf("host has no device %d: it has %d", index, len(libs))
			}
			return open(index, libs[index]), nil
		},
	})
}

// New returns the host backend with the best BLAS that was found.
func New() gpu.Backend { return open(0, libraries()[0]) }

type backend struct {
	info  gpu.Info
	blas  blas
	stats gpu.BackendStats
}

func open(index int, lib blas) *backend {
	return &backend{info: describe(index, lib), blas: lib}
}

func describe(index int, lib blas) gpu.Info {
	return gpu.Info{
		Backend:     "host",
		Index:       index,
		Name:        cpuName() + " with " + lib.name(),
		Driver:      fmt.Sprintf("%s, %s", lib.version(), runtime.Version()),
		MemoryBytes: memoryBytes(),
		Float64:     true,
		Unified:     true,
	}
}

// buffer is memory of Go's heap. Words keep it aligned for every dtype.
type buffer struct {
	words []uint64
	bytes int64
}

func (b *buffer) Bytes() int64 { return b.bytes }

func (h *backend) Info() gpu.Info { return h.info }

func (h *backend) Alloc(bytes int64) (gpu.Buffer, error) {
	if bytes < 0 {
		return nil, fmt.Errorf("host: allocation of %d bytes", bytes)
	}
	// Go cannot recover from a failed make, so what cannot fit is not tried.
	if h.info.MemoryBytes > 0 && bytes > h.info.MemoryBytes-h.stats.BytesHeld {
		return nil, gpu.ErrOutOfMemory
	}
	h.stats.BytesHeld += bytes
	h.stats.Buffers++
	return &buffer{make([]uint64, (bytes+7)/8), bytes}, nil
}

func (h *backend) Free(b gpu.Buffer) {
	own := b.(*buffer)
	if own.words == nil && own.bytes > 0 {
		panic("host: buffer freed twice")
	}
	own.words = nil
	h.stats.BytesHeld -= own.bytes
	h.stats.Buffers--
}

func (h *backend) Upload(dst gpu.Span, src []byte) error {
	if int64(len(src)) != dst.Bytes {
		return fmt.Errorf("host: upload of %d bytes into a span of %d", len(src), dst.Bytes)
	}
	copy(elems[byte](dst), src)
	return nil
}

func (h *backend) Download(dst []byte, src gpu.Span) error {
	if int64(len(dst)) != src.Bytes {
		return fmt.Errorf("host: download of %d bytes from a span of %d", len(dst), src.Bytes)
	}
	copy(dst, elems[byte](src))
	return nil
}

func (h *backend) Launch(l gpu.Launch) error {
	run := kernels[l.DType][l.Kernel]
	if run == nil {
		return gpu.ErrDeclined
	}
	start := time.Now()
	run(h, &l)
	h.stats.KernelTime[l.Kernel] += time.Since(start)
	return nil
}

// Record declines: a loop over launches is as good.
func (h *backend) Record([]gpu.Launch, []gpu.Span) (gpu.Recording, error) {
	return nil, gpu.ErrDeclined
}

func (h *backend) Sync() error { return nil }

func (h *backend) Stats() gpu.BackendStats { return h.stats }

func (h *backend) Close() error { return nil }

// elems is a span as a slice of its elements.
func elems[T any](s gpu.Span) []T {
	var zero T
	size := int64(unsafe.Sizeof(zero))
	b := s.Buffer.(*buffer)
	if s.Offset < 0 || s.Bytes < 0 || s.Offset+s.Bytes > b.bytes || b.words == nil && b.bytes > 0 {
		panic(fmt.Sprintf("host: bytes %d to %d of a buffer of %d, freed: %t", s.Offset, s.Offset+s.Bytes, b.bytes, b.words == nil))
	}
	if s.Bytes < size {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.words)), s.Offset)), s.Bytes/size)
}
