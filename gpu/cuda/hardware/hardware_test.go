package hardware

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gradbook/gpu"
	_ "gradbook/gpu/cuda"
	"gradbook/gpu/cuda/internal/perceptron"
	"gradbook/gpu/gputest"
)

func cudaDriver() gpu.Driver {
	for _, d := range gpu.Drivers() {
		if d.Name == "cuda" {
			return d
		}
	}
	panic("the cuda driver is not registered")
}

func open(t testing.TB) gpu.Backend {
	t.Helper()
	if _, err := cudaDriver().Devices(); err != nil {
		t.Skip("no CUDA device: ", err)
	}
	b, err := cudaDriver().Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// blas are the ways to compute products.
var blas = map[string]string{"cublas": "1", "kernels": "0", "chosen": ""}

func TestConformance(t *testing.T) {
	for name, setting := range blas {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GRADBOOK_CUBLAS", setting)
			t.Log(open(t).Info())
			gputest.Run(t, func() gpu.Backend { return open(t) })
		})
	}
}

// A recording learns the same bits as launches one by one, and the same again.
func TestRecording(t *testing.T) {
	for name, setting := range blas {
		for _, dtype := range []gpu.DType{gpu.Float32, gpu.Float64} {
			t.Run(name+"/"+dtype.String(), func(t *testing.T) {
				t.Setenv("GRADBOOK_CUBLAS", setting)
				const steps = 50
				var learned [3][]byte
				for i := range learned {
					b := open(t)
					n := network(t, b, dtype, 128, 784, 256, 256, 10)
					step := n.Step
					if i > 0 {
						if err := n.Step(); err != nil {
							t.Fatal(err)
						}
						r, err := b.Record(n.Launches, nil)
						if err != nil {
							t.Fatal(err)
						}
						defer r.Close()
						step = func() error { return r.Replay(nil) }
					}
					for range steps - min(i, 1) {
						if err := step(); err != nil {
							t.Fatal(err)
						}
					}
					var err error
					if learned[i], err = n.Learned(); err != nil {
						t.Fatal(err)
					}
				}
				if !bytes.Equal(learned[0], learned[1]) || !bytes.Equal(learned[1], learned[2]) {
					t.Error("eager and recorded training differ")
				}
			})
		}
	}
}

func network(t testing.TB, b gpu.Backend, dtype gpu.DType, rows uint32, sizes ...uint32) *perceptron.Net {
	t.Helper()
	n, err := perceptron.New(b, dtype, rows, sizes...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Memory runs out without harm, and what was freed can be had again.
func TestOutOfMemory(t *testing.T) {
	b := open(t)
	const piece = 4 << 30
	for range 2 {
		var held []gpu.Buffer
		for {
			buf, err := b.Alloc(piece)
			if errors.Is(err, gpu.ErrOutOfMemory) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, buf)
		}
		if got, all := int64(len(held)*piece), b.Info().MemoryBytes; got < all/2 {
			t.Errorf("%v of %v could be had", gpu.Bytes(got), gpu.Bytes(all))
		}
		for _, buf := range held {
			b.Free(buf)
		}
	}
	if s := b.Stats(); s.Buffers != 0 || s.BytesHeld != 0 {
		t.Error("held:", s.Buffers, s.BytesHeld)
	}
	if err := network(t, b, gpu.Float32, 8, 12, 40, 10).Step(); err != nil {
		t.Error(err)
	}
}

// An illegal address ends every CUDA backend of the process; the error says so.
// It runs in a process of its own.
func TestIllegalAddress(t *testing.T) {
	open(t)
	for _, wait := range []string{"", "1"} {
		c := exec.Command(os.Args[0], "-test.run", "^TestFault$", "-test.v")
		c.Env = append(os.Environ(), faulty+"=1", "GRADBOOK_CUDA_WAIT="+wait)
		out, err := c.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
	}
}

// faulty makes a process of this test one that breaks its context.
const faulty = "GRADBOOK_TEST_FAULT"

func TestFault(t *testing.T) {
	if os.Getenv(faulty) == "" {
		t.Skip("part of TestIllegalAddress")
	}
	b := open(t)
	n := network(t, b, gpu.Float32, 8, 12, 40, 10)
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(n.Launches, func(l gpu.Launch) bool { return l.Kernel == gpu.Binary })
	bad := n.Launches[at]
	bad.Args = slices.Clone(bad.Args)
	bad.Args[0].Offset = 1 << 44
	n.Launches[at] = bad
	err := n.Step()
	if err == nil {
		err = b.Sync()
	}
	t.Log(err)
	if !errors.Is(err, gpu.ErrLost) || !strings.Contains(err.Error(), "binary float32") {
		t.Error("the error does not tell:", err)
	}
	if os.Getenv("GRADBOOK_CUDA_WAIT") == "1" && !strings.Contains(err.Error(), "in binary float32") {
		t.Error("the error does not name the launch:", err)
	}
	if err := b.Close(); err != nil {
		t.Error("close:", err)
	}
	again, err := cudaDriver().Open(0)
	t.Log("opened again: ", err)
	if err == nil {
		t.Log(network(t, again, gpu.Float32, 8, 12, 40, 10).Step())
		again.Close()
	}
}
