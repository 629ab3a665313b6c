// Package tensor is arrays of numbers on a device.
//
// Its one idea: a [Tensor] is a view, shape and strides over a storage of a
// gpu.Device, and an operation on tensors is one launch on that device, or a
// few. Transposing, slicing, reshaping and broadcasting launch nothing.
//
//	a := tensor.New([]float64{1, 2, 3, 4}, 2, 2)
//	b := a.T().MatMul(a).AddScalar(1)
//	fmt.Println(b.Float64s())
//
// Operations return new tensors. The few that write into an existing one say
// so: Fill, Set, CopyFrom, AddInPlace, and the optimizers' steps. They launch and
// return; only reading values on the host (Item, At, Float64s, String, ...)
// waits for the device.
//
// A tensor lives on its device as long as Go can reach it, or until Free.
//
// Misuse panics with an [*Error], which tells the operation, the operands'
// shapes, dtypes and names, and what to do. A device that fails panics with a
// [*DeviceError], which wraps what the device said.
//
// The package must not know gradients, models, sessions or notebooks.
package tensor
