package gpu

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
)

// generator holds a device's random numbers: streams drawn on the host, for
// values that must be the same bits on every backend, and the state block of
// the kernels that draw on the device.
type generator struct {
	mu      sync.Mutex
	seed    uint64
	streams uint64 // host streams handed out since Seed
	state   *Storage
}

// stateBlock is the content of a state block (see CountParams).
func stateBlock(count, key uint64) []byte {
	b := make([]byte, 16)
	binary.LittleEndian.PutUint64(b, count)
	binary.LittleEndian.PutUint64(b[8:], key)
	return b
}

// Seed starts the device's random numbers anew. The same seed gives the same
// numbers; a device that was never seeded has seed 0.
func (d *Device) Seed(seed uint64) error {
	g := &d.random
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seed, g.streams = seed, 0
	if g.state == nil || g.state.Freed() {
		return nil
	}
	return g.state.Write(stateBlock(0, seed))
}

// HostRandom returns the next stream of random numbers drawn on the host. The
// n-th stream after Seed is the same on every backend.
func (d *Device) HostRandom() *rand.Rand {
	g := &d.random
	g.mu.Lock()
	defer g.mu.Unlock()
	g.streams++
	return rand.New(rand.NewPCG(g.seed, g.streams))
}

// RandomState is the state block that kernels draw from, count and key both
// advanced and kept on the device. Whoever draws n numbers launches Count with
// (n+3)/4 afterwards.
func (d *Device) RandomState() *Storage {
	g := &d.random
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == nil || g.state.Freed() {
		g.state = d.FromHost(stateBlock(0, g.seed), "seed", Generator)
		g.state.SetName("random state")
	}
	return g.state
}

// NewCounter makes a state block with count 0 and key 0: a step counter that
// Count advances on the device.
func (d *Device) NewCounter(op string) *Storage {
	return d.FromHost(stateBlock(0, 0), op, Generator)
}
