package session

import "gradbook/gpu"

// Use makes the named device the one that new values go to: "host", "vulkan",
// "cuda:0". Values stay on the device they were made on.
func Use(device string) *gpu.Device { return must(process.Use(device)) }

// Device is the device that new values go to.
func Device() *gpu.Device { return must(process.Device()) }

// Seed starts the random numbers of every device anew, also of those opened
// later. The same seed gives the same numbers on every backend.
func Seed(seed uint64) {
	if err := process.Seed(seed); err != nil {
		panic(err)
	}
}

// ThroughHost sends phases of training through the host, to show what that
// costs: "activations", "backward", "optimizer". Without any, everything is on
// the device again.
func ThroughHost(phases ...string) {
	if err := process.ThroughHost(phases...); err != nil {
		panic(err)
	}
}

// Free collects what no variable leads to and gives the free buffers of all
// devices back to their drivers. It returns the bytes that they got back and
// those that are still held.
func Free() (given, held gpu.Bytes) { return process.Free() }

// State is the state of the session as plain data.
func State() Snapshot { return process.Snapshot() }

// Input asks for a line of text, such as session.Input("name: ").
func Input(prompt string) string { return must(process.Prompt(prompt, false)) }

// Password asks for a line that is not shown while it is typed.
func Password(prompt string) string { return must(process.Prompt(prompt, true)) }

// Reopen opens the current device anew, after it was lost: values whose bytes
// the host has as well go on.
func Reopen() Reopened { return must(process.Reopen()) }

// Progress starts a bar over n steps of work; see [Bar].
func Progress(n int, label string) *Bar { return process.Progress(n, label) }

// Compare trains what build makes on each of the devices, from the same seed;
// see [Session.Compare].
func Compare(build func(d *gpu.Device) Trial, devices ...string) *Comparison {
	return process.Compare(build, devices...)
}

// CompareBy is Compare by another plan.
func CompareBy(plan Plan, build func(d *gpu.Device) Trial, devices ...string) *Comparison {
	return process.CompareBy(plan, build, devices...)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
