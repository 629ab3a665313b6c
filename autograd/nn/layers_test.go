package nn_test

import (
	"math"
	"slices"
	"testing"

	"gradbook/autograd"
	"gradbook/autograd/nn"
	"gradbook/gpu"
	"gradbook/tensor"
)

// A layer of one's own, as a cell would write it.
type scaled struct{ s *autograd.Var }

func (l *scaled) Forward(x *autograd.Var) *autograd.Var { return x.Mul(l.s) }
func (l *scaled) Params() []*autograd.Var               { return []*autograd.Var{l.s} }

// layers is one of each kind, with a shape that it takes.
func layers(on nn.Maker) map[string]struct {
	m     nn.Module
	shape []int
	want  []int
} {
	type c = struct {
		m     nn.Module
		shape []int
		want  []int
	}
	t := tensor.Maker(on)
	return map[string]c{
		"linear":     {on.Linear(3, 4), []int{2, 3}, []int{2, 4}},
		"linear 3d":  {on.Linear(3, 4).Init(nn.XavierNormal), []int{2, 5, 3}, []int{2, 5, 4}},
		"conv2d":     {on.Conv2D(2, 3, 3, 2, 1), []int{2, 2, 5, 6}, []int{2, 3, 3, 3}},
		"conv2d 1x2": {on.Conv2DWindow(2, 3, tensor.Window{Height: 1, Width: 2}), []int{1, 2, 2, 3}, []int{1, 3, 2, 2}},
		"maxpool2d":  {nn.MaxPool2D(2), []int{1, 2, 5, 4}, []int{1, 2, 2, 2}},
		"layernorm":  {on.LayerNorm(5), []int{2, 3, 5}, []int{2, 3, 5}},
		"flatten":    {nn.Flatten(), []int{2, 3, 4}, []int{2, 12}},
		"relu":       {nn.ReLU(), []int{2, 3}, []int{2, 3}},
		"sigmoid":    {nn.Sigmoid(), []int{2, 3}, []int{2, 3}},
		"tanh":       {nn.Tanh(), []int{2, 3}, []int{2, 3}},
		"gelu":       {nn.GELU(), []int{2, 3}, []int{2, 3}},
		"silu":       {nn.SiLU(), []int{2, 3}, []int{2, 3}},
		"softmax":    {nn.Softmax(), []int{2, 3}, []int{2, 3}},
		"own layer":  {&scaled{autograd.Param(t.Ones(3))}, []int{2, 3}, []int{2, 3}},
		"activation": {nn.Activation("square", (*autograd.Var).Square), []int{2, 3}, []int{2, 3}},
		"sequence": {nn.Sequential(on.Linear(3, 4), nn.Tanh(), nn.Sequential(on.Linear(4, 5), nn.GELU(), &scaled{autograd.Param(t.Ones(5))}), nn.Softmax()),
			[]int{2, 3}, []int{2, 5}},
	}
}

// swap puts other variables in the place of a module's parameters, and returns
// those left over.
func swap(m nn.Module, v []*autograd.Var) (rest []*autograd.Var) {
	set := func(ps ...**autograd.Var) []*autograd.Var {
		for i, p := range ps {
			*p = v[i]
		}
		return v[len(ps):]
	}
	switch l := m.(type) {
	case *nn.LinearLayer:
		return set(&l.W, &l.B)
	case *nn.Conv2DLayer:
		return set(&l.W, &l.B)
	case *nn.LayerNormLayer:
		return set(&l.Gamma, &l.Beta)
	case *scaled:
		return set(&l.s)
	case nn.Container:
		for _, inner := range l.Modules() {
			v = swap(inner, v)
		}
	}
	return v
}

