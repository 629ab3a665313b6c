//go:build cuda && linux && amd64

package cuda

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"gradbook/gpu"
	"gradbook/gpu/cuda/driver"
	"gradbook/gpu/kernels"
)

// A job is a launch as the driver takes it: pieces that run in order.
type job struct {
	launch step
	pieces [4]piece
	n      int

	plan  kernels.Plan
	addrs [8]uint64
}

// A piece is a kernel with its parameter block, or a product for cuBLAS.
type piece struct {
	fn          cu.Function
	grid, block [3]uint32
	params      [gpu.MaxBlock]byte

	isProduct bool
	product   driver.Product
}

// memory is where jobs take scratch memory from.
type memory interface {
	take(bytes int64) (cu.DevicePtr, error)
}

func (b *backend) Launch(l gpu.Launch) error {
	if b.lost != nil {
		return b.lost
	}
	j := &b.job
	if err := b.lower(j, &l, &b.scratch); err != nil {
		return b.fault(err)
	}
	if b.clock != nil {
		return b.fault(b.clock.around(l.Kernel, func() error { return b.start(j) }))
	}
	return b.start(j)
}

// start gives a job to the stream.
func (b *backend) start(j *job) error {
	if j.n == 0 {
		return nil
	}
	b.trail.add(j.launch)
	if err := b.giveAll(j); err != nil {
		return b.fault(err)
	}
	if b.wait {
		return b.Sync()
	}
	return nil
}

func (b *backend) giveAll(j *job) error {
	for i := range j.n {
		p := &j.pieces[i]
		var err error
		if p.isProduct {
			err = b.products.blas.Gemm(&p.product, j.launch.dtype == gpu.Float64)
		} else {
			err = b.queue.Launch(p.fn, p.grid, p.block, p.params[:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *job) usesBLAS() bool {
	for i := range j.n {
		if j.pieces[i].isProduct {
			return true
		}
	}
	return false
}

// lower works out a launch's pieces. Where shapes are right for it, products go
// to cuBLAS; the rest is the plan of package kernels.
func (b *backend) lower(j *job, l *gpu.Launch, scratch memory) error {
	j.launch = step{kernel: l.Kernel, dtype: l.DType}
	j.n = 0
	for i, s := range l.Args {
		j.addrs[i] = uint64(address(s))
	}
	addrs := j.addrs[:len(l.Args)]
	if done, err := b.lowerProduct(j, l, addrs, scratch); done {
		return err
	}
	if err := j.plan.Make(l, addrs, device); err != nil {
		return err
	}
	return b.addPlan(j, scratch)
}

// device is what kernels' plans ask about a CUDA device: every one lets a group
// have 48 KiB without being asked for more.
var device = kernels.Device{SharedBytes: 48 << 10}

// addPlan adds the pieces of j.plan.
func (b *backend) addPlan(j *job, scratch memory) error {
	p := &j.plan
	var at cu.DevicePtr
	if p.Scratch > 0 {
		var err error
		if at, err = scratch.take(p.Scratch); err != nil {
			return err
		}
	}
	for i := range p.N {
		s := &p.Steps[i]
		fn, err := b.functions.get(b, s.Code, j.launch.dtype)
		if err != nil {
			return err
		}
		q := &j.pieces[j.n]
		j.n++
		q.isProduct, q.fn, q.grid, q.block = false, fn, s.Grid, [3]uint32{uint32(s.Code.Threads), 1, 1}
		if _, err := p.Pack(i, q.params[:], uint64(at)); err != nil {
			return err
		}
	}
	return nil
}

// functions are the entries of the modules loaded so far. A module is loaded,
// and compiled by the driver, when a launch first needs it.
type functions struct {
	modules map[moduleKey]cu.Module
	entries map[entryKey]cu.Function
}

type moduleKey struct {
	name  string
	dtype gpu.DType
}

type entryKey struct {
	code  *kernels.Code
	dtype gpu.DType
}

func (f *functions) get(b *backend, c *kernels.Code, t gpu.DType) (cu.Function, error) {
	if fn, ok := f.entries[entryKey{c, t}]; ok {
		return fn, nil
	}
	leave, err := b.enter()
	if err != nil {
		return cu.Function{}, err
	}
	defer leave()
	m, err := f.module(c.Module, t)
	if err != nil {
		return cu.Function{}, err
	}
	fn, err := m.Function(c.Name)
	if err != nil {
		return cu.Function{}, fmt.Errorf("kernel %s of module %s.%s: %w", c.Name, c.Module, t, driver.ResultOf(err))
	}
	f.entries[entryKey{c, t}] = fn
	return fn, nil
}

func (f *functions) module(name string, t gpu.DType) (cu.Module, error) {
	key := moduleKey{name, t}
	if m, ok := f.modules[key]; ok {
		return m, nil
	}
	ptx, err := kernels.PTX(name, t)
	if err != nil {
		return cu.Module{}, err
	}
	m, err := loadModule(string(ptx))
	if err != nil {
		return cu.Module{}, fmt.Errorf("module %s.%s: %w", name, t, err)
	}
	f.modules[key] = m
	return m, nil
}

// jitLog is room for what the driver's compiler says.
const jitLog = 4096

func loadModule(ptx string) (cu.Module, error) {
	said := &cu.JITErrorLogBuffer{Buffer: make([]byte, jitLog)}
	m, err := cu.LoadDataEx(ptx, said)
	if err == nil {
		return m, nil
	}
	err = driver.ResultOf(err)
	text := cString(said.Buffer)
	switch {
	case errors.Is(err, driver.UnsupportedPTXVersion):
		return m, fmt.Errorf("the driver, for CUDA %s, is too old for the kernels: update NVIDIA's driver (%w)", version(cu.Version()), err)
	case errors.Is(err, driver.JITCompilerNotFound):
		return m, fmt.Errorf("the driver's compiler is missing: install libnvidia-ptxjitcompiler.so.1 (%w)", err)
	case text != "":
		return m, fmt.Errorf("%w: %s", err, text)
	}
	return m, err
}

func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// scratch is memory for what lives only within a job. Jobs run one after the
// other, so one piece serves all.
type scratch struct {
	b     *backend
	at    cu.DevicePtr
	bytes int64
}

func (s *scratch) take(bytes int64) (cu.DevicePtr, error) {
	if bytes <= s.bytes {
		return s.at, nil
	}
	s.close()
	// Doubling, so that growing shapes do not each wait for the device.
	room := int64(1 << 20)
	for room < bytes {
		room *= 2
	}
	at, err := s.b.allocate(room)
	if err != nil {
		return 0, err
	}
	s.at, s.bytes = at, room
	return at, nil
}

func (s *scratch) close() {
	if s.bytes > 0 {
		s.b.release(s.at)
		s.at, s.bytes = 0, 0
	}
}
