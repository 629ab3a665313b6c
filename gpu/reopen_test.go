package gpu_test

import (
	"errors"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/host"
)

// perishable is a backend that can be lost.
type perishable struct {
	gpu.Backend
	lost, closed bool
}

func (p *perishable) Launch(l gpu.Launch) error {
	if p.lost {
		return gpu.ErrLost
	}
	return p.Backend.Launch(l)
}

func (p *perishable) Download(dst []byte, src gpu.Span) error {
	if p.lost {
		return gpu.ErrLost
	}
	return p.Backend.Download(dst, src)
}

func (p *perishable) Close() error {
	p.closed = true
	return p.Backend.Close()
}

func TestReopen(t *testing.T) {
	first := &perishable{Backend: host.New()}
	d := gpu.New(first)
	defer d.Close()
	data := d.FromHost(floats(1, 2, 3), "data", gpu.Data)
	w := d.NewStorage(12, "w", gpu.Parameter)
	gone := d.NewStorage(12, "gone", gpu.Gradient)
	gone.SetName("w.Grad")
	must(t, square(d, data, w))
	must(t, square(d, data, gone))
	if _, err := w.Host(); err != nil {
		t.Fatal(err)
	}
	step, err := d.Record(func() error { return square(d, data, gone) })
	must(t, err)
	first.lost = true
	if err := square(d, data, w); !errors.Is(err, gpu.ErrLost) {
		t.Fatalf("a launch on a lost device: %v", err)
	}
	lost, err := d.Reopen(host.New())
	must(t, err)
	if len(lost) != 1 || lost[0].ID != gone.ID() {
		t.Errorf("lost %+v, want the storage that only the device had", lost)
	}
	if !first.closed {
		t.Error("the lost backend was not closed")
	}
	want(t, w, 1, 4, 9)
	err = d.Run(gpu.Unary, gpu.Float32, &gpu.UnaryParams{Scale: 1, N: 3}, gone.All(), w.All())
	if !errors.Is(err, gpu.ErrLost) || !strings.Contains(err.Error(), "w.Grad") {
		t.Errorf("the use of what was lost: %v", err)
	}
	if err := step.Replay(); err == nil {
		t.Error("a recording of the lost backend ran")
	}
	must(t, square(d, w, gone))
	want(t, gone, 1, 16, 81)
	if s := d.Snapshot(); s.Held != s.Backend.BytesHeld {
		t.Errorf("%d bytes held by the books, %d by the backend", s.Held, s.Backend.BytesHeld)
	}
}
