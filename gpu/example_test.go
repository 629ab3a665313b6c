package gpu_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"gradbook/gpu"
	_ "gradbook/gpu/host"
)

// A storage made from host data goes to the device when a kernel first needs
// it; what a kernel writes stays there until the host asks.
func Example() {
	d, err := gpu.Open("host")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	defer d.Observe(gpu.Trace(os.Stdout))()

	data := binary.LittleEndian.AppendUint32(nil, math.Float32bits(3))
	x := d.FromHost(data, "example", gpu.Data)
	y := d.NewStorage(4, "square", gpu.Temporary)
	err = d.Run(gpu.Unary, gpu.Float32, &gpu.UnaryParams{Scale: 1, Op: gpu.Square, N: 1}, x.All(), y.All())
	if err != nil {
		panic(err)
	}
	fmt.Println("x:", x.Residency(), " y:", y.Residency())
	if err := y.Read(data, 0); err != nil {
		panic(err)
	}
	fmt.Println(math.Float32frombits(binary.LittleEndian.Uint32(data)))
	// Output:
	// alloc #1+0:256
	// upload #1+0:4
	// alloc #2+0:256
	// launch unary float32 x=#1+0:4 out=#2+0:4 {Scale:1 Offset:0 Op:4 N:1}
	// x: both  y: device
	// download #2+0:4
	// 9
}

// A recorded function runs again as one submission, on the same buffers.
func ExampleDevice_Record() {
	d, err := gpu.Open("host")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	sum := d.FromHost(make([]byte, 4), "example", gpu.Data)
	one := d.FromHost(binary.LittleEndian.AppendUint32(nil, math.Float32bits(1)), "example", gpu.Data)
	step, err := d.Record(func() error {
		return d.Run(gpu.Axpby, gpu.Float32, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 1}, one.All(), sum.All())
	})
	if err != nil {
		panic(err)
	}
	defer step.Close()
	for range 9 {
		if err := step.Replay(); err != nil {
			panic(err)
		}
	}
	data := make([]byte, 4)
	if err := sum.Read(data, 0); err != nil {
		panic(err)
	}
	fmt.Println(math.Float32frombits(binary.LittleEndian.Uint32(data)), "after", step.Launches(), "launch a step")
	// Output: 10 after 1 launch a step
}
