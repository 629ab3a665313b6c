package gputest

import (
	"fmt"
	"reflect"

	"gradbook/gpu"
)

// Strict wraps a backend and panics when its user breaks the contract: spans
// outside live buffers, written buffers in two arguments, launches that the
// kernel table does not have, buffers freed twice or left at Close.
func Strict(b gpu.Backend) gpu.Backend { return &strictBackend{b, map[gpu.Buffer]bool{}} }

type strictBackend struct {
	gpu.Backend
	live map[gpu.Buffer]bool
}

func (s *strictBackend) Alloc(bytes int64) (gpu.Buffer, error) {
	b, err := s.Backend.Alloc(bytes)
	if err == nil {
		s.live[b] = true
	}
	return b, err
}

func (s *strictBackend) Free(b gpu.Buffer) {
	if !s.live[b] {
		panic("gputest: free of a buffer that is not live")
	}
	delete(s.live, b)
	s.Backend.Free(b)
}

func (s *strictBackend) span(a gpu.Span) {
	if !s.live[a.Buffer] {
		panic("gputest: use of a buffer that is not live")
	}
	if a.Offset < 0 || a.Bytes < 0 || a.Offset+a.Bytes > a.Buffer.Bytes() {
		panic(fmt.Sprintf("gputest: bytes %d to %d of a buffer of %d", a.Offset, a.Offset+a.Bytes, a.Buffer.Bytes()))
	}
}

func (s *strictBackend) Upload(dst gpu.Span, src []byte) error {
	s.span(dst)
	if int64(len(src)) != dst.Bytes {
		panic(fmt.Sprintf("gputest: upload of %d bytes into a span of %d", len(src), dst.Bytes))
	}
	return s.Backend.Upload(dst, src)
}

func (s *strictBackend) Download(dst []byte, src gpu.Span) error {
	s.span(src)
	if int64(len(dst)) != src.Bytes {
		panic(fmt.Sprintf("gputest: download of %d bytes from a span of %d", len(dst), src.Bytes))
	}
	return s.Backend.Download(dst, src)
}

func (s *strictBackend) Launch(l gpu.Launch) error {
	s.launch(l)
	return s.Backend.Launch(l)
}

func (s *strictBackend) Record(ls []gpu.Launch, inputs []gpu.Span) (gpu.Recording, error) {
	for _, l := range ls {
		s.launch(l)
	}
	for _, in := range inputs {
		s.span(in)
	}
	return s.Backend.Record(ls, inputs)
}

func (s *strictBackend) launch(l gpu.Launch) {
	info := l.Kernel.Info()
	if got, want := reflect.TypeOf(l.Params), reflect.PointerTo(reflect.TypeOf(info.Params)); got != want {
		panic(fmt.Sprintf("gputest: %s with params %v, want %v", l.Kernel, got, want))
	}
	known := false
	for _, t := range info.DTypes {
		known = known || t == l.DType
	}
	if !known || len(l.Args) != len(info.Args) {
		panic(fmt.Sprintf("gputest: %s %s with %d arguments", l.Kernel, l.DType, len(l.Args)))
	}
	elements := gpu.Elements(l.Kernel, l.Params)
	for i, a := range l.Args {
		s.span(a)
		size := l.DType.Size()
		switch info.Args[i].Type {
		case gpu.Index, gpu.State:
			size = 4
			if info.Args[i].Type == gpu.State && a.Bytes != 16 {
				panic(fmt.Sprintf("gputest: %s: a state block of %d bytes", l.Kernel, a.Bytes))
			}
		case gpu.Foreign:
			size = gpu.DType(l.Params.(*gpu.CastParams).From).Size()
		}
		if a.Offset%size != 0 || elements[i] < 0 || elements[i]*size > a.Bytes {
			panic(fmt.Sprintf("gputest: %s: argument %s: %d elements of %d bytes in %+v", l.Kernel, info.Args[i].Name, elements[i], size, a))
		}
		for j, b := range l.Args[:i] {
			if a.Buffer == b.Buffer && (info.Args[i].Access != gpu.In || info.Args[j].Access != gpu.In) {
				panic(fmt.Sprintf("gputest: %s names one buffer as %s and %s", l.Kernel, info.Args[j].Name, info.Args[i].Name))
			}
		}
	}
}

func (s *strictBackend) Close() error {
	if len(s.live) > 0 {
		panic(fmt.Sprintf("gputest: closed with %d live buffers", len(s.live)))
	}
	return s.Backend.Close()
}
