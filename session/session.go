package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"gradbook/gpu"
)

// Session holds what outlives a cell. Its methods may be called from any
// goroutine.
type Session struct {
	// An interrupt must find the devices while a cell's end waits for them:
	// they have a mutex of their own, which may be taken under mu.
	devMu   sync.Mutex
	devices []*opened // in the order of opening
	current *gpu.Device
	seed    *uint64 // of devices opened from now on; nil until Seed

	mu     sync.Mutex
	cell   int // execution count of the running or last cell; 0 before the first
	open   *running
	ledger []Entry

	names    namer
	stray    map[*gpu.Device]int64 // bytes no variable leads to that the last collection left
	ask      Prompter
	out      io.Writer // where text of a running cell goes; nil: the process's standard output
	stopping atomic.Bool
}

// opened is a device and the names under which it was asked for.
type opened struct {
	device *gpu.Device
	names  []string
}

// New makes a session without a device: the first use opens the one that
// GRADBOOK_DEVICE names, else the host.
func New() *Session {
	return &Session{stray: map[*gpu.Device]int64{}}
}

var process = New()

// Current is the session of the process.
func Current() *Session { return process }

// Use makes the named device the one that new values go to, and opens it when
// it is not open yet. Values stay on the device they were made on. Names are
// those of gpu.Open: "host", "vulkan", "cuda:0", "vulkan:llvmpipe".
func (s *Session) Use(name string) (*gpu.Device, error) {
	s.devMu.Lock()
	defer s.devMu.Unlock()
	return s.use(name)
}

func (s *Session) use(name string) (*gpu.Device, error) {
	s.adoptDefault()
	d, err := s.find(name)
	if err != nil {
		return nil, err
	}
	s.current = d
	gpu.SetDefault(d)
	return d, nil
}

// unifiedBudget is how many bytes a device that lives in host memory hands out
// before a collection: an epoch's batches of MNIST would otherwise be kept
// until it ends, 190 MB for a model of 2.
const unifiedBudget = 64 << 20

// find returns the open device of that name, or opens it.
func (s *Session) find(name string) (*gpu.Device, error) {
	for _, o := range s.devices {
		for _, n := range o.names {
			if n == name {
				return o.device, nil
			}
		}
	}
	d, err := gpu.Open(name)
	if err != nil {
		return nil, err
	}
	// "vulkan" and "vulkan:0" are one device, and must be one set of books.
	for _, o := range s.devices {
		if o.device.Info() == d.Info() {
			o.names = append(o.names, name)
			return o.device, d.Close()
		}
	}
	s.devices = append(s.devices, &opened{d, []string{name}})
	if d.Info().Unified {
		d.SetCollectBudget(unifiedBudget)
	}
	if s.seed != nil {
		return d, d.Seed(*s.seed)
	}
	return d, nil
}

// Device is the device that new values go to.
func (s *Session) Device() (*gpu.Device, error) {
	s.devMu.Lock()
	defer s.devMu.Unlock()
	return s.device()
}

func (s *Session) device() (*gpu.Device, error) {
	s.adoptDefault()
	if s.current != nil {
		return s.current, nil
	}
	name := os.Getenv("GRADBOOK_DEVICE")
	if name == "" {
		name = "host"
	}
	d, err := s.use(name)
	if err != nil {
		return nil, fmt.Errorf("no device to work on: %w", err)
	}
	return d, nil
}

// adoptDefault takes in the device that values went to before the session was
// asked for one, lest there be two of the same.
func (s *Session) adoptDefault() {
	if s.current != nil {
		return
	}
	if d := gpu.SetDefault(nil); d != nil {
		gpu.SetDefault(d)
		s.devices = append(s.devices, &opened{d, []string{d.String()}})
		s.current = d
	}
}

// Adopt takes an open device into the session under a name and makes it the
// current one. The session closes it.
func (s *Session) Adopt(name string, d *gpu.Device) {
	s.devMu.Lock()
	defer s.devMu.Unlock()
	s.devices = append(s.devices, &opened{d, []string{name}})
	s.current = d
	gpu.SetDefault(d)
}

