package gpu_test

import (
	"errors"
	"strings"
	"testing"

	"gradbook/gpu"
)

func TestResidencyFollowsAccess(t *testing.T) {
	d := newDevice(t)
	x := d.FromHost(floats(1, 2, 3), "data", gpu.Data)
	y := d.NewStorage(12, "square", gpu.Temporary)
	is := func(s *gpu.Storage, want gpu.Residency) {
		t.Helper()
		if got := s.Residency(); got != want {
			t.Fatalf("residency is %s, want %s", got, want)
		}
	}
	is(x, gpu.OnHost)
	is(y, gpu.None)
	must(t, square(d, x, y))
	is(x, gpu.Both)
	is(y, gpu.OnDevice)
	want(t, y, 1, 4, 9)
	is(y, gpu.OnDevice) // Read keeps no copy
	if _, err := y.Host(); err != nil {
		t.Fatal(err)
	}
	is(y, gpu.Both)
	must(t, add(d, x, y, 1))
	is(y, gpu.OnDevice)
	for _, r := range d.Snapshot().Rows {
		if r.ID == y.ID() && r.HostBytes != 0 {
			t.Errorf("the map shows a host copy of %d bytes that is stale", r.HostBytes)
		}
	}
	want(t, y, 2, 6, 12)
	must(t, y.Write(floats(7, 8, 9)))
	is(y, gpu.OnHost)
	must(t, add(d, x, y, 1)) // uploads y once more
	want(t, y, 8, 10, 12)
	must(t, y.Evict())
	is(y, gpu.OnHost)
	want(t, y, 8, 10, 12)
	c := d.Counters()
	if c.Uploads != 2 || c.BytesUp != 24 || c.Downloads != 5 || c.BytesDown != 60 {
		t.Errorf("%d uploads of %d bytes, %d downloads of %d", c.Uploads, c.BytesUp, c.Downloads, c.BytesDown)
	}
}

func TestRunRefuses(t *testing.T) {
	d, other := newDevice(t), newDevice(t)
	x := d.FromHost(floats(1, 2, 3, 4), "data", gpu.Data)
	y := d.NewStorage(16, "y", gpu.Temporary)
	foreign := other.FromHost(floats(1, 2, 3, 4), "data", gpu.Data)
	freed := d.FromHost(floats(1, 2, 3, 4), "loss", gpu.Data)
	freed.Free()
	half := gpu.View{Storage: y, Bytes: 8}
	unary := func(n uint32) *gpu.UnaryParams { return &gpu.UnaryParams{Scale: 1, Op: gpu.Neg, N: n} }
	line := gpu.Dims{4}
	for _, c := range []struct {
		name   string
		kernel gpu.Kernel
		dtype  gpu.DType
		params any
		args   []gpu.View
		says   string
	}{
		{"too few arguments", gpu.Unary, gpu.Float32, unary(4), []gpu.View{x.All()}, "takes 2 arguments, got 1"},
		{"a dtype that is not in the table", gpu.Unary, gpu.Int32, unary(4), []gpu.View{x.All(), y.All()}, "does not exist for int32"},
		{"other params", gpu.Unary, gpu.Float32, &gpu.FillParams{N: 4}, []gpu.View{x.All(), y.All()}, "params are *gpu.FillParams"},
		{"more elements than there are", gpu.Unary, gpu.Float32, unary(5), []gpu.View{x.All(), y.All()}, "reaches 20 bytes of a view of 16"},
		{"a wider matrix than there is", gpu.Gemm, gpu.Float32, &gpu.GemmParams{Alpha: 1, M: 2, N: 2, K: 1, LDA: 1, LDB: 2, LDC: 4, Batch: 1},
			[]gpu.View{{Storage: x, Bytes: 8}, {Storage: x, Offset: 8, Bytes: 8}, y.All()}, "argument c: the launch reaches 24 bytes of a view of 16"},
		{"an output that it does not fill", gpu.Unary, gpu.Float32, unary(2), []gpu.View{x.All(), y.All()}, "writes 8 bytes of a view of 16"},
		{"a view outside its storage", gpu.Unary, gpu.Float32, unary(2), []gpu.View{{Storage: x, Offset: 12, Bytes: 8}, half}, "bytes 12 to 20 of a storage of 16"},
		{"strides that reach before the view", gpu.Copy, gpu.Float32, &gpu.CopyParams{N: 4, Rank: 1, Dims: line, X: gpu.Strides{-1}}, []gpu.View{x.All(), y.All()}, "before its view"},
		{"sizes that contradict each other", gpu.Copy, gpu.Float32, &gpu.CopyParams{N: 4, Rank: 1, Dims: gpu.Dims{3}, X: gpu.Strides{1}}, []gpu.View{x.All(), y.All()}, "contradict"},
		{"one storage in and out", gpu.Unary, gpu.Float32, unary(4), []gpu.View{x.All(), x.All()}, "arguments x and out share a storage"},
		{"content that was never written", gpu.Unary, gpu.Float32, unary(4), []gpu.View{y.All(), x.All()}, "nothing was written to it yet"},
		{"another device's storage", gpu.Unary, gpu.Float32, unary(4), []gpu.View{foreign.All(), y.All()}, "is on host, not on host"},
		{"a freed storage", gpu.Unary, gpu.Float32, unary(4), []gpu.View{freed.All(), y.All()}, "storage was freed ((unnamed), data from loss)"},
		{"no storage", gpu.Unary, gpu.Float32, unary(4), []gpu.View{{}, y.All()}, "no storage"},
	} {
		err := d.Run(c.kernel, c.dtype, c.params, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.says)
		}
	}
	if n := d.Counters(); n.TotalLaunches() != 0 {
		t.Errorf("%d launches were made", n.TotalLaunches())
	}
	want(t, x, 1, 2, 3, 4)
}

