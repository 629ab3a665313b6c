//go:build cuda && linux && amd64

package cuda

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"gradbook/gpu"
	"gradbook/gpu/cuda/driver"
	"gradbook/gpu/kernels"
)

// The tests of this package run on a driver without a device, testdata/*.c,
// also where there is a real one: gpu/cuda/hardware has the tests for that.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "fake-cuda")
	if err == nil {
		err = fake.build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake driver:", err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

var fake fakeDriver

// fakeDriver is what a test sets and reads of the fake driver.
type fakeDriver struct {
	takeLog func() string
	set     func(what string, value int64)
	failOn  func(call string, after, result int32)
	used    func() int64
	objects func() int32 // of cuBLASLt
	extent  func(address uint64) int64
	at      func(address uint64) unsafe.Pointer
	name    func(address uint64) int64
	hooks   func(execute, load uintptr)

	modules map[int32]module
}

type module struct {
	name  string
	dtype gpu.DType
}

func (f *fakeDriver) build(dir string) error {
	sources, err := filepath.Glob("testdata/*.c")
	if err != nil {
		return err
	}
	library := filepath.Join(dir, "libfake.so")
	args := append([]string{"-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-o", library}, sources...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	driver.Library, driver.BLASLibraries = library, []string{library}
	h, err := purego.Dlopen(library, purego.RTLD_NOW)
	if err != nil {
		return err
	}
	purego.RegisterLibFunc(&f.takeLog, h, "fake_take_log")
	purego.RegisterLibFunc(&f.set, h, "fake_set")
	purego.RegisterLibFunc(&f.failOn, h, "fake_fail")
	purego.RegisterLibFunc(&f.used, h, "fake_used")
	purego.RegisterLibFunc(&f.objects, h, "fake_lt_objects")
	purego.RegisterLibFunc(&f.extent, h, "fake_extent")
	purego.RegisterLibFunc(&f.at, h, "fake_at")
	purego.RegisterLibFunc(&f.name, h, "fake_name")
	purego.RegisterLibFunc(&f.hooks, h, "fake_hooks")
	f.modules = map[int32]module{}
	f.hooks(purego.NewCallback(func(entry *byte, module int32, params unsafe.Pointer) int32 {
		return f.execute(text(entry), f.modules[module].dtype, unsafe.Slice((*byte)(params), gpu.MaxBlock))
	}), purego.NewCallback(func(number int32, image *byte) int32 {
		f.modules[number] = identify(text(image))
		return 0
	}))
	return nil
}

func text(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return strings.Clone(unsafe.String(p, n))
}

func identify(image string) module {
	for _, m := range kernels.Modules {
		for _, t := range m.DTypes {
			if ptx, err := kernels.PTX(m.Name, t); err == nil && string(ptx) == image {
				return module{m.Name, t}
			}
		}
	}
	return module{name: "unknown"}
}

// openFake opens a backend on a fresh log, and at the end of the test sees that
// it leaves nothing.
func openFake(t *testing.T) *backend {
	t.Helper()
	fake.takeLog()
	before, objects := fake.used(), fake.objects()
	b, err := open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		wasLost := b.(*backend).lost != nil
		if err := b.Close(); err != nil {
			t.Error("close:", err)
		}
		if n := fake.used() - before; n != 0 {
			t.Errorf("%d bytes of device memory are left", n)
		}
		if n := fake.objects() - objects; n != 0 {
			t.Errorf("%d objects of cuBLASLt are left", n)
		}
		if log := fake.takeLog(); !wasLost && strings.Contains(log, "\nwork fails") {
			t.Error("work failed:", log)
		}
	})
	return b.(*backend)
}
