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

// A piece is one call of the driver or of cuBLAS.
type piece struct {
	kind kind

	fn          cu.Function // aKernel
	grid, block [3]uint32
	params      [gpu.MaxBlock]byte

	product   driver.Product // aProduct
	fused     fused          // aFused
	workspace cu.DevicePtr   // of either; if not 0, in place of the backend's

	dst, src cu.DevicePtr // aCopy
	bytes    int64
}

type kind uint8

const (
	aKernel kind = iota
	aProduct
	aFused
	aCopy
)

// next adds a piece, which the caller fills.
func (j *job) next() *piece {
	j.n++
	return &j.pieces[j.n-1]
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
		if err := b.give(&j.pieces[i], j.launch.dtype); err != nil {
			return err
		}
	}
	return nil
}

func (b *backend) give(p *piece, t gpu.DType) error {
	switch p.kind {
	case aProduct:
		return b.products.start(p, t)
	case aFused:
		return b.products.startFused(p)
	case aCopy:
		return b.queue.Copy(p.dst, p.src, p.bytes)
	}
	return b.queue.Launch(p.fn, p.grid, p.block, p.params[:])
}

// needsWorkspace is the job's piece that needs a workspace of cuBLAS's, or nil.
func (j *job) needsWorkspace() *piece {
	for i := range j.n {
		p := &j.pieces[i]
		if p.kind == aProduct || p.kind == aFused && p.fused.plan.Workspace > 0 {
			return p
		}
	}
	return nil
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
	if p, ok := l.Params.(*gpu.CopyParams); ok && dense(p) && int64(p.N)*l.DType.Size() >= copyBytes {
		q := j.next()
		q.kind, q.dst, q.src, q.bytes = aCopy, address(l.Args[1]), address(l.Args[0]), int64(p.N)*l.DType.Size()
		return nil
	}
	if err := j.plan.Make(l, addrs, device); err != nil {
		return err
	}
	return b.addPlan(j, scratch)
}

// device is what kernels' plans ask about a CUDA device: every one lets a group
// have 48 KiB without being asked for more.
var device = kernels.Device{SharedBytes: 48 << 10}

// copyBytes is from where on the driver's copy is worth more than one kind of
// launch less: an H200 copies 4.2 TB/s with it, 3.0 with the kernel.
const copyBytes = 1 << 20

// dense reports whether a copy reads its source as it lies.
func dense(p *gpu.CopyParams) bool { return p.Rank == 0 || p.Rank == 1 && p.X[0] == 1 }

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
		q := j.next()
		q.kind, q.fn, q.grid, q.block = aKernel, fn, s.Grid, [3]uint32{uint32(s.Code.Threads), 1, 1}
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