// Gradients of each layer, with respect to its input and its parameters.
func TestLayers(t *testing.T) {
	tensor.Seed(2)
	for name, c := range layers(nn.As(tensor.Float64)) {
		t.Run(name, func(t *testing.T) {
			params := c.m.Params()
			inputs := []*tensor.Tensor{tensor.As(tensor.Float64).Randn(c.shape...)}
			for _, p := range params {
				inputs = append(inputs, p.Value.Clone())
			}
			err := autograd.GradCheck(func(v []*autograd.Var) *autograd.Var {
				// The layer computes with the variables that are checked.
				swap(c.m, v[1:])
				y := c.m.Forward(v[0])
				if !slices.Equal(y.Shape(), c.want) {
					t.Fatalf("result %v, want %v", y.Shape(), c.want)
				}
				return y
			}, inputs...)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestInit(t *testing.T) {
	for name, c := range map[string]struct {
		init nn.Init
		dev  float64
	}{
		"kaiming normal":  {nn.KaimingNormal, math.Sqrt(2.0 / 200)},
		"kaiming uniform": {nn.KaimingUniform, math.Sqrt(2.0 / 200)},
		"xavier normal":   {nn.XavierNormal, math.Sqrt(2.0 / 300)},
		"xavier uniform":  {nn.XavierUniform, math.Sqrt(2.0 / 300)},
		"fan in":          {nn.FanIn, 1 / math.Sqrt(3*200)},
		"normal":          {nn.Normal, 1},
		"zero":            {nn.Zero, 0},
	} {
		w := nn.Linear(200, 100).Init(c.init).W.Value
		mean, dev := w.Mean().Item(), math.Sqrt(w.Square().Mean().Item())
		if math.Abs(mean) > c.dev/30 || math.Abs(dev-c.dev) > c.dev/30 {
			t.Errorf("%s: mean %g, deviation %g, want 0 and %g", name, mean, dev, c.dev)
		}
	}
}

// The same seed gives the same bits on every device.
func TestSeed(t *testing.T) {
	bits := func(seed uint64, name string) (all []float64) {
		dev, err := gpu.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		if err := dev.Seed(seed); err != nil {
			t.Fatal(err)
		}
		on := nn.On(dev)
		for _, p := range nn.Sequential(on.Linear(3, 4), on.LayerNorm(4), on.Linear(4, 2)).Params() {
			all = append(all, p.Float64s()...)
		}
		return all
	}
	a := bits(1, "host:0")
	if !slices.Equal(a, bits(1, "host:1")) {
		t.Error("another device starts otherwise")
	}
	if slices.Equal(a, bits(2, "host:0")) {
		t.Error("the seed does nothing")
	}
}

func TestNames(t *testing.T) {
	m := nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Sequential(nn.LayerNorm(3), nn.Embedding(3, 2)), &scaled{autograd.Param(tensor.Ones(1))})
	var names []string
	for _, p := range m.Params() {
		names = append(names, p.Name())
		if o := p.Value.Storage().Owner(); o.Name != p.Name() || o.Role != gpu.Parameter {
			t.Error(o)
		}
	}
	want := []string{"layers[0].W", "layers[0].B", "layers[2].layers[0].Gamma", "layers[2].layers[0].Beta", "layers[2].layers[1].Table", "layers[3].0"}
	if !slices.Equal(names, want) {
		t.Error(names)
	}
}

func TestEmbedding(t *testing.T) {
	e := nn.Embedding(4, 3)
	y := e.Forward(autograd.Const(tensor.FromInts([]int{3, 0, 3, 1}, 2, 2)))
	if !slices.Equal(y.Shape(), []int{2, 2, 3}) {
		t.Fatal(y.Shape())
	}
	y.Sum().Backward()
	if got := e.Table.Grad.Sum(1).Float64s(); !slices.Equal(got, []float64{3, 3, 0, 6}) {
		t.Error(got)
	}
}

func TestDropout(t *testing.T) {
	tensor.Seed(4)
	d := nn.Dropout(0.25)
	m := nn.Sequential(d)
	x := autograd.Const(tensor.Ones(10000))
	zero, sum := 0, 0.0
	for _, v := range m.Forward(x).Float64s() {
		if v == 0 {
			zero++
		}
		sum += v
	}
	if math.Abs(float64(zero)-2500) > 150 || math.Abs(sum-10000) > 250 {
		t.Errorf("%d of 10000 dropped, sum %g", zero, sum)
	}
	m.Eval()
	if m.Forward(x) != x {
		t.Error("dropout in use changed its input")
	}
	m.Train()
	if slices.Equal(m.Forward(x).Float64s(), m.Forward(x).Float64s()) {
		t.Error("two masks are equal")
	}
	misuse(t, func() { nn.Dropout(1.5) })
}
