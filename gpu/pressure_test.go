package gpu_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/trial"
)

func limited(bytes int64) func(gpu.Backend) gpu.Backend {
	return func(b gpu.Backend) gpu.Backend { return trial.Small(b, bytes) }
}

// 1 KiB storages on a device of 4 KiB.
const k = 256

func TestMemoryIsReused(t *testing.T) {
	d := newDevice(t, limited(4<<10))
	for i := range 50 {
		s := fill(t, d, k, float64(i))
		want(t, s, append(make([]float32, 0), repeated(float32(i))...)...)
		s.Free()
	}
	if c := d.Counters(); c.Allocs != 1 || c.Reuses != 49 {
		t.Errorf("%d allocations, %d reuses", c.Allocs, c.Reuses)
	}
}

func repeated(v float32) []float32 {
	x := make([]float32, k)
	for i := range x {
		x[i] = v
	}
	return x
}

// Sizes that nobody asks for any more are not kept for ever.
func TestPoolIsBounded(t *testing.T) {
	d := newDevice(t)
	d.SetCollectBudget(16 << 10)
	live := fill(t, d, 8*k, 1)
	most := int64(0)
	for n := uint32(k); n < 40*k; n += k {
		fill(t, d, n, 1).Free()
		most = max(most, d.Snapshot().PoolBytes)
	}
	if most > 16<<10+40<<10 {
		t.Errorf("the pool grew to %v", gpu.Bytes(most))
	}
	for range 10 { // one size again and again is kept
		fill(t, d, 3*k, 1).Free()
	}
	if c := d.Counters(); c.Reuses < 9 {
		t.Errorf("%d reuses", c.Reuses)
	}
	runtime.KeepAlive(live)
}

func TestPoolIsGivenBackFirst(t *testing.T) {
	d := newDevice(t, limited(4<<10))
	fill(t, d, 3*k, 1).Free() // 3 KiB in the pool, of no use for 2 KiB
	s := fill(t, d, 2*k, 2)
	if c := d.Counters(); c.Collects != 0 || c.Spills != 0 {
		t.Errorf("%d collections, %d spills, though giving back the pool was enough", c.Collects, c.Spills)
	}
	s.Free()
}

func TestGarbageIsCollectedUnderPressure(t *testing.T) {
	d := newDevice(t, limited(4<<10))
	for i := range 100 {
		fill(t, d, k, float64(i)) // never freed
	}
	c := d.Counters()
	if c.Collects == 0 || c.Spills != 0 {
		t.Errorf("%d collections, %d spills", c.Collects, c.Spills)
	}
	if held := d.Snapshot().Held; held > 4<<10 {
		t.Errorf("%d bytes held", held)
	}
}

func TestHostCopiesStandIn(t *testing.T) {
	d := newDevice(t, limited(4<<10))
	var all []*gpu.Storage
	sum := fill(t, d, k, 0)
	for i := range 10 {
		content := make([]byte, 4*k)
		copy(content, floats(float32(i)))
		s := d.FromHost(content, "batch", gpu.Data)
		must(t, add(d, s, sum, 1))
		all = append(all, s)
	}
	if got := read(t, sum)[0]; got != 45 {
		t.Errorf("sum is %v", got)
	}
	if c := d.Counters(); c.Spills != 7 {
		t.Errorf("%d spills, want 7: three batches fit beside the sum", c.Spills)
	}
	for i, s := range all { // oldest use first
		if got, want := s.Residency(), gpu.OnHost; i < 7 && got != want {
			t.Errorf("batch %d is %s, want %s", i, got, want)
		}
	}
	must(t, add(d, all[0], sum, 1)) // and it comes back
	runtime.KeepAlive(all)
}

func TestOutOfMemoryNamesTheLargest(t *testing.T) {
	d := newDevice(t, limited(4<<10))
	d.SetCell(3)
	small, large := fill(t, d, k, 1), fill(t, d, 2*k, 2)
	large.SetName("model.layers[0].W")
	large.SetRole(gpu.Parameter)
	x := d.NewStorage(2<<10, "matmul", gpu.Temporary)
	err := d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{N: 2 * k}, x.All())
	var oom *gpu.OutOfMemoryError
	if !errors.As(err, &oom) || !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Fatalf("got %v", err)
	}
	for _, says := range []string{"2.0 KiB more were needed beside 3.0 KiB held", "2.0 KiB  model.layers[0].W, parameter from fill in cell [3]", "1.0 KiB  (unnamed), temporary from fill in cell [3]"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("the error does not say %q:\n%v", says, err)
		}
	}
	if x.Residency() != gpu.None || small.Residency() != gpu.OnDevice {
		t.Error("running out of memory changed what is where")
	}
	small.Free()
	must(t, d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{N: 2 * k}, x.All()))
	runtime.KeepAlive(large)
	if err := d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{N: 1 << 20}, d.NewStorage(4<<20, "huge", gpu.Temporary).All()); !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Errorf("more than the device has: %v", err)
	}
}

// What is freed by hand is no reason to collect; what is dropped is.
func TestCollectBudget(t *testing.T) {
	d := newDevice(t)
	d.SetCollectBudget(16 << 10)
	for range 100 {
		fill(t, d, k, 1).Free()
	}
	if c := d.Counters(); c.Collects != 0 {
		t.Errorf("%d collections for storages that were freed", c.Collects)
	}
	for range 100 {
		fill(t, d, k, 1)
	}
	c := d.Counters()
	if c.Collects < 5 || c.Collects > 7 {
		t.Errorf("%d collections for 100 KiB dropped under a budget of 16", c.Collects)
	}
	d.Collect()
	if in := d.Snapshot().InUse; in != 0 {
		t.Errorf("%d bytes in use after a collection, though nothing is reachable", in)
	}
}
