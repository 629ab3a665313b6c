// Package null is a backend that holds bytes and declines every launch: the
// template for a new backend, and the device of a permissive session that runs
// everything on the host.
//
// A new backend starts as a copy. Each kernel that it learns is one that it
// declines no more; the conformance suite in gputest says when it is right.
package null

import (
	"fmt"

	"gradbook/gpu"
)

func init() {
	gpu.Register(gpu.Driver{
		Name:    "null",
		Devices: func() ([]gpu.Info, error) { return []gpu.Info{New().Info()}, nil },
		Open:    func(int) (gpu.Backend, error) { return New(), nil },
	})
}

// New returns a null backend.
func New() gpu.Backend { return &backend{} }

type backend struct{ stats gpu.BackendStats }

type buffer []byte

func (b *buffer) Bytes() int64 { return int64(len(*b)) }

func (n *backend) Info() gpu.Info {
	return gpu.Info{Backend: "null", Name: "null", Driver: "gradbook", Float64: true}
}

func (n *backend) Alloc(bytes int64) (gpu.Buffer, error) {
	if bytes < 0 {
		return nil, fmt.Errorf("null: allocation of %d bytes", bytes)
	}
	b := make(buffer, bytes)
	n.stats.BytesHeld += bytes
	n.stats.Buffers++
	return &b, nil
}

func (n *backend) Free(b gpu.Buffer) {
	n.stats.BytesHeld -= b.Bytes()
	n.stats.Buffers--
}

func (n *backend) Upload(dst gpu.Span, src []byte) error {
	copy((*dst.Buffer.(*buffer))[dst.Offset:dst.Offset+dst.Bytes], src)
	return nil
}

func (n *backend) Download(dst []byte, src gpu.Span) error {
	copy(dst, (*src.Buffer.(*buffer))[src.Offset:src.Offset+src.Bytes])
	return nil
}

func (n *backend) Launch(gpu.Launch) error { return gpu.ErrDeclined }
func (n *backend) Record([]gpu.Launch, []gpu.Span) (gpu.Recording, error) {
	return nil, gpu.ErrDeclined
}
func (n *backend) Sync() error             { return nil }
func (n *backend) Stats() gpu.BackendStats { return n.stats }
func (n *backend) Close() error            { return nil }
