// Package trial has devices for trying things on: one with little memory, and
// one whose calls fail when told to.
//
// Its one idea: what happens when a device has had enough should be tried, by
// tests and in notebooks, where nothing is at stake. Cells open them by name:
// small:64MiB, faulty:launch:17.
//
// The package must not know any backend; it wraps what the driver "host" opens.
package trial

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"gradbook/gpu"
)

func init() {
	gpu.Register(gpu.Driver{
		Name:    "faulty",
		Devices: func() ([]gpu.Info, error) { return nil, nil },
		Open:    func(int) (gpu.Backend, error) { return wrapHost("", wrapFaulty) },
		Named:   func(which string) (gpu.Backend, error) { return wrapHost(which, wrapFaulty) },
	})
	gpu.Register(gpu.Driver{
		Name:    "small",
		Devices: func() ([]gpu.Info, error) { return nil, nil },
		Open:    func(int) (gpu.Backend, error) { return wrapHost("64MiB", wrapSmall) },
		Named:   func(which string) (gpu.Backend, error) { return wrapHost(which, wrapSmall) },
	})
}

func wrapHost(which string, wrap func(gpu.Backend, string) (gpu.Backend, error)) (gpu.Backend, error) {
	b, err := gpu.OpenBackend("host")
	if err != nil {
		return nil, err
	}
	return wrap(b, which)
}

// ErrInjected is what a faulty backend's calls fail with.
var ErrInjected = errors.New("injected fault")

// Call is a kind of call to a backend that can be made to fail.
type Call uint8

// The calls, and the names that device names have for them.
const (
	Alloc Call = iota
	Launch
	Upload
	Download
	NumCalls
)

func (c Call) String() string { return [...]string{"alloc", "launch", "upload", "download"}[c] }

// FaultyBackend fails calls when told to.
type FaultyBackend struct {
	gpu.Backend
	label string // what Info adds to the name, so that it is told from others
	mu    sync.Mutex
	calls [NumCalls]int
	due   [NumCalls]int // fails at this call; 0 is never
	on    [NumCalls]bool
}

// Faulty wraps a backend, which then fails the calls that Fail names. The
// driver "faulty" opens the host so: faulty:launch:17 fails the 17th launch
// once, faulty:alloc:3+ every allocation from the third on.
func Faulty(b gpu.Backend) *FaultyBackend { return &FaultyBackend{Backend: b} }

func wrapFaulty(b gpu.Backend, which string) (gpu.Backend, error) {
	f := Faulty(b)
	if which == "" {
		f.label = ", faulty"
		return f, nil
	}
	f.label = ", faulty:" + which
	kind, number, _ := strings.Cut(which, ":")
	number, forGood := strings.CutSuffix(number, "+")
	n, err := strconv.Atoi(number)
	for c := range NumCalls {
		if c.String() == kind && err == nil && n > 0 {
			f.Fail(c, n, forGood)
			return f, nil
		}
	}
	return nil, fmt.Errorf("faulty:%s: want a call (alloc, launch, upload, download), a number from 1, and + to go on failing: faulty:launch:17", which)
}

// Info is the backend's, under a name of its own.
func (f *FaultyBackend) Info() gpu.Info {
	info := f.Backend.Info()
	info.Name += f.label
	return info
}

// Fail makes the n-th call of a kind from now on, 1 being the next, fail with
// ErrInjected: once, or for good.
func (f *FaultyBackend) Fail(c Call, n int, forGood bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due[c], f.on[c] = f.calls[c]+n, forGood
}

// Heal ends all failing.
func (f *FaultyBackend) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due = [NumCalls]int{}
}

// Calls is how many calls of a kind were made, failed ones too.
func (f *FaultyBackend) Calls(c Call) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[c]
}

func (f *FaultyBackend) call(c Call) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[c]++
	if due := f.due[c]; due > 0 && (f.calls[c] == due || f.on[c] && f.calls[c] > due) {
		return fmt.Errorf("%w: %s number %d", ErrInjected, c, f.calls[c])
	}
	return nil
}

// Alloc is the backend's, or a fault.
func (f *FaultyBackend) Alloc(bytes int64) (gpu.Buffer, error) {
	if err := f.call(Alloc); err != nil {
		return nil, err
	}
	return f.Backend.Alloc(bytes)
}

// Launch is the backend's, or a fault.
func (f *FaultyBackend) Launch(l gpu.Launch) error {
	if err := f.call(Launch); err != nil {
		return err
	}
	return f.Backend.Launch(l)
}

// Upload is the backend's, or a fault.
func (f *FaultyBackend) Upload(dst gpu.Span, src []byte) error {
	if err := f.call(Upload); err != nil {
		return err
	}
	return f.Backend.Upload(dst, src)
}

// Download is the backend's, or a fault.
func (f *FaultyBackend) Download(dst []byte, src gpu.Span) error {
	if err := f.call(Download); err != nil {
		return err
	}
	return f.Backend.Download(dst, src)
}

// Record declines, so that every launch of a replay can fail.
func (f *FaultyBackend) Record([]gpu.Launch, []gpu.Span) (gpu.Recording, error) {
	return nil, gpu.ErrDeclined
}

// Small wraps a backend so that its device has this many bytes of memory. The
// driver "small" opens the host so: small:64MiB.
func Small(b gpu.Backend, bytes int64) gpu.Backend { return &smallBackend{b, bytes} }

func wrapSmall(b gpu.Backend, which string) (gpu.Backend, error) {
	digits := strings.TrimRight(which, "KMGiB")
	n, err := strconv.ParseInt(digits, 10, 64)
	shift, ok := map[string]int{"": 0, "B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[which[len(digits):]]
	if err != nil || n <= 0 || !ok {
		return nil, fmt.Errorf("small:%s: want a size: small:64MiB", which)
	}
	return Small(b, n<<shift), nil
}

type smallBackend struct {
	gpu.Backend
	bytes int64
}

func (s *smallBackend) Info() gpu.Info {
	info := s.Backend.Info()
	info.MemoryBytes = s.bytes
	info.Name += fmt.Sprintf(" with %v", gpu.Bytes(s.bytes))
	return info
}

func (s *smallBackend) Alloc(bytes int64) (gpu.Buffer, error) {
	if s.Backend.Stats().BytesHeld+bytes > s.bytes {
		return nil, gpu.ErrOutOfMemory
	}
	return s.Backend.Alloc(bytes)
}
