package gpu

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Driver makes backends of one kind. Backend packages register one in init.
type Driver struct {
	Name string // "host", "vulkan", "cuda"
	// Devices lists what can be opened. Its error says why nothing can, and
	// what to do.
	Devices func() ([]Info, error)
	// Open opens the index-th device of that list.
	Open func(index int) (Backend, error)
	// Named, if there is one, opens what stands after "driver:" in a name
	// instead.
	Named func(which string) (Backend, error)
}

var drivers = map[string]Driver{}

// Register adds a driver; a second one of the same name is a programming
// error.
func Register(d Driver) {
	if _, ok := drivers[d.Name]; ok {
		panic("gpu: driver " + d.Name + " registered twice")
	}
	drivers[d.Name] = d
}

// Drivers returns the registered drivers by name.
func Drivers() []Driver {
	var ds []Driver
	for _, d := range drivers {
		ds = append(ds, d)
	}
	sort.Slice(ds, func(i, j int) bool { return ds[i].Name < ds[j].Name })
	return ds
}

// Open opens a device by name: a driver ("vulkan": its first device), a driver
// and an index ("vulkan:1"), or a driver and a part of the device's name
// ("vulkan:llvmpipe").
func Open(name string) (*Device, error) {
	b, err := OpenBackend(name)
	if err != nil {
		return nil, err
	}
	return New(b), nil
}

// OpenBackend is Open without the books.
func OpenBackend(name string) (Backend, error) {
	kind, which, _ := strings.Cut(name, ":")
	d, ok := drivers[kind]
	if !ok {
		return nil, fmt.Errorf("unknown device %q: this build has %s", name, driverNames())
	}
	if which != "" && d.Named != nil {
		return d.Named(which)
	}
	index, err := pick(d, which)
	if err != nil {
		return nil, err
	}
	return d.Open(index)
}

func pick(d Driver, which string) (int, error) {
	if which == "" {
		return 0, nil
	}
	infos, err := d.Devices()
	if err != nil {
		return 0, err
	}
	if i, err := strconv.Atoi(which); err == nil && i >= 0 && i < len(infos) {
		return i, nil
	}
	var names []string
	for i, in := range infos {
		if strings.Contains(strings.ToLower(in.Name), strings.ToLower(which)) {
			return i, nil
		}
		names = append(names, fmt.Sprintf("%d (%s)", i, in.Name))
	}
	return 0, fmt.Errorf("%s has no device %q: it has %s", d.Name, which, strings.Join(names, ", "))
}

func driverNames() string {
	var ns []string
	for _, d := range Drivers() {
		ns = append(ns, d.Name)
	}
	return strings.Join(ns, ", ")
}

var (
	defaultMu sync.Mutex
	current   *Device
)

// Default is the device that constructors without a device argument use:
// the last one given to SetDefault, else what GRADBOOK_DEVICE names, else the
// host. It panics if that device cannot be opened.
func Default() *Device {
	defaultMu.Lock()
	defer defaultMu.Unlock()
	if current == nil {
		name := os.Getenv("GRADBOOK_DEVICE")
		if name == "" {
			name = "host"
		}
		d, err := Open(name)
		if err != nil {
			panic(fmt.Errorf("gpu: no default device: %w", err))
		}
		current = d
	}
	return current
}

// SetDefault replaces the default device and returns the one before, nil if
// there was none.
func SetDefault(d *Device) *Device {
	defaultMu.Lock()
	defer defaultMu.Unlock()
	old := current
	current = d
	return old
}
