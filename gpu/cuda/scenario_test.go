//go:build cuda && linux && amd64

package cuda

import (
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/cuda/internal/perceptron"
)

var scenarios = map[string]func(*testing.T, gpu.Backend){
	"copies":       copies,
	"convolutions": convolutions,
	"cublas": func(t *testing.T, b gpu.Backend) {
		b.(*backend).products.always = true
		trainRecorded(t, b)
	},
	"inputs": newBatches,
	"memory": outOfMemory,
	"step":   trainTwice,
	"record": trainRecorded,
}

// trainTwice trains a perceptron twice.
func trainTwice(t *testing.T, b gpu.Backend) {
	m := newTraining(t, b)
	m.step()
	m.step()
	m.learned()
	m.Free()
}

// trainRecorded trains it once and then replays.
func trainRecorded(t *testing.T, b gpu.Backend) {
	m := newTraining(t, b)
	m.step()
	r, err := b.Record(m.Launches, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Replay(nil); err != nil {
			t.Fatal(err)
		}
	}
	m.learned()
	r.Close()
	m.Free()
}

// newBatches replays a step on another batch, the same again, and another with
// one input as it was. One input is copied by a kernel, one by the driver.
func newBatches(t *testing.T, b gpu.Backend) {
	d := gpu.New(b)
	value := func(n uint32, v float64) gpu.View {
		s := d.NewStorage(int64(n)*4, "batch", gpu.Data)
		run(t, d, gpu.Fill, gpu.Float32, &gpu.FillParams{Value: v, N: n}, s.All())
		return s.All()
	}
	const small, large = 64, copyBytes / 4
	x, y := d.NewStorage(4*small, "x", gpu.Data), d.NewStorage(4*large, "y", gpu.Data)
	sums := []gpu.View{value(small, 0), value(large, 0)}
	xs, ys := []gpu.View{value(small, 1), value(small, 2)}, []gpu.View{value(large, 3), value(large, 4)}
	r, err := d.Record(func() error {
		run(t, d, gpu.Axpby, gpu.Float32, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: small}, x.All(), sums[0])
		run(t, d, gpu.Axpby, gpu.Float32, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: large}, y.All(), sums[1])
		return nil
	}, gpu.Input{To: x, From: xs[0]}, gpu.Input{To: y, From: ys[0]})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]gpu.View{{xs[1], ys[1]}, {xs[1], ys[1]}, {xs[0], ys[1]}} {
		if err := r.Replay(content...); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	for _, v := range append(append(append(sums, xs...), ys...), x.All(), y.All()) {
		v.Storage.Free()
	}
	d.Trim()
}

// convolutions runs a layer for few taps and one for many, forward and backward,
// with ReLU and pooling between.
func convolutions(t *testing.T, b gpu.Backend) {
	d := gpu.New(b)
	var all []gpu.View
	value := func(n uint32) gpu.View {
		s := d.NewStorage(int64(n)*4, "value", gpu.Temporary)
		run(t, d, gpu.Fill, gpu.Float32, &gpu.FillParams{Value: 0.5, N: n}, s.All())
		all = append(all, s.All())
		return s.All()
	}
	const images, size = 4, 8
	for _, l := range []struct{ in, out uint32 }{{1, 32}, {32, 64}} {
		c := gpu.Conv2DParams{N: images, C: l.in, H: size, W: size, O: l.out, KH: 3, KW: 3, OH: size, OW: size, SH: 1, SW: 1, PH: 1, PW: 1, DH: 1, DW: 1}
		p := gpu.PoolParams{Act: gpu.ReLU, N: images, C: l.out, H: size, W: size, KH: 2, KW: 2, OH: size / 2, OW: size / 2, SH: 2, SW: 2, DH: 1, DW: 1}
		x, w, bias, y := value(images*l.in*size*size), value(l.out*l.in*9), value(l.out), value(images*l.out*size*size)
		pooled, index := value(images*l.out*size*size/4), value(images*l.out*size*size/4)
		run(t, d, gpu.Conv2D, gpu.Float32, &c, x, w, bias, y)
		run(t, d, gpu.MaxPool, gpu.Float32, &p, y, pooled, index)
		run(t, d, gpu.MaxPoolBwd, gpu.Float32, &p, pooled, index, y)
		run(t, d, gpu.Conv2DParamBwd, gpu.Float32, &c, y, x, w, bias)
		run(t, d, gpu.Conv2DBwd, gpu.Float32, &c, y, w, x)
	}
	for _, v := range all {
		v.Storage.Free()
	}
	d.Trim()
}

// copies goes both ways with less and more than the staging memory holds.
func copies(t *testing.T, b gpu.Backend) {
	d := gpu.New(b)
	for _, bytes := range []int64{12, 4096, 3*halfBytes + 8} {
		s := d.FromHost(make([]byte, bytes), "data", gpu.Data)
		o := d.NewStorage(bytes, "copy", gpu.Temporary)
		run(t, d, gpu.Copy, gpu.Float32, &gpu.CopyParams{N: uint32(bytes / 4), Rank: 1, Dims: gpu.Dims{uint32(bytes / 4)}, X: gpu.Strides{1}}, s.All(), o.All())
		if err := o.Read(make([]byte, bytes), 0); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*gpu.Storage{s, o} {
			s.Free()
			d.Trim()
		}
	}
}

func run(t *testing.T, d *gpu.Device, k gpu.Kernel, dtype gpu.DType, params any, args ...gpu.View) {
	t.Helper()
	if err := d.Run(k, dtype, params, args...); err != nil {
		t.Fatal(err)
	}
}

// outOfMemory fills the device with what the host has a copy of, and sees the
// oldest make room.
func outOfMemory(t *testing.T, b gpu.Backend) {
	d := gpu.New(b)
	d.SetCollectBudget(1 << 40) // no collection but the one for lack of memory
	fake.set("memory", fake.used()+4<<20)
	defer fake.set("memory", 1<<34)
	x := make([]byte, 1<<20)
	out := d.NewStorage(4, "out", gpu.Temporary)
	var kept [6]*gpu.Storage
	for i := range kept {
		s := d.FromHost(x, "data", gpu.Data)
		run(t, d, gpu.Reduce, gpu.Float32, &gpu.ReduceParams{Scale: 1, Outer: 1, Axis: 1000, Inner: 1}, gpu.View{Storage: s, Bytes: 4000}, out.All())
		kept[i] = s
	}
	if n := d.Counters().Spills; n == 0 {
		t.Error("nothing was spilled")
	}
	for _, s := range append(kept[:], out) {
		s.Free()
		d.Trim()
	}
}

// training is a perceptron whose errors end the test.
type training struct {
	*perceptron.Net
	t *testing.T
	b gpu.Backend
}

func newTraining(t *testing.T, b gpu.Backend) *training {
	t.Helper()
	n, err := perceptron.New(b, gpu.Float32, 8, 12, 40, 10)
	if err != nil {
		t.Fatal(err)
	}
	return &training{n, t, b}
}

func (n *training) step() {
	n.t.Helper()
	if err := n.Step(); err != nil {
		n.t.Fatal(err)
	}
}

func (n *training) learned() []byte {
	n.t.Helper()
	all, err := n.Learned()
	if err != nil {
		n.t.Fatal(err)
	}
	return all
}
