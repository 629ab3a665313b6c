package nn_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gradbook/autograd"
	"gradbook/autograd/data"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/gpu"
	"gradbook/gpu/host"
	"gradbook/gpu/trial"
	"gradbook/tensor"
)

// misuse runs f and returns the message of the error it must panic with.
func misuse(t *testing.T, f func()) (msg string) {
	t.Helper()
	defer func() {
		t.Helper()
		e, ok := recover().(error)
		if !ok {
			t.Fatal("no error")
		}
		msg = e.Error()
	}()
	f()
	return ""
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

func TestLosses(t *testing.T) {
	p, y := autograd.New([]float64{1, -2, 3}), autograd.New([]float64{0, 1, 1})
	near(t, "mse", nn.MSE(p, y).Item(), (1+9+4)/3.0)
	near(t, "l1", nn.L1(p, y).Item(), (1+3+2)/3.0)
	bce := 0.0
	for i, x := range []float64{1, -2, 3} {
		s := 1 / (1 + math.Exp(-x))
		if i == 0 {
			s = 1 - s
		}
		bce -= math.Log(s) / 3
	}
	near(t, "bce", nn.BCEWithLogits(p, y).Item(), bce)
	near(t, "bce of large logits", nn.BCEWithLogits(autograd.New([]float64{200, -200}), autograd.New([]float64{1, 1})).Item(), 100)
	logits := autograd.New([]float64{1, 2, 3, 1, 1, 1}, 2, 3)
	want := (math.Log(math.Exp(1)+math.Exp(2)+math.Exp(3)) - 2 + math.Log(3)) / 2
	near(t, "cross entropy", nn.CrossEntropy(logits, autograd.Const(tensor.FromInts([]int{1, 0}))).Item(), want)
	for name, loss := range map[string]func(a, b *autograd.Var) *autograd.Var{"mse": nn.MSE, "l1": nn.L1, "bce_with_logits": nn.BCEWithLogits} {
		msg := misuse(t, func() { loss(autograd.Const(tensor.Ones(3, 1)), autograd.Const(tensor.Ones(3))) })
		if !strings.Contains(msg, name+" of float32 (3, 1), float32 (3,): the shapes differ") {
			t.Error(msg)
		}
		if err := autograd.GradCheck(func(v []*autograd.Var) *autograd.Var { return loss(v[0], v[1]) }, tensor.New([]float64{0.3, -0.4, 2}), tensor.New([]float64{0.9, 0.1, 0.4})); err != nil {
			t.Error(name, err)
		}
	}
}

func pairs(n int) *data.Dataset {
	labels := make([]int, n)
	values := make([]float64, 2*n)
	for i := range labels {
		labels[i] = i % 2
		values[2*i+labels[i]] = 1 + float64(i%5)
	}
	return data.New(tensor.New(values, n, 2), tensor.FromInts(labels))
}

func TestAccuracy(t *testing.T) {
	d := pairs(2500)
	right := nn.Activation("right", func(x *autograd.Var) *autograd.Var { return x })
	wrong := nn.Activation("wrong", (*autograd.Var).Neg)
	drop := nn.Dropout(1)
	if a := nn.Accuracy(right, d); a != 1 {
		t.Error(a)
	}
	if a := nn.Accuracy(wrong, d); a != 0 {
		t.Error(a)
	}
	if a := nn.Accuracy(nn.Sequential(drop, right), d); a != 1 {
		t.Error("dropout was on:", a)
	}
	if was := drop.SetTraining(true); !was {
		t.Error("dropout stayed off")
	}
	first := nn.Activation("first", func(x *autograd.Var) *autograd.Var {
		return x.Mul(autograd.New([]float64{0, 0})).Add(autograd.New([]float64{1, 0}))
	})
	if a := nn.Accuracy(first, d); a != 0.5 {
		t.Error(a)
	}
	// One logit a row: the second input is positive where the label is 1.
	one := nn.Activation("second", func(x *autograd.Var) *autograd.Var { return x.Slice(1, 1, 2) })
	if a := nn.Accuracy(one, d); a != 1 {
		t.Error(a)
	}
	floats := data.New(d.X.Value, d.Y.Value.Cast(tensor.Float32).Reshape(-1, 1))
	if a, b := nn.Accuracy(one, floats), nn.Accuracy(right, floats); a != 1 || b != 1 {
		t.Error(a, b)
	}
	dev := d.X.Device()
	before := dev.Counters()
	nn.Accuracy(wrong, d)
	if n := dev.Counters().Sub(before); n.Reads != 1 {
		t.Errorf("%d waits for the device", n.Reads)
	}
}

func TestSummary(t *testing.T) {
	m := nn.Sequential(nn.Conv2D(1, 4, 3, 1, 1), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Dropout(0.5), nn.Linear(4*4*4, 10))
	want := `layer                result      parameters  bytes
0 Conv2D(1, 4, 3x3)  2, 4, 8, 8  40          160 B
1 ReLU()             2, 4, 8, 8  0           0 B
2 MaxPool2D(2)       2, 4, 4, 4  0           0 B
3 Flatten()          2, 64       0           0 B
4 Dropout(0.5)       2, 64       0           0 B
5 Linear(64, 10)     2, 10       650         2.5 KiB
total                            690         2.7 KiB`
	if got := nn.Summary(m, 2, 1, 8, 8).String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := nn.Summary(nn.Linear(2, 3)).String(); !strings.Contains(got, "total           9           36 B") {
		t.Error(got)
	}
}

// A step of the textbook model is as few launches as its operations allow.
func TestLaunchesOfAStep(t *testing.T) {
	dev := gpu.New(host.New())
	x, y := synthetic(dev, 8, 20)
	model := mlp(nn.On(dev), []int{20, 16, 16, 10}, nn.ReLU)
	opt := optim.Adam(model.Params(), 1e-3)
	step := func() {
		nn.CrossEntropy(model.Forward(x), y).Backward()
		opt.Step()
	}
	step()
	before := dev.Counters()
	step()
	n := dev.Counters().Sub(before)
	for k, want := range map[gpu.Kernel]int64{
		gpu.Linear: 3, gpu.Xent: 1, gpu.Reduce: 1, // forward
		gpu.Fill: 0, gpu.XentBwd: 1, gpu.LinearParamBwd: 3, gpu.Gemm: 2, gpu.Binary: 2, // backward
		gpu.Count: 1, gpu.AdamStep: 6,
	} {
		if n.Launches[k] != want {
			t.Errorf("%d launches of %s, want %d", n.Launches[k], k, want)
		}
	}
	if n.TotalLaunches() != 20 || n.BytesUp+n.BytesDown != 0 || n.Reads != 0 {
		t.Errorf("%d launches, %d bytes up, %d down, %d reads", n.TotalLaunches(), n.BytesUp, n.BytesDown, n.Reads)
	}
}

// A convolution is one launch with its activation; a ReLU before pooling is one
// with the pooling.
func TestLaunchesOfAConvolution(t *testing.T) {
	dev := gpu.New(host.New())
	defer dev.Close()
	x, _ := synthetic(dev, 2, 1, 8, 8)
	on := nn.On(dev)
	model := nn.Sequential(on.Conv2D(1, 2, 3, 1, 1), nn.Sigmoid(), on.Conv2D(2, 4, 3, 1, 1), nn.ReLU(), nn.MaxPool2D(2), on.Conv2D(4, 2, 3, 1, 1), nn.ReLU())
	before := dev.Counters()
	y := model.Forward(x)
	forward := dev.Counters().Sub(before)
	if forward.Launches[gpu.Conv2D] != 3 || forward.Launches[gpu.MaxPool] != 1 || forward.TotalLaunches() != 4 {
		t.Errorf("forward: %d launches, %d of conv2d", forward.TotalLaunches(), forward.Launches[gpu.Conv2D])
	}
	before = dev.Counters()
	y.Sum().Backward()
	n := dev.Counters().Sub(before)
	for k, want := range map[gpu.Kernel]int64{
		gpu.Conv2DParamBwd: 3, gpu.Conv2DBwd: 2, gpu.MaxPoolBwd: 1, gpu.Binary: 2, // derivatives of ReLU and Sigmoid
		gpu.Im2col: 0, gpu.Gemm: 0,
	} {
		if n.Launches[k] != want {
			t.Errorf("backward: %d launches of %s, want %d", n.Launches[k], k, want)
		}
	}
}

// A fused activation must be the same function as its own layer.
func TestFusedEqualsSeparate(t *testing.T) {
	for _, c := range []struct {
		layer nn.Module
		shape []int
		after []nn.Module
	}{
		{nn.Linear(5, 4), []int{3, 5}, []nn.Module{nn.ReLU()}},
		{nn.Linear(5, 4), []int{3, 5}, []nn.Module{nn.Sigmoid()}},
		{nn.Linear(5, 4), []int{3, 5}, []nn.Module{nn.Tanh()}},
		{nn.Conv2D(2, 3, 3, 1, 1), []int{2, 2, 4, 5}, []nn.Module{nn.ReLU()}},
		{nn.Conv2D(2, 3, 3, 1, 1), []int{2, 2, 4, 5}, []nn.Module{nn.Sigmoid()}},
		{nn.Conv2D(2, 3, 3, 1, 1), []int{2, 2, 4, 5}, []nn.Module{nn.ReLU(), nn.MaxPool2D(2)}},
		{nn.Conv2D(2, 3, 3, 1, 1), []int{2, 2, 4, 5}, []nn.Module{nn.Tanh(), nn.MaxPool2D(2)}},
	} {
		l, name := c.layer, fmt.Sprint(c.layer, c.after)
		x := autograd.Leaf(tensor.Randn(c.shape...))
		grads := func(y *autograd.Var) (all []float64) {
			all = y.Float64s()
			y.Square().Sum().Backward()
			for _, v := range append(l.Params(), x) {
				all = append(all, v.Grad.Float64s()...)
				v.ZeroGrad()
			}
			return all
		}
		fused := grads(nn.Sequential(append([]nn.Module{l}, c.after...)...).Forward(x))
		y := l.Forward(x)
		for _, m := range c.after {
			y = m.Forward(y)
		}
		apart := grads(y)
		for i := range fused {
			near(t, name, fused[i], apart[i])
		}
	}
}

// What a layer of one's own returns stays its own.
type keeper struct{ last *autograd.Var }

func (k *keeper) Forward(x *autograd.Var) *autograd.Var { k.last = x.MulScalar(2); return k.last }
func (k *keeper) Params() []*autograd.Var               { return nil }

func TestOwnLayersKeepResults(t *testing.T) {
	k := &keeper{}
	var seen *autograd.Var
	look := nn.Activation("look", func(x *autograd.Var) *autograd.Var { seen = x.Exp(); return seen })
	m := nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), k, nn.Dropout(0)), nn.Tanh(), look, nn.Linear(2, 2))
	run := func() *autograd.Var { return m.Forward(autograd.Const(tensor.Ones(1, 2))).Sum() }
	run().Backward()
	if k.last.Value.Freed() || seen.Value.Freed() {
		t.Error("Backward freed it")
	}
	autograd.NoGrad(func() { run() })
	if k.last.Value.Freed() || seen.Value.Freed() {
		t.Error("a run without a tape freed it")
	}
}

func TestSaveLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	d := pairs(64)
	build := func(seed uint64) (*nn.Model, *optim.Optimizer) {
		tensor.Seed(seed)
		m := nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
		return m, optim.Adam(m.Params(), 0.01, optim.WithSchedule(optim.StepLR(3, 0.5)))
	}
	train := func(m *nn.Model, o *optim.Optimizer, steps int) (bits []float64) {
		for range steps {
			nn.CrossEntropy(m.Forward(d.Rows(0, 64).X), d.Rows(0, 64).Y).Backward()
			o.Step()
		}
		for _, p := range m.Params() {
			bits = append(bits, p.Float64s()...)
		}
		return bits
	}
	m, o := build(1)
	train(m, o, 4)
	nn.Save(path, m, o)
	want := train(m, o, 4)
	n, p := build(2)
	nn.Load(path, n, p)
	if got := train(n, p, 4); !slices.Equal(got, want) || p.Steps() != 8 {
		t.Error("training did not resume with the same bits")
	}
	// What does not fit changes nothing.
	other := nn.Sequential(nn.Linear(2, 9), nn.Tanh(), nn.Linear(9, 2))
	before := other.Params()[3].Float64s()
	msg := misuse(t, func() { nn.Load(path, other) })
	if !strings.Contains(msg, path+": does not fit: model.layers[0].B is float32 [8], not float32 [9]; model.layers[0].W") || !slices.Equal(before, other.Params()[3].Float64s()) {
		t.Error(msg)
	}
	if msg := misuse(t, func() { nn.Load(path, nn.Linear(2, 8)) }); !strings.Contains(msg, "model.W is missing") {
		t.Error(msg)
	}
	if msg := misuse(t, func() { nn.Load(path+"x", m) }); !strings.Contains(msg, os.ErrNotExist.Error()) && !strings.Contains(msg, "no such file") {
		t.Error(msg)
	}
}

// Out of memory: an error that tells the largest owners, and training goes on
// with a smaller batch.
func TestOutOfMemory(t *testing.T) {
	dev := gpu.New(trial.Small(host.New(), 4<<20))
	model := mlp(nn.On(dev), []int{256, 64, 10}, nn.ReLU)
	opt := optim.Adam(model.Params(), 1e-3)
	step := func(n int) {
		x, y := synthetic(dev, n, 256)
		nn.CrossEntropy(model.Forward(x), y).Backward()
		opt.Step()
	}
	step(64)
	msg := misuse(t, func() { step(8192) })
	if !strings.Contains(msg, "is out of memory") || !strings.Contains(msg, "layers[0].W") {
		t.Error(msg)
	}
	step(64)
	if opt.Steps() != 2 {
		t.Error(opt.Steps())
	}
}