// Permissive lets the current device run on the host what it has no kernel
// for, with copies there and back that the ledger counts as fallbacks; false
// makes it strict again, which every device is when it is opened.
func (s *Session) Permissive(allow bool) error {
	s.devMu.Lock()
	defer s.devMu.Unlock()
	d, err := s.device()
	if err != nil {
		return err
	}
	if !allow {
		d.AllowFallback(nil)
		return nil
	}
	b, err := gpu.OpenBackend("host")
	if err != nil {
		return err
	}
	d.AllowFallback(b)
	return nil
}

// ThroughHost sends phases of training on the current device through the host,
// copies there and back counted, and the rest on the device; without phases
// everything is on the device again. The phases are "activations", "backward"
// and "optimizer"; see [gpu.PhaseOf].
func (s *Session) ThroughHost(phases ...string) error {
	var chosen []gpu.Phase
	for _, name := range phases {
		i := slices.IndexFunc(switchable, func(p gpu.Phase) bool { return p.String() == name })
		if i < 0 {
			return fmt.Errorf("no phase %q: there are activations, backward and optimizer", name)
		}
		chosen = append(chosen, switchable[i])
	}
	s.devMu.Lock()
	defer s.devMu.Unlock()
	d, err := s.device()
	if err != nil {
		return err
	}
	b, err := gpu.OpenBackend("host")
	if err != nil {
		return err
	}
	d.Through(b, chosen...)
	return nil
}

var switchable = []gpu.Phase{gpu.Activations, gpu.Backward, gpu.Optimizer}

// Seed starts the random numbers of every device anew, also of those opened
// later.
func (s *Session) Seed(seed uint64) error {
	s.devMu.Lock()
	defer s.devMu.Unlock()
	s.seed = &seed
	if _, err := s.device(); err != nil {
		return err
	}
	var errs []error
	for _, o := range s.devices {
		errs = append(errs, o.device.Seed(seed))
	}
	return errors.Join(errs...)
}

// Free collects what Go can no longer reach and gives the free buffers of all
// devices back to their drivers. It returns the bytes that they got back and
// those that are still held.
func (s *Session) Free() (given, held gpu.Bytes) {
	for _, d := range s.list() {
		before := d.Snapshot().Held
		d.Collect()
		d.Trim()
		after := d.Snapshot().Held
		given += gpu.Bytes(before - after)
		held += gpu.Bytes(after)
	}
	return given, held
}

// Close closes all devices and forgets the ledger. Values on the devices can no
// longer be used; the next use of the session opens devices anew.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.devMu.Lock()
	defer s.devMu.Unlock()
	var errs []error
	for _, o := range s.devices {
		errs = append(errs, o.device.Close())
	}
	s.devices, s.current, s.seed = nil, nil, nil
	s.cell, s.open, s.ledger = 0, nil, nil
	clear(s.stray)
	gpu.SetDefault(nil)
	return errors.Join(errs...)
}

// list is the open devices, in the order of opening.
func (s *Session) list() []*gpu.Device {
	s.devMu.Lock()
	defer s.devMu.Unlock()
	ds := make([]*gpu.Device, len(s.devices))
	for i, o := range s.devices {
		ds[i] = o.device
	}
	return ds
}

// Interrupt stops what runs: devices refuse launches, and Stopped reports
// true, until Resume.
func (s *Session) Interrupt() {
	s.stopping.Store(true)
	for _, d := range s.list() {
		d.Interrupt()
	}
}

// Resume ends an Interrupt.
func (s *Session) Resume() {
	s.stopping.Store(false)
	for _, d := range s.list() {
		d.Resume()
	}
}

// Stopped reports whether an Interrupt is in force.
func (s *Session) Stopped() bool { return s.stopping.Load() }

// Interrupted is the error of work that stopped because of an Interrupt.
type Interrupted struct{ What string }

func (e *Interrupted) Error() string { return "interrupted: " + e.What }

// Interrupted marks the error as an interrupt.
func (e *Interrupted) Interrupted() bool { return true }
