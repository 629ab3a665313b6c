// Package perceptron is one training step as a list of launches: layers with
// ReLU, cross-entropy, Adam. Tests and benchmarks of backends run it without
// the packages above.
//
// It must not know which backend it runs on.
package perceptron

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"gradbook/gpu"
)

// Net is a network with its data and its state on a backend.
type Net struct {
	// Launches are one step of training.
	Launches []gpu.Launch
	// Weights are the parameters, layer by layer: w and b.
	Weights []gpu.Span
	// Loss is the mean loss of the step before its update.
	Loss gpu.Span

	b     gpu.Backend
	dtype gpu.DType
	held  []gpu.Buffer
	rand  *rand.Rand
	err   error
}

// New makes a network on random data of rows rows. Sizes are its widths, from
// the input's to the number of classes.
func New(b gpu.Backend, dtype gpu.DType, rows uint32, sizes ...uint32) (*Net, error) {
	n := &Net{b: b, dtype: dtype, rand: rand.New(rand.NewPCG(1, 2))}
	layers := len(sizes) - 1
	classes := sizes[layers]
	labels := make([]byte, 4*rows)
	for i := range rows {
		binary.LittleEndian.PutUint32(labels[4*i:], i%classes)
	}
	y, state := n.upload(labels), n.upload(make([]byte, 16))
	one := n.constant(1, 1)

	// Forward.
	acts := []gpu.Span{n.normal(rows*sizes[0], 1)}
	for i := range layers {
		in, out := sizes[i], sizes[i+1]
		w, bias := n.normal(in*out, math.Sqrt(2/float64(in))), n.constant(out, 0)
		n.Weights = append(n.Weights, w, bias)
		act := gpu.ReLU
		if i == layers-1 {
			act = gpu.Identity
		}
		acts = append(acts, n.empty(rows*out))
		n.add(gpu.Linear, dtype, &gpu.LinearParams{Act: act, Rows: rows, In: in, Out: out}, acts[i], w, bias, acts[i+1])
	}
	losses, lse := n.empty(rows), n.empty(rows)
	n.Loss = n.empty(1)
	n.add(gpu.Xent, dtype, &gpu.XentParams{Rows: rows, Cols: classes}, acts[layers], y, losses, lse)
	n.add(gpu.Reduce, dtype, &gpu.ReduceParams{Scale: 1 / float64(rows), Outer: 1, Axis: rows, Inner: 1}, losses, n.Loss)

	// Backward.
	dy := n.empty(rows * classes)
	n.add(gpu.XentBwd, dtype, &gpu.XentBwdParams{Scale: 1 / float64(rows), Rows: rows, Cols: classes}, acts[layers], y, lse, one, dy)
	grads := make([]gpu.Span, len(n.Weights))
	for i := layers - 1; i >= 0; i-- {
		in, out := sizes[i], sizes[i+1]
		grads[2*i], grads[2*i+1] = n.empty(in*out), n.empty(out)
		n.add(gpu.LinearParamBwd, dtype, &gpu.LinearParamBwdParams{Rows: rows, In: in, Out: out}, dy, acts[i], grads[2*i], grads[2*i+1])
		if i == 0 {
			break
		}
		dx, da := n.empty(rows*in), n.empty(rows*in)
		n.add(gpu.Gemm, dtype, &gpu.GemmParams{Alpha: 1, M: rows, N: in, K: out, LDA: out, LDB: in, LDC: in, Batch: 1}, dy, n.Weights[2*i], dx)
		n.add(gpu.Binary, dtype, &gpu.BinaryParams{Scale: 1, Op: gpu.ReLUBwd, N: rows * in, Rank: 1, Dims: gpu.Dims{rows * in}, A: gpu.Strides{1}, B: gpu.Strides{1}}, dx, acts[i], da)
		dy = da
	}

	// Update.
	n.add(gpu.Count, gpu.Int32, &gpu.CountParams{Add: 1}, state)
	for i, w := range n.Weights {
		count := uint32(w.Bytes / dtype.Size())
		n.add(gpu.AdamStep, dtype, &gpu.AdamParams{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, N: count},
			grads[i], state, w, n.constant(count, 0), n.constant(count, 0))
	}
	return n, n.err
}

func (n *Net) add(k gpu.Kernel, t gpu.DType, params any, args ...gpu.Span) {
	n.Launches = append(n.Launches, gpu.Launch{Kernel: k, DType: t, Params: params, Args: args})
}

// Step launches the step.
func (n *Net) Step() error {
	for _, l := range n.Launches {
		if err := n.b.Launch(l); err != nil {
			return fmt.Errorf("%s: %w", l.Kernel, err)
		}
	}
	return nil
}

// Learned reads the loss and the weights, as bytes.
func (n *Net) Learned() ([]byte, error) {
	var all []byte
	for _, s := range append([]gpu.Span{n.Loss}, n.Weights...) {
		part := make([]byte, s.Bytes)
		if err := n.b.Download(part, s); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

// Free gives every buffer back.
func (n *Net) Free() {
	for _, b := range n.held {
		n.b.Free(b)
	}
	n.held = nil
}

func (n *Net) alloc(bytes int64) gpu.Span {
	if n.err != nil {
		return gpu.Span{}
	}
	b, err := n.b.Alloc(bytes)
	if err != nil {
		n.err = err
		return gpu.Span{}
	}
	n.held = append(n.held, b)
	return gpu.Span{Buffer: b, Bytes: bytes}
}

func (n *Net) empty(count uint32) gpu.Span { return n.alloc(int64(count) * n.dtype.Size()) }

func (n *Net) upload(data []byte) gpu.Span {
	s := n.alloc(int64(len(data)))
	if n.err == nil {
		n.err = n.b.Upload(s, data)
	}
	return s
}

func (n *Net) constant(count uint32, v float64) gpu.Span {
	s := n.empty(count)
	if n.err == nil {
		n.err = n.b.Launch(gpu.Launch{Kernel: gpu.Fill, DType: n.dtype, Params: &gpu.FillParams{Value: v, N: count}, Args: []gpu.Span{s}})
	}
	return s
}

func (n *Net) normal(count uint32, deviation float64) gpu.Span {
	size := n.dtype.Size()
	data := make([]byte, int64(count)*size)
	for i := range int64(count) {
		v := deviation * n.rand.NormFloat64()
		if n.dtype == gpu.Float64 {
			binary.LittleEndian.PutUint64(data[8*i:], math.Float64bits(v))
		} else {
			binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(v)))
		}
	}
	return n.upload(data)
}