func TestClosedDevice(t *testing.T) {
	d := newDevice(t)
	x := fill(t, d, 4, 1)
	must(t, d.Close())
	if err := square(d, x, x); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("Run: %v", err)
	}
	if err := x.Read(make([]byte, 16), 0); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("Read: %v", err)
	}
	if _, err := d.Record(func() error { return nil }); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("Record: %v", err)
	}
	x.Free()
}

// A product into a wider matrix leaves the gaps as they were.
func TestGemmKeepsGaps(t *testing.T) {
	d := newDevice(t)
	one := d.FromHost(floats(2), "a", gpu.Data)
	row := d.FromHost(floats(3, 4), "b", gpu.Data)
	c := fill(t, d, 3, 9)
	p := &gpu.GemmParams{Alpha: 1, M: 1, N: 2, K: 1, LDA: 1, LDB: 2, LDC: 3, Batch: 1}
	must(t, d.Run(gpu.Gemm, gpu.Float32, p, one.All(), row.All(), c.All()))
	want(t, c, 6, 8, 9)
	fresh := d.NewStorage(20, "c", gpu.Temporary)
	p = &gpu.GemmParams{Alpha: 1, M: 2, N: 2, K: 1, LDA: 1, LDB: 2, LDC: 3, Batch: 1}
	two := d.FromHost(floats(1, 2), "a", gpu.Data)
	if err := d.Run(gpu.Gemm, gpu.Float32, p, two.All(), row.All(), fresh.All()); err == nil {
		t.Error("gaps that were never written became content")
	}
}

func TestEmptyStorages(t *testing.T) {
	d := newDevice(t)
	x := d.FromHost(nil, "x", gpu.Data)
	y := d.NewStorage(0, "y", gpu.Temporary)
	must(t, square(d, x, y))
	must(t, y.Read(nil, 0))
	sum := fill(t, d, 1, 5)
	must(t, d.Run(gpu.Reduce, gpu.Float32, &gpu.ReduceParams{Scale: 1, Op: gpu.ReduceSum, Outer: 1, Inner: 1}, y.All(), sum.All()))
	want(t, sum, 0)
	if n := d.Counters(); n.Launches[gpu.Unary] != 0 {
		t.Error("a launch that writes nothing was handed to the backend")
	}
}

func TestOpen(t *testing.T) {
	for name, says := range map[string]string{
		"abacus":      `unknown device "abacus": this build has faulty, host`,
		"host:9":      `host has no device "9"`,
		"host:abacus": `host has no device "abacus"`,
		"host":        "",
		"host:0":      "",
		"host:gonum":  "",
		"small:1MiB":  "",
	} {
		d, err := gpu.Open(name)
		if says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			must(t, d.Close())
		} else if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want an error with %q", name, err, says)
		}
	}
}

func TestDefault(t *testing.T) {
	old := gpu.SetDefault(nil)
	defer gpu.SetDefault(old)
	t.Setenv("GRADBOOK_DEVICE", "small:2MiB")
	d := gpu.Default()
	if d.Info().MemoryBytes != 2<<20 || gpu.Default() != d {
		t.Errorf("the default device is %v", d.Info())
	}
	other := newDevice(t)
	if gpu.SetDefault(other) != d || gpu.Default() != other {
		t.Error("SetDefault does not replace the default")
	}
	gpu.SetDefault(nil)
	t.Setenv("GRADBOOK_DEVICE", "abacus")
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "abacus") {
			t.Errorf("a default device that does not exist: %v", err)
		}
	}()
	gpu.Default()
}
