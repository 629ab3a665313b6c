package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"weak"
)

// Storage is a handle on a run of bytes that may be in host memory, on the
// device, or both. It lives until Free, or until Go can no longer reach it;
// its device buffer then returns to the pool.
type Storage struct {
	e *entry
	_ [15]uintptr // weak pointers to small neighbours are slow to make
}

// entry is a storage's row in the residency table. All fields but dev, id and
// bytes are guarded by the device's mutex.
type entry struct {
	dev   *Device
	id    uint64
	bytes int64

	state   Residency
	buf     Buffer // device copy; kept while stale when state is OnHost
	host    []byte // host copy; nil unless state is OnHost or Both
	owner   Owner
	lastUse uint64
	changed uint64 // clock of the last write
	holds   int    // > 0: stays on the device
	freed   bool
	lost    bool                  // state is None because the content went with a lost backend
	handle  weak.Pointer[Storage] // a strong one would keep it alive forever
}

// View is a run of bytes of a storage: an argument of Device.Run.
type View struct {
	Storage *Storage
	Offset  int64
	Bytes   int64
}

// All is the view of the whole storage.
func (s *Storage) All() View { return View{s, 0, s.e.bytes} }

// Device is the device that the storage belongs to.
func (s *Storage) Device() *Device { return s.e.dev }

// ID is the storage's number in snapshots.
func (s *Storage) ID() uint64 { return s.e.id }

// Bytes is the storage's size.
func (s *Storage) Bytes() int64 { return s.e.bytes }

// Freed reports whether Free was called.
func (s *Storage) Freed() bool {
	d := s.e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	return s.e.freed
}

// Residency tells where the valid copies are.
func (s *Storage) Residency() Residency {
	d := s.e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	return s.e.state
}

// Owner returns the storage's label.
func (s *Storage) Owner() Owner {
	d := s.e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	return s.e.owner
}

// SetRole sets the role in the storage's label.
func (s *Storage) SetRole(r Role) {
	d := s.e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	s.e.owner.Role = r
}

// SetName sets the name in the storage's label; "" takes it away.
func (s *Storage) SetName(name string) {
	d := s.e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	s.e.owner.Name = name
}

// Free gives the storage's memory back now. Using it afterwards is an error
// that Is ErrFreed. A second Free does nothing.
func (s *Storage) Free() {
	d := s.e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.e.buf != nil {
		// What is given back by hand need not be collected.
		d.pressure.since = max(0, d.pressure.since-s.e.buf.Bytes())
	}
	d.drop(s.e)
}

// New makes a storage of size bytes with no content yet. It takes no memory
// until something is written to it.
func (d *Device) NewStorage(size int64, op string, role Role) *Storage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.newStorage(size, op, role)
}

// FromHost makes a storage whose content is data, which must not be changed
// afterwards. It goes to the device when a kernel first needs it.
func (d *Device) FromHost(data []byte, op string, role Role) *Storage {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.newStorage(int64(len(data)), op, role)
	s.e.host, s.e.state = data, OnHost
	return s
}

func (d *Device) newStorage(size int64, op string, role Role) *Storage {
	d.lastID++
	e := &entry{dev: d, id: d.lastID, bytes: size, owner: Owner{Cell: d.cell, Op: op, Role: role}}
	d.entries[e.id] = e
	s := &Storage{e: e}
	e.handle = weak.Make(s)
	if d.recorder != nil && (role == Parameter || role == OptimizerState || role == Generator) {
		d.recorder.refuse("%s is made", e.owner)
	}
	return s
}

// Read copies the storage's bytes from offset on into dst. If only the device
// has them, it waits for the device; the host keeps no copy.
func (s *Storage) Read(dst []byte, offset int64) error {
	d := s.e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	defer runtime.KeepAlive(s)
	e := s.e
	if err := d.readable(e); err != nil {
		return err
	}
	if offset < 0 || offset+int64(len(dst)) > e.bytes {
		return fmt.Errorf("gpu: read of bytes %d to %d of a storage of %d", offset, offset+int64(len(dst)), e.bytes)
	}
	if e.state == OnDevice {
		return d.download(dst, Span{e.buf, offset, int64(len(dst))})
	}
	copy(dst, e.host[offset:])
	return nil
}

// Host returns the storage's bytes in host memory, which must not be changed.
// The host copy is kept and can stand in for the device's when memory is
// short.
func (s *Storage) Host() ([]byte, error) {
	d := s.e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	defer runtime.KeepAlive(s)
	e := s.e
	if err := d.readable(e); err != nil {
		return nil, err
	}
	if e.state == OnDevice {
		host := make([]byte, e.bytes)
		if err := d.download(host, Span{e.buf, 0, e.bytes}); err != nil {
			return nil, err
		}
		e.host = host
		d.move(e, Both)
	}
	return e.host, nil
}

// readable says why the host cannot have an entry's content.
func (d *Device) readable(e *entry) error {
	if err := d.usable(e); err != nil {
		return err
	}
	if d.recorder != nil {
		return d.recorder.refuse("%s is read by the host", e.owner)
	}
	if e.state == None && e.bytes > 0 {
		return fmt.Errorf("gpu: read of a storage: %w", e.missing())
	}
	return nil
}

// Write replaces the storage's whole content with data, which must not be
// changed afterwards.
func (s *Storage) Write(data []byte) error {
	d := s.e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	defer runtime.KeepAlive(s)
	if err := d.usable(s.e); err != nil {
		return err
	}
	if int64(len(data)) != s.e.bytes {
		return fmt.Errorf("gpu: write of %d bytes to a storage of %d", len(data), s.e.bytes)
	}
	if d.recorder != nil {
		return d.recorder.refuse("%s is written by the host", s.e.owner)
	}
	s.e.host = data
	d.clock++
	s.e.changed = d.clock
	d.move(s.e, OnHost)
	return nil
}

// Evict drops the device copy, after saving it to the host if it is the only
// one. A storage that a recording uses stays where it is, and that is an
// error.
func (s *Storage) Evict() error {
	if _, err := s.Host(); err != nil {
		return err
	}
	d := s.e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	defer runtime.KeepAlive(s)
	e := s.e
	switch {
	case e.freed || e.buf == nil:
		return nil
	case d.pinned(e.buf):
		return fmt.Errorf("gpu: %s is part of a recording: close that first", e.owner)
	case !e.spillable():
		return errors.New("gpu: " + e.owner.String() + " is in use on the device")
	}
	d.release(e)
	d.move(e, OnHost)
	return nil
}
