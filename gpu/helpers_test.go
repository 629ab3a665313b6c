package gpu_test

import (
	"encoding/binary"
	"math"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/gputest"
	"gradbook/gpu/host"
)

// newDevice is a host device whose contract with the backend is checked, and
// whose books must be even at the end.
func newDevice(t testing.TB, wrap ...func(gpu.Backend) gpu.Backend) *gpu.Device {
	b := host.New()
	for _, w := range wrap {
		b = w(b)
	}
	d := gpu.New(gputest.Strict(b))
	t.Cleanup(func() {
		checkBooks(t, d)
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

func checkBooks(t testing.TB, d *gpu.Device) {
	t.Helper()
	s := d.Snapshot()
	sum := int64(0)
	for _, r := range s.Rows {
		sum += r.DeviceBytes
	}
	if sum != s.InUse || s.InUse+s.PoolBytes != s.Backend.BytesHeld {
		t.Errorf("rows hold %d bytes, in use %d, pool %d, backend %d", sum, s.InUse, s.PoolBytes, s.Backend.BytesHeld)
	}
}

func floats(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func read(t testing.TB, s *gpu.Storage) []float32 {
	t.Helper()
	b := make([]byte, s.Bytes())
	if err := s.Read(b, 0); err != nil {
		t.Fatal(err)
	}
	x := make([]float32, len(b)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return x
}

func want(t testing.TB, s *gpu.Storage, values ...float32) {
	t.Helper()
	got := read(t, s)
	for i := range values {
		if len(got) != len(values) || got[i] != values[i] {
			t.Fatalf("got %v, want %v", got, values)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fill makes a storage of n elements on the device.
func fill(t testing.TB, d *gpu.Device, n uint32, value float64) *gpu.Storage {
	t.Helper()
	s := d.NewStorage(int64(n)*4, "fill", gpu.Temporary)
	must(t, d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{Value: value, N: n}, s.All()))
	return s
}

// add is y += alpha*x.
func add(d *gpu.Device, x, y *gpu.Storage, alpha float64) error {
	n := uint32(y.Bytes() / 4)
	return d.Run(gpu.Axpby, gpu.Float32, &gpu.AxpbyParams{Alpha: alpha, Beta: 1, N: n}, x.All(), y.All())
}

// square is out = x*x.
func square(d *gpu.Device, x, out *gpu.Storage) error {
	return d.Run(gpu.Unary, gpu.Float32, &gpu.UnaryParams{Scale: 1, Op: gpu.Square, N: uint32(x.Bytes() / 4)}, x.All(), out.All())
}
