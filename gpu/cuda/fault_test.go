//go:build cuda && linux && amd64

package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/cuda/driver"
)

// Every call of the driver fails once, wherever it comes, when a backend is
// opened: nothing is left behind, and the next one opens.
func TestOpenFails(t *testing.T) {
	used := fake.used()
	for _, call := range []string{"cuCtxCreate", "cuStreamCreate", "cuMemHostAlloc", "cuEventCreate", "cuMemAlloc"} {
		for after := int32(0); after < 4; after++ {
			fake.failOn(call, after, int32(driver.OutOfMemory))
			b, err := open(0)
			if err == nil {
				b.Close() // there are fewer such calls
				fake.failOn("", 0, 0)
				continue
			}
			if !errors.Is(err, driver.OutOfMemory) || !strings.Contains(err.Error(), "cuda device 0 (Fake 0)") {
				t.Errorf("%s %d: %v", call, after, err)
			}
			if n := fake.used() - used; n != 0 {
				t.Errorf("%s %d: %d bytes are left", call, after, n)
			}
		}
		b, err := open(0)
		if err != nil {
			t.Fatal(err)
		}
		b.Close()
	}
}

func TestOutOfMemory(t *testing.T) {
	b := openFake(t)
	fake.set("memory", fake.used()+1000)
	defer fake.set("memory", 1<<34)
	before := b.Stats()
	if _, err := b.Alloc(1001); !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Error(err)
	}
	if b.Stats() != before {
		t.Error("books changed:", b.Stats())
	}
	buf, err := b.Alloc(1000)
	if err != nil {
		t.Fatal(err)
	}
	b.Free(buf)
}

// A launch that fails without breaking the context changes nothing.
func TestLaunchFails(t *testing.T) {
	t.Setenv("GRADBOOK_CUBLAS", "1")
	b := openFake(t)
	m := newTraining(t, b)
	m.step()
	before := m.learned()
	for _, call := range []string{"cuLaunchKernel", "cublasGemm", "cublasLtMatmul"} {
		fake.failOn(call, 0, 1)
		var failed error
		for _, l := range m.Launches[:9] { // up to the gradients
			if err := b.Launch(l); err != nil {
				failed = err
				break
			}
		}
		if failed == nil {
			t.Errorf("%s failed and no launch did", call)
		}
	}
	if !bytes.Equal(m.learned()[4:], before[4:]) {
		t.Error("weights changed")
	}
	m.step()
}

// newProcess ends, after the test, what a fault does to the process.
func newProcess(t *testing.T) {
	t.Cleanup(func() {
		fake.set("lost", 0)
		lost.err = nil
	})
}

// An illegal address ends CUDA for the process. The error names the launches it
// may lie in, and every later call repeats it.
func TestLost(t *testing.T) {
	newProcess(t)
	b := openFake(t)
	m := newTraining(t, b)
	m.step()
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	for _, l := range m.Launches[:3] {
		if err := b.Launch(l); err != nil {
			t.Fatal(err)
		}
	}
	fake.failOn("cuStreamSynchronize", 0, int32(driver.IllegalAddress))
	err := b.Sync()
	if !errors.Is(err, gpu.ErrLost) || !errors.Is(err, driver.IllegalAddress) {
		t.Fatal(err)
	}
	for _, part := range []string{"illegal memory access", "one of the 3 launches", "linear float32 (2 times), xent float32", "restart the kernel", "GRADBOOK_CUDA_WAIT=1"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in %q", part, err)
		}
	}
	_, alloc := b.Alloc(1)
	_, record := b.Record(m.Launches, nil)
	for i, again := range []error{alloc, record, b.Sync(), b.Launch(m.Launches[0]), b.Upload(m.Loss, make([]byte, 4)), b.Download(make([]byte, 4), m.Loss)} {
		if again != err {
			t.Errorf("later call %d: %v", i, again)
		}
	}
	m.Free()
	if err := b.Close(); err != nil {
		t.Error("close:", err)
	}
	if _, again := open(0); again != err {
		t.Error("open:", again)
	}
}

// With GRADBOOK_CUDA_WAIT, the launch is named.
func TestLostAndNamed(t *testing.T) {
	newProcess(t)
	t.Setenv("GRADBOOK_CUDA_WAIT", "1")
	b := openFake(t)
	m := newTraining(t, b)
	m.step()
	bad := m.Launches[5]
	bad.Args = append([]gpu.Span(nil), bad.Args...)
	bad.Args[1] = gpu.Span{Buffer: &buffer{address: 64, bytes: 4096}, Bytes: 4096}
	err := b.Launch(bad)
	if !errors.Is(err, gpu.ErrLost) || !strings.Contains(err.Error(), "in linear_param_bwd float32") {
		t.Error(err)
	}
}

