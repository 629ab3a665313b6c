package gpu

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
)

// Device is a backend with the books that are the same for every backend. It
// is safe for use by several goroutines; launches run in the order in which
// Run was called.
type Device struct {
	mu      sync.Mutex
	backend Backend
	info    Info

	entries    map[uint64]*entry
	recordings map[uint64]*recording
	lastID     uint64
	clock      uint64 // counts launches and transfers, orders last uses
	cycle      *cycle
	cell       int
	closed     bool

	pool     pool
	inUse    int64 // bytes of buffers outside the pool
	pins     map[Buffer]*pin
	pressure pressure
	count    Counters

	fallback  *fallback
	one       one
	detour    *detour // nil: every phase is on the device
	random    generator
	recorder  *recorder // while Record runs
	observers []*observer

	stop   atomic.Bool
	shield int // > 0: interrupts wait

	spans [MaxArgs]Span // Run's argument list
}

// New makes a device of a backend, which it owns from then on.
func New(b Backend) *Device {
	d := &Device{backend: b, info: b.Info(), entries: map[uint64]*entry{}, recordings: map[uint64]*recording{}, pins: map[Buffer]*pin{}, cycle: &cycle{}}
	d.cycle.watch()
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
// fused kernel that the backend declines runs as its composition. On error no
// content that the caller can see has changed.
func (d *Device) Run(k Kernel, t DType, params any, args ...View) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer runtime.KeepAlive(args)
	err := d.run(k, t, params, args)
	if err != nil && d.recorder != nil && d.recorder.err == nil {
		d.recorder.err = err // whoever goes on after it, a replay cannot
	}
	return err
}

func (d *Device) run(k Kernel, t DType, params any, args []View) error {
	if d.closed {
		return ErrClosed
	}
	if d.shield == 0 && d.stop.Load() {
		return &InterruptedError{k}
	}
	info := &Kernels[k]
	access, err := d.check(info, t, params, args)
	if err != nil {
		return err
	}
	// What this launch uses is not spilled to make room for it.
	d.clock++
	for _, v := range args {
		v.Storage.e.lastUse = d.clock
	}
	l := Launch{Kernel: k, DType: t, Params: params, Args: d.spans[:len(args)]}
	for i, v := range args {
		if err := d.ready(v, access[i]); err != nil {
			return fmt.Errorf("%s: argument %s: %w", k, info.Args[i].Name, err)
		}
		l.Args[i] = Span{v.Storage.e.buf, v.Offset, v.Bytes}
	}
	if err := d.launchOrCompose(l, args); err != nil {
		return err
	}
	for i, v := range args {
		if d.recorder != nil {
			d.recorder.uses(v, access[i])
		}
		if access[i] != In {
			v.Storage.e.changed = d.clock
			d.move(v.Storage.e, OnDevice)
		}
	}
	return nil
}

