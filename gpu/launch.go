package gpu

// Launch is one call of a kernel: the unit of dispatch, counting, tracing and
// recording.
//
// Args are in the order of the kernel's table row. No buffer that a launch
// writes appears in a second argument; two arguments that are only read may
// share one. Work in place is one in-out argument.
//
// Params points to the params struct of the kernel's table row. A backend
// neither changes nor keeps Params or Args after Launch has returned.
type Launch struct {
	Kernel Kernel
	DType  DType
	Args   []Span
	Params any
}

// Access is what a kernel does with an argument.
type Access uint8

const (
	In    Access = iota // reads it
	Out                 // writes every element, reads none
	InOut               // reads and writes it
)

func (a Access) String() string { return [...]string{"in", "out", "in-out"}[a] }

// Arg is an argument of a kernel. Type is the element type when it is not the
// launch's own (labels, indexes, counters).
type Arg struct {
	Name   string
	Access Access
	Type   ArgType
}

// ArgType is how the element type of an argument follows from the launch.
type ArgType uint8

const (
	Typed   ArgType = iota // the launch's dtype
	Index                  // Int32
	State                  // a counter block, see Count
	Foreign                // named in the params (cast's source)
)

// Tier says whether a backend must have a kernel.
type Tier uint8

const (
	Primitive Tier = iota // tier 0: every backend has it
	Fused                 // tier 1: a backend may decline it
)

// KernelInfo is a row of the kernel table.
type KernelInfo struct {
	ID     Kernel
	Name   string // the same in Go, shader, trace, ledger and map
	Tier   Tier
	Args   []Arg
	Params any     // zero value of the params struct
	DTypes []DType // those a launch may carry

	// Overwrites reports that with these params the in-out argument is only
	// written. Nil means never.
	Overwrites func(params any) bool

	// Generic is the composition of primitive launches that a fused kernel
	// stands for. Nil for primitives.
	Generic func(c *Composer, l Launch)
}

// Info returns the kernel's table row.
func (k Kernel) Info() *KernelInfo { return &Kernels[k] }

func (k Kernel) String() string { return Kernels[k].Name }