// Any call that looks for an algorithm may fail: nothing is left of the search,
// and the next launch looks again. Where there is none, and only there, the
// launch goes another way.
func TestSearchFails(t *testing.T) {
	t.Setenv("GRADBOOK_CUBLAS", "1")
	for _, call := range []string{"cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutCreate",
		"cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute", "cublasLtMatmulAlgoGetHeuristic"} {
		for after := int32(0); after < 5; after++ {
			b := openFake(t)
			m := newTraining(t, b)
			before := fake.objects()
			fake.failOn(call, after, 3) // CUBLAS_STATUS_ALLOC_FAILED
			err := b.Launch(m.Launches[0])
			if err == nil {
				if after == 0 {
					t.Errorf("%s failed, and the launch did not", call)
				}
				fake.failOn("", 0, 0) // there are fewer such calls
				break
			}
			// A plan that was made, four objects, is kept.
			if left := fake.objects() - before; int(left) != 4*len(b.products.plans) {
				t.Errorf("%s %d: %d objects of cuBLASLt, %d plans", call, after, left, len(b.products.plans))
			}
			m.step()
		}
	}
	for call, status := range map[string]int32{"cublasLtMatmulAlgoGetHeuristic": 15, "cublasLtMatmulDescSetAttribute": 7} { // NOT_SUPPORTED, INVALID_VALUE
		b := openFake(t)
		m := newTraining(t, b)
		fake.failOn(call, 0, status)
		fake.takeLog()
		for range 2 {
			if err := b.Launch(m.Launches[0]); err != nil {
				t.Fatal(err)
			}
		}
		if log := fake.takeLog(); strings.Contains(log, "matmul") || strings.Count(log, "product") != 2 {
			t.Error("no algorithm:", log)
		}
	}
}

func TestRecordFails(t *testing.T) {
	t.Setenv("GRADBOOK_CUBLAS", "1")
	b := openFake(t)
	m := newTraining(t, b)
	m.step()
	for _, call := range []string{"cuMemAlloc", "cuStreamBeginCapture", "cuLaunchKernel", "cublasGemm", "cublasLtMatmul", "cuStreamGetCaptureInfo", "cuStreamEndCapture", "cuGraphInstantiate"} {
		used := fake.used()
		fake.failOn(call, 0, 1)
		_, err := b.Record(m.Launches, nil)
		if err == nil && call != "cuMemAlloc" { // where no job needs scratch memory
			t.Errorf("%s failed and Record did not", call)
		}
		if err != nil && fake.used() != used {
			t.Errorf("%s: %d bytes are left", call, fake.used()-used)
		}
		fake.failOn("", 0, 0)
		m.step()
	}
	fake.failOn("cuStreamUpdateCaptureDependencies", 0, int32(driver.NotSupported))
	if _, err := b.Record(m.Launches, nil); err != gpu.ErrDeclined {
		t.Error("an old driver:", err)
	}
}

// A replay whose inputs cannot be set does nothing; the next one sets them.
func TestReplayFails(t *testing.T) {
	for _, bytes := range []int64{256, copyBytes} { // copied by a kernel, by the driver
		b := openFake(t)
		d := gpu.New(b)
		n := uint32(bytes / 4)
		value := func(v float64) gpu.View {
			s := d.NewStorage(bytes, "batch", gpu.Data)
			run(t, d, gpu.Fill, gpu.Float32, &gpu.FillParams{Value: v, N: n}, s.All())
			return s.All()
		}
		in, sum := d.NewStorage(bytes, "input", gpu.Data), value(0)
		rec, err := d.Record(func() error {
			return d.Run(gpu.Axpby, gpu.Float32, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: n}, in.All(), sum)
		}, gpu.Input{To: in, From: value(1)})
		if err != nil {
			t.Fatal(err)
		}
		want, last := float32(1), float32(1)
		for i, call := range []string{"cuGraphExecKernelNodeSetParams", "cuGraphExecMemcpyNodeSetParams", "cuGraphNodeSetEnabled", "cuGraphLaunch"} {
			if (i == 0) != (bytes < copyBytes) && i < 2 {
				continue
			}
			if err := rec.Replay(); err != nil { // leaves the copy out, so that it has to come back
				t.Fatal(err)
			}
			want += last
			last = float32(10 + i)
			want += last
			x := value(float64(last))
			fake.failOn(call, 0, 1)
			if err := rec.Replay(x); err == nil {
				t.Errorf("%s failed, and Replay did not", call)
			}
			if err := rec.Replay(x); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 4)
			if err := sum.Storage.Read(got, bytes-4); err != nil {
				t.Fatal(err)
			}
			if v := math.Float32frombits(binary.LittleEndian.Uint32(got)); v != want {
				t.Errorf("%s: the sum is %g, want %g", call, v, want)
			}
		}
		rec.Close()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