// check refuses launches that would reach outside their arguments, and says
// how each argument is accessed with these params.
func (d *Device) check(info *KernelInfo, t DType, params any, args []View) (access [MaxArgs]Access, err error) {
	if len(args) != len(info.Args) {
		return access, fmt.Errorf("gpu: %s takes %d arguments, got %d", info.Name, len(info.Args), len(args))
	}
	known := false
	for _, u := range info.DTypes {
		known = known || u == t
	}
	if !known {
		return access, fmt.Errorf("gpu: %s does not exist for %s", info.Name, t)
	}
	if got := reflect.TypeOf(params); got != blocks[info.ID].typ {
		return access, fmt.Errorf("gpu: %s: params are %v, want %v", info.Name, got, blocks[info.ID].typ)
	}
	if p, ok := params.(*CastParams); ok && DType(p.From) > Int32 {
		return access, fmt.Errorf("gpu: cast: from %s", DType(p.From))
	}
	overwrites := info.Overwrites != nil && info.Overwrites(params)
	elements := Elements(info.ID, params)
	for i, v := range args {
		arg := &info.Args[i]
		if v.Storage == nil {
			return access, fmt.Errorf("gpu: %s: argument %s: no storage", info.Name, arg.Name)
		}
		e := v.Storage.e
		if err := d.usable(e); err != nil {
			return access, fmt.Errorf("%s: argument %s: %w", info.Name, arg.Name, err)
		}
		if v.Offset < 0 || v.Bytes < 0 || v.Offset+v.Bytes > e.bytes {
			return access, fmt.Errorf("gpu: %s: argument %s: bytes %d to %d of a storage of %d", info.Name, arg.Name, v.Offset, v.Offset+v.Bytes, e.bytes)
		}
		touched := elements[i] * info.size(i, t, params)
		access[i] = arg.Access
		switch {
		case touched < 0:
			return access, fmt.Errorf("gpu: %s: argument %s: the strides reach before its view, or the sizes contradict each other: %+v", info.Name, arg.Name, params)
		case touched > v.Bytes:
			return access, fmt.Errorf("gpu: %s: argument %s: the launch reaches %d bytes of a view of %d", info.Name, arg.Name, touched, v.Bytes)
		case arg.Access == Out && touched < v.Bytes:
			return access, fmt.Errorf("gpu: %s: argument %s: the launch writes %d bytes of a view of %d", info.Name, arg.Name, touched, v.Bytes)
		case arg.Access == InOut && overwrites && touched == v.Bytes:
			access[i] = Out
		}
		for j, w := range args[:i] {
			if e == w.Storage.e && (arg.Access != In || info.Args[j].Access != In) {
				return access, fmt.Errorf("gpu: %s: arguments %s and %s share a storage that it writes", info.Name, info.Args[j].Name, arg.Name)
			}
		}
	}
	return access, nil
}

// keeps reports that an access leaves or uses some of a storage's content.
func (v View) keeps(acc Access) bool {
	e := v.Storage.e
	whole := v.Offset == 0 && v.Bytes == e.bytes
	return acc != Out || (!whole && e.state != None)
}

// ready puts a view's storage into the state that an access needs.
func (d *Device) ready(v View, acc Access) error {
	e := v.Storage.e
	if acc != Out && e.state == None && e.bytes > 0 {
		return e.missing()
	}
	if e.buf == nil {
		d.feel(grain(e.bytes))
		take := d.take
		if r := d.recorder; r != nil && e.id <= r.born {
			take = d.takeOutside
		}
		b, err := take(e.bytes)
		if err != nil {
			return err
		}
		e.buf = b
	}
	if v.keeps(acc) && e.state == OnHost {
		return d.bring(e)
	}
	return nil
}

// bring uploads a storage that is only on the host, to a buffer that it has.
func (d *Device) bring(e *entry) error {
	if d.recorder != nil && e.id > d.recorder.born {
		return d.recorder.refuse("%s is made from host data", e.owner)
	}
	if err := d.upload(Span{e.buf, 0, e.bytes}, e.host); err != nil {
		return err
	}
	d.move(e, Both)
	return nil
}

// launch hands a launch to the backend and counts it. One that writes nothing
// is done without.
func (d *Device) launch(l Launch) error {
	if l.empty() {
		return nil
	}
	err := d.backend.Launch(l)
	if err != nil {
		if errors.Is(err, ErrDeclined) {
			return ErrDeclined
		}
		return &LaunchError{l.Kernel, l.DType, err}
	}
	d.count.Launches[l.Kernel]++
	if d.recorder != nil {
		d.recorder.add(l)
	}
	if d.observers != nil {
		seen := l // only then on the heap
		d.emit(Event{Kind: Launched, Launch: &seen})
	}
	return nil
}

func (l *Launch) empty() bool {
	for i, a := range Kernels[l.Kernel].Args {
		if a.Access != In && l.Args[i].Bytes > 0 {
			return false
		}
	}
	return true
}

// upload fills a span.
func (d *Device) upload(dst Span, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	if err := d.backend.Upload(dst, src); err != nil {
		return fmt.Errorf("upload of %v: %w", Bytes(len(src)), err)
	}
	d.count.Uploads++
	d.count.BytesUp += int64(len(src))
	if d.observers != nil {
		d.emit(Event{Kind: Uploaded, Span: dst})
	}
	return nil
}

// download waits for the device.
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
	if d.observers != nil {
		d.emit(Event{Kind: Downloaded, Span: src})
	}
	return nil
}
