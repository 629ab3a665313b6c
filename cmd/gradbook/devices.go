package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"gradbook/gpu"
)

type devicesCmd struct{}

func (devicesCmd) Run() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "DEVICE\tNAME\tMEMORY")
	for _, d := range gpu.Drivers() {
		infos, err := d.Devices()
		if err != nil {
			fmt.Fprintf(w, "%s\tnot available: %v\n", d.Name, err)
			continue
		}
		for i, info := range infos {
			memory := ""
			if info.MemoryBytes > 0 {
				memory = fmt.Sprintf("%.1f GiB", float64(info.MemoryBytes)/(1<<30))
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", deviceName(d, i), info.Name, memory)
		}
	}
	return w.Flush()
}

// deviceNames lists what %device and --device can name.
func deviceNames() []string {
	var names []string
	for _, d := range gpu.Drivers() {
		infos, _ := d.Devices() // a driver without devices has none to name
		for i := range infos {
			names = append(names, deviceName(d, i))
		}
	}
	return names
}

// deviceName is how a device is asked for: the first of a driver by the
// driver's name alone.
func deviceName(d gpu.Driver, i int) string {
	if i == 0 {
		return d.Name
	}
	return fmt.Sprintf("%s:%d", d.Name, i)
}

// knownDriver returns an error unless the device is of a driver in this
// build. Whether the device is there shows when the kernel runs, perhaps on
// another day.
func knownDriver(device string) error {
	var names []string
	for _, d := range gpu.Drivers() {
		if name, _, _ := strings.Cut(device, ":"); device == "" || name == d.Name {
			return nil
		}
		names = append(names, d.Name)
	}
	return fmt.Errorf("unknown device %q: this build has %s", device, strings.Join(names, ", "))
}
