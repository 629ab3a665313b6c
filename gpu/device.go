package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Device is a backend with the books that are the same for every backend. It
// is safe for use by several goroutines; launches run in the order in which
// Run was called.
type Device struct {
	mu      sync.Mutex
	backend Backend
	info    Info

	entries map[uint64]*entry
	lastID  uint64
	clock   uint64 // counts launches and transfers, orders last uses
	inUse   int64
	dead    deadQueue
	pool    pool
	count   Counters
	cell    int
	closed  bool

	pressure pressure
	fallback *fallback
	random   generator

	stop   atomic.Bool
	shield int // > 0: interrupts wait
}

// New makes a device of a backend, which it owns from then on.
func New(b Backend) *Device {
	d := &Device{backend: b, info: b.Info(), entries: map[uint64]*entry{}}
	d.pool.init()
	d.pressure.init()
	return d
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

func (d *Device) String() string {
	if d.info.Index > 0 {
		return fmt.Sprintf("%s:%d", d.info.Backend, d.info.Index)
	}
	return d.info.Backend
}

// SetCell sets the cell number that new storages are labelled with.
func (d *Device) SetCell(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cell = n
}

// Run launches a kernel on views of storages of this device: brings what it
// reads to the device, makes room for what it writes, and books the result. A
// fused kernel that the backend declines runs as its composition. On error
// nothing that the caller can see has changed.
func (d *Device) Run(k Kernel, t DType, params any, args ...View) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer runtime.KeepAlive(args)
	if d.closed {
		return ErrClosed
	}
	if d.shield == 0 && d.stop.Load() {
		return &InterruptedError{k}
	}
	info := &Kernels[k]
	if err := check(info, t, args); err != nil {
		return err
	}
	l := Launch{Kernel: k, DType: t, Params: params, Args: make([]Span, len(args))}
	overwrites := info.Overwrites != nil && info.Overwrites(params)
	d.clock++
	for i, v := range args {
		if err := d.usable(v.Storage.e); err != nil {
			return fmt.Errorf("%s: argument %s: %w", k, info.Args[i].Name, err)
		}
		// Marked before any allocation: what this launch uses is not spilled
		// for it.
		v.Storage.e.lastUse = d.clock
	}
	for i, v := range args {
		acc := info.Args[i].Access
		if acc == InOut && overwrites {
			acc = Out
		}
		if err := d.ready(v, acc); err != nil {
			return fmt.Errorf("%s: argument %s: %w", k, info.Args[i].Name, err)
		}
		l.Args[i] = Span{v.Storage.e.buf, v.Offset, v.Bytes}
	}
	if err := d.launchOrCompose(l); err != nil {
		return err
	}
	for i, v := range args {
		if info.Args[i].Access != In {
			d.move(v.Storage.e, OnDevice)
		}
	}
	return nil
}

func check(info *KernelInfo, t DType, args []View) error {
	if len(args) != len(info.Args) {
		return fmt.Errorf("gpu: %s takes %d arguments, got %d", info.Name, len(info.Args), len(args))
	}
	ok := false
	for _, u := range info.DTypes {
		ok = ok || u == t
	}
	if !ok {
		return fmt.Errorf("gpu: %s does not exist for %s", info.Name, t)
	}
	for i, v := range args {
		if v.Offset < 0 || v.Bytes < 0 || v.Offset+v.Bytes > v.Storage.e.bytes {
			return fmt.Errorf("gpu: %s: argument %s: bytes %d to %d of a storage of %d", info.Name, info.Args[i].Name, v.Offset, v.Offset+v.Bytes, v.Storage.e.bytes)
		}
		for j, w := range args[:i] {
			if v.Storage.e == w.Storage.e && (info.Args[i].Access != In || info.Args[j].Access != In) {
				return fmt.Errorf("gpu: %s: arguments %s and %s share a storage that it writes", info.Name, info.Args[j].Name, info.Args[i].Name)
			}
		}
	}
	return nil
}

