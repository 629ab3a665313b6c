package gpu

import (
	"fmt"
	"time"
)

// Role says what a storage is for.
type Role uint8

// The roles, in the order in which maps and tables list them.
const (
	Temporary Role = iota // a result that nothing has claimed
	Parameter
	Gradient
	OptimizerState
	Activation // kept by the tape for Backward
	Data
	Generator // state of a random generator or a step counter
	Replaying // what a recording keeps for its replays
	NumRoles
)

func (r Role) String() string {
	return [...]string{"temporary", "parameter", "gradient", "optimizer state", "activation", "data", "generator", "recording"}[r]
}

// Owner says who holds a storage: the name a cell knows it by, "" if none; the
// cell and the operation it was born in; and its role.
type Owner struct {
	Name string
	Cell int
	Op   string
	Role Role
}

func (o Owner) String() string {
	name := o.Name
	if name == "" {
		name = "(unnamed)"
	}
	return name + ", " + o.Origin()
}

// Origin says what the storage is for and where it came from.
func (o Owner) Origin() string {
	s := o.Role.String()
	if o.Op != "" {
		s += " from " + o.Op
	}
	if o.Cell > 0 {
		s += fmt.Sprintf(" in cell [%d]", o.Cell)
	}
	return s
}

// Residency says where the valid copies of a storage are.
type Residency uint8

const (
	None      Residency = iota // nothing was written yet
	OnHost                     // only in host memory
	OnDevice                   // only on the device
	Both                       // the same bytes in both
	NumStates = iota
)

func (r Residency) String() string { return [...]string{"none", "host", "device", "both"}[r] }

// Row is a storage as a snapshot shows it.
type Row struct {
	ID          uint64 // never reused on one device
	Bytes       int64
	DeviceBytes int64 // size of its buffer, rounded up; 0 when there is no device copy
	HostBytes   int64 // 0 when there is no host copy
	Residency   Residency
	Owner       Owner
	LastUse     uint64 // launch or transfer number, for the order of spills
}

// Counters are totals since the device was opened.
type Counters struct {
	Launches  [NumKernels]int64 // as the backend ran them
	Declines  int64             // fused kernels that ran as compositions
	Fallbacks int64             // launches run on the host by a permissive device
	Uploads   int64
	Downloads int64
	BytesUp   int64
	BytesDown int64
	Reads     int64 // times the host waited for the device
	Allocs    int64 // buffers asked of the backend
	Reuses    int64 // buffers taken from the pool
	Spills    int64 // device copies dropped for lack of memory
	Collects  int64 // garbage collections asked for by memory pressure
	PeakBytes int64 // most device bytes in use at once since ResetPeak, temporaries of compositions too
}

// TotalLaunches is the sum over kernels.
func (c *Counters) TotalLaunches() (n int64) {
	for _, l := range c.Launches {
		n += l
	}
	return n
}

// Sub returns what happened between before and c. PeakBytes is c's.
func (c Counters) Sub(before Counters) Counters {
	for k := range c.Launches {
		c.Launches[k] -= before.Launches[k]
	}
	c.Declines -= before.Declines
	c.Fallbacks -= before.Fallbacks
	c.Uploads -= before.Uploads
	c.Downloads -= before.Downloads
	c.BytesUp -= before.BytesUp
	c.BytesDown -= before.BytesDown
	c.Reads -= before.Reads
	c.Allocs -= before.Allocs
	c.Reuses -= before.Reuses
	c.Spills -= before.Spills
	c.Collects -= before.Collects
	return c
}

// Snapshot is the state of a device at one moment.
type Snapshot struct {
	Info      Info
	Time      time.Time
	Rows      []Row // live storages, by ID
	InUse     int64 // device bytes of live storages and recordings
	PoolBytes int64 // device bytes kept for reuse
	Held      int64 // InUse + PoolBytes: equals the backend's BytesHeld
	Counters  Counters
	Backend   BackendStats
}
