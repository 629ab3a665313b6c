//go:build cuda && linux && amd64

package cuda

import (
	"fmt"
	"os"
	"runtime"

	"gorgonia.org/cu"

	"gradbook/gpu"
	"gradbook/gpu/cuda/driver"
)

// The oldest compute capability that the kernels' PTX is written for: Volta's.
const oldestMajor = 7

func devices() ([]gpu.Info, error) {
	if err := processLost(); err != nil {
		return nil, err
	}
	if err := driver.Load(); err != nil {
		return nil, fmt.Errorf("%w; install NVIDIA's driver", err)
	}
	n, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("the CUDA driver cannot list devices: %w", driver.ResultOf(err))
	}
	if n == 0 {
		return nil, fmt.Errorf("the CUDA driver has no device: see nvidia-smi, and whether CUDA_VISIBLE_DEVICES hides it")
	}
	infos := make([]gpu.Info, n)
	for i := range infos {
		if infos[i], err = describe(i); err != nil {
			return nil, fmt.Errorf("CUDA device %d: %w", i, driver.ResultOf(err))
		}
	}
	return infos, nil
}

func describe(index int) (gpu.Info, error) {
	d, err := cu.GetDevice(index)
	if err != nil {
		return gpu.Info{}, err
	}
	name, err := d.Name()
	if err != nil {
		return gpu.Info{}, err
	}
	total, err := d.TotalMem()
	if err != nil {
		return gpu.Info{}, err
	}
	unified, err := d.Attribute(cu.Integrated)
	return gpu.Info{Backend: "cuda", Index: index, Name: name, Driver: "CUDA " + version(cu.Version()),
		MemoryBytes: total, Float64: true, Unified: unified != 0}, err
}

// version prints CUDA's version numbers: 13010 is 13.1.
func version(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// backend runs launches on one stream. Its methods are called one at a time.
type backend struct {
	info    gpu.Info
	context cu.CUContext
	stream  cu.Stream
	queue   driver.Queue

	functions functions
	products  products
	up, down  staging
	scratch   scratch
	job       job // of the current launch

	held    int64
	buffers int

	trail trail
	clock *clock // nil unless kernels are timed
	wait  bool   // after every launch
	lost  error  // set when the context can do nothing more
}

func open(index int) (gpu.Backend, error) {
	infos, err := devices()
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= len(infos) {
		return nil, fmt.Errorf("cuda has no device %d: it has %d", index, len(infos))
	}
	b := &backend{info: infos[index], wait: os.Getenv("GRADBOOK_CUDA_WAIT") == "1"}
	b.scratch.b = b
	b.functions = functions{map[moduleKey]cu.Module{}, map[entryKey]cu.Function{}}
	// The driver makes a new context current on the thread that asked for it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := b.create(cu.Device(index)); err != nil {
		b.Close()
		return nil, fmt.Errorf("cuda device %d (%s): %w", index, b.info.Name, err)
	}
	return b, nil
}

func (b *backend) create(d cu.Device) error {
	major, err := d.Attribute(cu.ComputeCapabilityMajor)
	if err != nil {
		return driver.ResultOf(err)
	}
	if major < oldestMajor {
		return fmt.Errorf("compute capability %d is too old: %d.0 or later is needed", major, oldestMajor)
	}
	// A context of its own, not the device's primary one: closing it gives back
	// all that it holds.
	if b.context, err = d.MakeContext(cu.SchedAuto); err != nil {
		return fmt.Errorf("no context: %w", driver.ResultOf(err))
	}
	if b.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return fmt.Errorf("no stream: %w", driver.ResultOf(err))
	}
	b.queue = driver.NewQueue(b.context, b.stream)
	if err := b.up.init(b); err != nil {
		return err
	}
	if err := b.down.init(b); err != nil {
		return err
	}
	if os.Getenv("GRADBOOK_KERNEL_TIME") == "1" {
		b.clock = newClock(b)
	}
	if err := b.products.init(b); err != nil {
		return err
	}
	b.info.Driver += ", " + b.products.name()
	return nil
}

// enter makes the context current for calls of gorgonia.org/cu, until the
// function that it returns is called. Calls of the queue do so themselves.
func (b *backend) enter() (leave func(), err error) {
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(b.context); err != nil {
		runtime.UnlockOSThread()
		return nil, driver.ResultOf(err)
	}
	return runtime.UnlockOSThread, nil
}

func (b *backend) Info() gpu.Info { return b.info }

func (b *backend) Sync() error {
	if b.lost != nil {
		return b.lost
	}
	if err := b.queue.Wait(); err != nil {
		return b.fault(err)
	}
	b.trail.clear()
	return nil
}

func (b *backend) Stats() gpu.BackendStats {
	s := gpu.BackendStats{BytesHeld: b.held, Buffers: b.buffers}
	if b.clock != nil && b.Sync() == nil {
		s.KernelTime = b.clock.read()
	}
	return s
}

// Close destroys the context, and with it what was made in it. Pinned memory,
// cuBLAS and events are given back first: they are the host's too.
func (b *backend) Close() error {
	if b.context == (cu.CUContext{}) {
		return nil
	}
	if b.lost == nil {
		b.queue.Wait()
	}
	leave, err := b.enter()
	if err != nil {
		return err
	}
	defer leave()
	b.products.close(b)
	b.scratch.close()
	b.up.close()
	b.down.close()
	if b.clock != nil {
		b.clock.close()
	}
	if b.stream != cu.NoStream {
		b.stream.Destroy()
	}
	err = driver.ResultOf(b.context.Destroy())
	if b.lost != nil {
		return nil // a broken context reports its fault once more
	}
	return err
}