// ready puts a view's storage into the state that an access needs.
func (d *Device) ready(v View, acc Access) error {
	e := v.Storage.e
	whole := v.Offset == 0 && v.Bytes == e.bytes
	needs := acc != Out || (!whole && e.state != None)
	if acc != Out && e.state == None {
		return fmt.Errorf("nothing was written to it yet (%s)", e.owner)
	}
	if e.buf == nil {
		b, err := d.take(e.bytes)
		if err != nil {
			return err
		}
		e.buf = b
		d.used(b.Bytes())
	}
	if needs && e.state == OnHost {
		if err := d.upload(Span{e.buf, 0, e.bytes}, e.host); err != nil {
			return err
		}
		d.move(e, Both)
	}
	return nil
}

func (d *Device) launchOrCompose(l Launch) error {
	err := d.launch(l)
	if !errors.Is(err, ErrDeclined) {
		return err
	}
	info := &Kernels[l.Kernel]
	if info.Generic == nil {
		if d.fallback != nil {
			return d.fallback.run(d, l)
		}
		return &UnsupportedError{l.Kernel, l.DType, d.info.Backend}
	}
	c := &Composer{d: d}
	defer c.release()
	info.Generic(c, l)
	if c.err == nil {
		d.count.Declines++
	}
	return c.err
}

// launch hands a launch to the backend and counts it.
func (d *Device) launch(l Launch) error {
	err := d.backend.Launch(l)
	if err == nil {
		d.count.Launches[l.Kernel]++
		return nil
	}
	if errors.Is(err, ErrDeclined) {
		return ErrDeclined
	}
	return &LaunchError{l.Kernel, l.DType, err}
}

func (d *Device) upload(dst Span, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	if err := d.backend.Upload(dst, src); err != nil {
		return fmt.Errorf("upload of %v: %w", Bytes(len(src)), err)
	}
	d.count.Uploads++
	d.count.BytesUp += int64(len(src))
	return nil
}

func (d *Device) download(dst []byte, src Span) error {
	if len(dst) == 0 {
		return nil
	}
	if err := d.backend.Download(dst, src); err != nil {
		return fmt.Errorf("download of %v: %w", Bytes(len(dst)), err)
	}
	d.count.Downloads++
	d.count.Reads++
	d.count.BytesDown += int64(len(dst))
	return nil
}

// Sync waits until everything launched has run.
func (d *Device) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	d.count.Reads++
	return d.backend.Sync()
}

// Interrupt makes every Run fail with an InterruptedError until Resume.
func (d *Device) Interrupt() { d.stop.Store(true) }

// Resume ends an Interrupt.
func (d *Device) Resume() { d.stop.Store(false) }

// Interrupted reports whether an Interrupt is in force.
func (d *Device) Interrupted() bool { return d.stop.Load() }

// Shield runs f with interrupts held back: for work that must be done whole or
// not at all.
func (d *Device) Shield(f func()) {
	d.mu.Lock()
	d.shield++
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.shield--
		d.mu.Unlock()
	}()
	f()
}

// ResetPeak starts the measurement of PeakBytes anew.
func (d *Device) ResetPeak() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drain()
	d.count.PeakBytes = d.inUse
}

// Counters returns the totals so far.
func (d *Device) Counters() Counters {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// Snapshot returns the state of the device.
func (d *Device) Snapshot() Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drain()
	s := Snapshot{Info: d.info, Time: time.Now(), InUse: d.inUse, PoolBytes: d.pool.bytes,
		Held: d.inUse + d.pool.bytes, Counters: d.count, Rows: d.rows()}
	if !d.closed {
		s.Backend = d.backend.Stats()
	}
	return s
}

// Close frees every storage and closes the backend. Storages that are still
// reachable answer ErrClosed.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	for _, e := range d.entries {
		d.drop(e)
	}
	d.pool.trim(d.backend)
	d.closed = true
	return d.backend.Close()
}
