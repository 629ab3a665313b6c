package vulkan

import (
	"slices"
	"testing"
	"time"

	"gradbook/gpu"
)

func replay(t *testing.T, b *Backend, n int, launches ...gpu.Launch) *recording {
	t.Helper()
	r, err := b.Record(launches, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := r.Replay(nil); err != nil {
			t.Fatal(err)
		}
	}
	return r.(*recording)
}

func launch(k gpu.Kernel, params any, args ...gpu.Span) gpu.Launch {
	return gpu.Launch{Kernel: k, DType: gpu.Float32, Params: params, Args: args}
}

// Every form of a recording leaves the bits of launching one by one: of split
// products that overlap, of chains, and of buffers that are read and then written.
func TestFormsOfRecording(t *testing.T) {
	const rows, in, out = 64, 784, 64
	var want []float32
	for name, times := range map[string]int{"eager": 0, "by one": 1, "whole": 2, "untimed": 3, "untimed, the other": 4, "by one again": often + 1} {
		b := opened(t)
		b.limits.Processor = false
		x, w, bias := span(t, b, rows*in), span(t, b, in*out), span(t, b, out)
		y, dw, db, z := span(t, b, rows*out), span(t, b, in*out), span(t, b, out), span(t, b, rows*out)
		run(t, b, gpu.Arange, &gpu.ArangeParams{Start: -1, Step: 1.0 / 4096, N: rows * in}, x)
		launches := []gpu.Launch{
			launch(gpu.Linear, &gpu.LinearParams{Act: gpu.ReLU, Rows: rows, In: in, Out: out}, x, w, bias, y),
			launch(gpu.Gemm, &gpu.GemmParams{Alpha: -1, TransB: 1, M: rows, N: out, K: in, LDA: in, LDB: in, LDC: out, Batch: 1}, w, w, z),
			launch(gpu.LinearParamBwd, &gpu.LinearParamBwdParams{Rows: rows, In: in, Out: out}, y, x, dw, db),
			launch(gpu.Axpby, &gpu.AxpbyParams{Alpha: -1e-6, Beta: 1, N: out}, db, bias),
			launch(gpu.Axpby, &gpu.AxpbyParams{Alpha: -1e-6, Beta: 1, N: in * out}, dw, w),
			launch(gpu.Axpby, &gpu.AxpbyParams{Alpha: 1e-3, Beta: 1, N: rows * out}, y, x),
		}
		if times > 0 {
			replay(t, b, times, launches...)
		}
		for range often + 1 - times {
			for _, l := range launches {
				if err := b.Launch(l); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := slices.Concat(floatsOf(t, b, x), floatsOf(t, b, w), floatsOf(t, b, bias), floatsOf(t, b, y), floatsOf(t, b, z))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: other bits", name)
		}
	}
}

// What a recording writes into its own command buffers is no barrier for the
// launches around it.
func TestRecordingLeavesBarriers(t *testing.T) {
	b := opened(t)
	x, y := span(t, b, 8), span(t, b, 8)
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	add := launch(gpu.Axpby, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 8}, x, y)
	if err := b.Launch(add); err != nil {
		t.Fatal(err)
	}
	defer replay(t, b, 0, add).Close()
	before := b.epoch
	if err := b.Launch(add); err != nil {
		t.Fatal(err)
	}
	if b.epoch != before+1 {
		t.Error("no barrier before a launch that reads what one before the recording wrote")
	}
}

