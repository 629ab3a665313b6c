//go:build cuda && linux && amd64

package cuda

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/cuda/driver"
	"gradbook/gpu/gputest"
)

func TestDevices(t *testing.T) {
	fake.set("devices", 2)
	defer fake.set("devices", 1)
	infos, err := devices()
	if err != nil || len(infos) != 2 || infos[1].Name != "Fake 1" || infos[1].Index != 1 || infos[0].Driver != "CUDA 13.0" {
		t.Errorf("devices: %v, %v", infos, err)
	}
	if _, err := open(2); err == nil || !strings.Contains(err.Error(), "no device 2: it has 2") {
		t.Error("open(2):", err)
	}
	fake.set("devices", 0)
	if _, err := devices(); err == nil || !strings.Contains(err.Error(), "CUDA_VISIBLE_DEVICES") {
		t.Error("no devices:", err)
	}
}

// noDriver makes a process of this test one that has no driver to open.
const noDriver = "GRADBOOK_TEST_NO_DRIVER"

func TestNoDriver(t *testing.T) {
	if os.Getenv(noDriver) != "" {
		driver.Library = "libnone.so.1"
		_, err := devices()
		if err == nil || !strings.HasPrefix(err.Error(), "no CUDA driver: libnone.so.1") {
			t.Error("devices:", err)
		}
		if _, err := gpu.Open("cuda"); err == nil || !strings.Contains(err.Error(), "no CUDA driver") {
			t.Error("open:", err)
		}
		return
	}
	c := exec.Command(os.Args[0], "-test.run", "^TestNoDriver$")
	c.Env = append(os.Environ(), noDriver+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTooOld(t *testing.T) {
	fake.set("capability", 6)
	_, err := open(0)
	fake.set("capability", 9)
	if err == nil || !strings.Contains(err.Error(), "compute capability 6 is too old: 7.0 or later") {
		t.Error("device:", err)
	}

	b := openFake(t)
	m := newTraining(t, b)
	fake.set("version", 11040)
	defer fake.set("version", 13000)
	fake.failOn("cuModuleLoadDataEx", 0, int32(driver.UnsupportedPTXVersion))
	err = b.Launch(m.Launches[0])
	if err == nil || !strings.Contains(err.Error(), "the driver, for CUDA 11.4, is too old for the kernels") {
		t.Error("driver:", err)
	}
	m.step() // the module was not remembered as loaded
}

func TestNoBLAS(t *testing.T) {
	t.Setenv("GRADBOOK_CUBLAS", "1")
	fake.failOn("cublasCreate", 0, 1)
	b := openFake(t)
	if d := b.Info().Driver; !strings.Contains(d, "CUBLAS_STATUS_NOT_INITIALIZED") {
		t.Error("driver:", d)
	}
	without := newTraining(t, b)
	without.step()
	with := newTraining(t, openFakeBeside(t))
	with.step()
	if !bytes.Equal(without.learned(), with.learned()) {
		t.Error("without cuBLAS it learned something else")
	}
}

// Without cuBLASLt products are cuBLAS's, and what comes after them launches of
// their own: whether it does not start, has no algorithm, or was not asked for.
func TestNoLt(t *testing.T) {
	t.Setenv("GRADBOOK_CUBLAS", "1")
	learn := func(b *backend) (learned []byte, matmuls int) {
		fake.takeLog()
		m := newTraining(t, b)
		m.step()
		r, err := b.Record(m.Launches, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Replay(nil); err != nil {
			t.Fatal(err)
		}
		learned = m.learned()
		return learned, strings.Count(fake.takeLog(), "\nmatmul")
	}
	want, matmuls := learn(openFake(t))
	if matmuls == 0 {
		t.Fatal("no product of cuBLASLt to compare with")
	}
	none := func(name, says string, b *backend) {
		got, matmuls := learn(b)
		if !bytes.Equal(got, want) || matmuls != 0 {
			t.Errorf("%s: %d products of cuBLASLt, or it learned something else", name, matmuls)
		}
		if d := b.Info().Driver; !strings.Contains(d, says) {
			t.Errorf("%s: the driver is %q", name, d)
		}
	}
	fake.failOn("cublasLtCreate", 0, 1)
	none("does not start", "cuBLASLt does not start: CUBLAS_STATUS_NOT_INITIALIZED", openFake(t))
	t.Setenv("GRADBOOK_CUBLASLT", "0")
	none("not asked for", "cuBLAS 13.0", openFake(t))
}

// Products of a recording that may overlap have workspaces of their own, as many
// as there are lanes; the fake driver refuses what shares one. A product that
// needs none waits for none.
func TestWorkspaces(t *testing.T) {
	for _, setting := range []string{"0", ""} {
		t.Setenv("GRADBOOK_CUBLAS", "1")
		t.Setenv("GRADBOOK_CUBLASLT", setting)
		for in, lanesUsed := range map[uint32]int64{64: lanes, 8: 0} { // the fake needs one for sums from 32 on
			if setting == "0" {
				lanesUsed = lanes // cuBLAS does not tell
			}
			b := openFake(t)
			var launches []gpu.Launch
			for range 2 * lanes {
				l := gpu.Launch{Kernel: gpu.Linear, DType: gpu.Float32, Params: &gpu.LinearParams{Rows: 4, In: in, Out: 4}}
				for range l.Kernel.Info().Args {
					buf, err := b.Alloc(4 * 64 * 4)
					if err != nil {
						t.Fatal(err)
					}
					l.Args = append(l.Args, gpu.Span{Buffer: buf, Bytes: buf.Bytes()})
				}
				launches = append(launches, l)
			}
			before := fake.used()
			r, err := b.Record(launches, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := (fake.used() - before) / workspaceBytes; got != lanesUsed {
				t.Errorf("GRADBOOK_CUBLASLT=%q, in %d: %d workspaces, want %d", setting, in, got, lanesUsed)
			}
			r.Close()
		}
	}
}

// noLibraryLt makes a process of this test one whose cuBLAS has no cuBLASLt
// beside it.
const noLibraryLt = "GRADBOOK_TEST_NO_LT"

func TestNoLibraryLt(t *testing.T) {
	if os.Getenv(noLibraryLt) != "" {
		library := filepath.Join(t.TempDir(), "libcublas.so.13")
		if err := os.Symlink(driver.BLASLibraries[0], library); err != nil {
			t.Fatal(err)
		}
		driver.BLASLibraries = []string{library}
		b := openFake(t)
		if d := b.Info().Driver; !strings.Contains(d, "cuBLAS 13.0, no cuBLASLt: ") || !strings.Contains(d, "libcublasLt.so.13") {
			t.Error("driver:", d)
		}
		newTraining(t, b).step()
		return
	}
	c := exec.Command(os.Args[0], "-test.run", "^TestNoLibraryLt$")
	c.Env = append(os.Environ(), noLibraryLt+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A second backend of the same device has a context of its own.
func openFakeBeside(t *testing.T) *backend {
	t.Helper()
	b, err := open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b.(*backend)
}

// What is uploaded comes back, through staging memory that the device reads
// late, whatever becomes of the source meanwhile.
func TestStaging(t *testing.T) {
	b := openFake(t)
	r := rand.New(rand.NewPCG(3, 4))
	type part struct {
		span gpu.Span
		want []byte
	}
	var parts []part
	for _, n := range []int{1, 63, 64, 65, 1 << 20, halfBytes - 1, halfBytes, halfBytes + 1, 5*halfBytes + 12} {
		src := make([]byte, n)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		buf, err := b.Alloc(int64(n))
		if err != nil {
			t.Fatal(err)
		}
		p := part{gpu.Span{Buffer: buf, Bytes: int64(n)}, bytes.Clone(src)}
		if err := b.Upload(p.span, src); err != nil {
			t.Fatal(err)
		}
		clear(src)
		parts = append(parts, p)
	}
	for _, p := range parts {
		got := make([]byte, p.span.Bytes)
		if err := b.Download(got, p.span); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, p.want) {
			t.Errorf("%d bytes came back changed", p.span.Bytes)
		}
		b.Free(p.span.Buffer)
	}
	if s := b.Stats(); s.BytesHeld != 0 || s.Buffers != 0 {
		t.Errorf("held: %+v", s)
	}
}

// Memory may be freed while work that uses it has not run.
func TestFreeWaits(t *testing.T) {
	b := openFake(t)
	m := newTraining(t, b)
	m.step()
	m.Free()
	if err := b.Sync(); err != nil {
		t.Error(err)
	}
}

// A backend works from any thread, beside another one.
func TestThreads(t *testing.T) {
	b, beside := openFake(t), openFakeBeside(t)
	m, n := newTraining(t, b), newTraining(t, beside)
	for range 3 {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // and end with it: the thread is not used again
			for i := range m.Launches {
				if err := errors.Join(b.Launch(m.Launches[i]), beside.Launch(n.Launches[i])); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(m.learned(), n.learned()) {
		t.Error("two backends learned different things")
	}
}

// A recording gives the bits of launching one by one, in whatever order the
// device runs what may overlap.
func TestRecording(t *testing.T) {
	one := newTraining(t, openFake(t))
	for range 4 {
		one.step()
	}
	for order := range int64(10) {
		fake.set("order", order)
		b := openFake(t)
		m := newTraining(t, b)
		m.step()
		before := b.Stats()
		r, err := b.Record(m.Launches, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := r.Replay(nil); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(m.learned(), one.learned()) {
			t.Error("replays learned something else, order", order)
		}
		r.Close()
		if b.Stats() != before {
			t.Errorf("held after Close: %+v, before %+v", b.Stats(), before)
		}
		fake.set("order", 0)
	}
}

func TestKernelTime(t *testing.T) {
	t.Setenv("GRADBOOK_KERNEL_TIME", "1")
	b := openFake(t)
	m := newTraining(t, b)
	for range 2 * openLimit / len(m.Launches) {
		m.step()
	}
	if got := b.Stats().KernelTime[gpu.Linear].Milliseconds(); got != int64(2*(2*openLimit/len(m.Launches))) {
		t.Errorf("linear took %d ms on a device where each launch takes one", got)
	}
}

func TestTF32(t *testing.T) {
	for setting, mode := range map[string]string{"": "math mode 0", "1": "math mode 3"} {
		t.Setenv("GRADBOOK_TF32", setting)
		b := openFake(t)
		if log := fake.takeLog(); !strings.Contains(log, mode) {
			t.Errorf("GRADBOOK_TF32=%q: no %q", setting, mode)
		}
		if strings.Contains(b.Info().Driver, "TF32") != (setting == "1") {
			t.Error("info:", b.Info().Driver)
		}
		newTraining(t, b).step() // with TF32 small products are cuBLAS's too
		if log := fake.takeLog(); strings.Contains(log, "\nmatmul s77") != (setting == "1") || strings.Contains(log, "\nmatmul s68") {
			t.Errorf("GRADBOOK_TF32=%q: %s", setting, log)
		}
	}
}

// The suite on the fake driver tries everything but the kernels' own code:
// blocks of parameters, products, staging, spans. Recordings run in an order of
// the device's own.
func TestConformance(t *testing.T) {
	fake.set("order", 5)
	defer fake.set("order", 0)
	for name, setting := range map[string][2]string{"chosen": {"", ""}, "cublas": {"1", "0"}, "cublaslt": {"1", ""}} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GRADBOOK_CUBLAS", setting[0])
			t.Setenv("GRADBOOK_CUBLASLT", setting[1])
			gputest.Run(t, func() gpu.Backend { return openFakeBeside(t) })
		})
	}
}