// A replay without timestamps is booked with the time of the last whole one, and
// shared as by launches one by one: a product gets more than what is added up.
func TestTimesOfReplays(t *testing.T) {
	b, n := timed(t)
	x, y, small := span(t, b, int64(n)*int64(n)), span(t, b, int64(n)*int64(n)), span(t, b, 8)
	total := func() (sum time.Duration) {
		t.Helper()
		if err := b.Sync(); err != nil {
			t.Fatal(err)
		}
		for _, d := range b.Stats().KernelTime {
			sum += d
		}
		return sum
	}
	launches := []gpu.Launch{
		launch(gpu.Gemm, &gpu.GemmParams{Alpha: 1, M: n, N: n, K: n, LDA: n, LDB: n, LDC: n, Batch: 1}, x, x, y),
		launch(gpu.Axpby, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 8}, y, small),
	}
	for _, l := range launches { // a software device compiles a kernel when it first runs
		if err := b.Launch(l); err != nil {
			t.Fatal(err)
		}
	}
	total()
	before := b.Stats().KernelTime
	r := replay(t, b, 2, launches...)
	defer r.Close()
	timed := total()
	whole := r.took
	if whole <= 0 || r.alone[gpu.Gemm] <= 0 || r.alone[gpu.Axpby] <= 0 {
		t.Fatalf("the timed replays took %v, alone gemm %v, axpby %v", whole, r.alone[gpu.Gemm], r.alone[gpu.Axpby])
	}
	const untimed = 10
	for range untimed {
		if err := r.Replay(nil); err != nil {
			t.Fatal(err)
		}
	}
	// Less at most a nanosecond for each kernel's part.
	if got, want := total()-timed, untimed*whole; got > want || got < want-2*untimed {
		t.Errorf("%d replays without timestamps are booked %v, want %v", untimed, got, want)
	}
	after := b.Stats().KernelTime
	gemm, axpby := after[gpu.Gemm]-before[gpu.Gemm], after[gpu.Axpby]-before[gpu.Axpby]
	if t.Logf("gemm %v, axpby %v", gemm, axpby); gemm < 5*axpby {
		t.Errorf("gemm was booked %v, axpby %v", gemm, axpby)
	}
}

// Small launches that do not wait for each other share their time; one that
// waits, or is large, has its own.
func TestSharedTimes(t *testing.T) {
	b := opened(t)
	if !b.physical.timestamps {
		t.Skip("the device has no timestamps")
	}
	b.info.Unified = false
	x, y, z := span(t, b, 8), span(t, b, 8), span(t, b, 8)
	big := span(t, b, smallBytes/4+1)
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	for _, l := range []gpu.Launch{
		launch(gpu.Fill, &gpu.FillParams{N: 8}, x),
		launch(gpu.Arange, &gpu.ArangeParams{N: 8}, y),
		launch(gpu.Axpby, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 8}, x, y), // waits
		launch(gpu.Fill, &gpu.FillParams{N: 8}, z),
		launch(gpu.Fill, &gpu.FillParams{N: smallBytes/4 + 1}, big), // large
		launch(gpu.Fill, &gpu.FillParams{N: 8}, z),                  // after a large one
	} {
		if err := b.Launch(l); err != nil {
			t.Fatal(err)
		}
	}
	var stamps []int
	for _, m := range b.current.marks {
		stamps = append(stamps, m.stamp)
	}
	if want := []int{0, 0, 1, 1, 2, 3}; !slices.Equal(stamps, want) {
		t.Fatalf("timestamps %v, want %v", stamps, want)
	}
	before := b.Stats().KernelTime
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	after := b.Stats().KernelTime
	for _, k := range []gpu.Kernel{gpu.Fill, gpu.Arange, gpu.Axpby} {
		if after[k] <= before[k] {
			t.Errorf("no time was booked for %s", k)
		}
	}
}

// What was launched before a replay is submitted together with it, and both have
// run when the device was waited for.
func TestReplayTakesLaunchesAlong(t *testing.T) {
	b := opened(t)
	x, y := span(t, b, 8), span(t, b, 8)
	add := launch(gpu.Axpby, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 8}, x, y)
	r := replay(t, b, 0, add)
	defer r.Close()
	run(t, b, gpu.Fill, &gpu.FillParams{Value: 1, N: 8}, x)
	run(t, b, gpu.Fill, &gpu.FillParams{Value: 1, N: 8}, y)
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	submissions := 0
	injected = func() int { submissions++; return 0 }
	defer func() { injected = nil }()
	const steps = 5
	for range steps {
		run(t, b, gpu.Axpby, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 8}, x, y)
		if err := r.Replay(nil); err != nil {
			t.Fatal(err)
		}
	}
	if submissions != steps {
		t.Errorf("%d submissions for %d steps", submissions, steps)
	}
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	if got := floatsOf(t, b, y)[0]; got != 1+2*steps {
		t.Errorf("got %v, want %d", got, 1+2*steps)
	}
	if len(b.flight) != 0 || len(b.idle) != batches {
		t.Errorf("%d batches in flight and %d idle after a wait, want 0 and %d", len(b.flight), len(b.idle), batches)
	}
}
