package tensor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gradbook/gpu"
)

func want(t *testing.T, got *Tensor, shape []int, values ...float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), shape) {
		t.Fatalf("shape %v, want %v", got.Shape(), shape)
	}
	for i, v := range got.Float64s() {
		if math.Abs(v-values[i]) > 1e-5*(1+math.Abs(v)) {
			t.Fatalf("%v, want %v", got.Float64s(), values)
		}
	}
}

// misuse runs f and returns the Error that it must panic with.
func misuse(t *testing.T, f func()) (e *Error) {
	t.Helper()
	defer func() {
		t.Helper()
		var ok bool
		if e, ok = recover().(*Error); !ok {
			t.Fatal("no Error")
		}
	}()
	f()
	return nil
}

func iota2(r, c int) *Tensor { return Arange(0, float64(r*c), 1).Reshape(r, c) }

func TestBroadcast(t *testing.T) {
	m := iota2(2, 3)
	want(t, m.Add(New([]float64{10, 20, 30})), []int{2, 3}, 10, 21, 32, 13, 24, 35)
	want(t, m.Add(New([]float64{10, 20}, 2, 1)), []int{2, 3}, 10, 11, 12, 23, 24, 25)
	want(t, New([]float64{1, 2}, 2, 1).Mul(New([]float64{3, 4})), []int{2, 2}, 3, 4, 6, 8)
	want(t, m.Sub(Scalar(1)), []int{2, 3}, -1, 0, 1, 2, 3, 4)
	want(t, m.T().Add(m.T()), []int{3, 2}, 0, 6, 2, 8, 4, 10)
	want(t, Where(m.Greater(Scalar(2)), m, Scalar(-1)), []int{2, 3}, -1, -1, -1, 3, 4, 5)
}

func TestViews(t *testing.T) {
	m := iota2(3, 4)
	want(t, m.T(), []int{4, 3}, 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)
	want(t, m.Slice(1, 1, 3), []int{3, 2}, 1, 2, 5, 6, 9, 10)
	want(t, m.Slice(0, -2, 3), []int{2, 4}, 4, 5, 6, 7, 8, 9, 10, 11)
	want(t, m.Index(-1), []int{4}, 8, 9, 10, 11)
	want(t, m.Index(1, 2), nil, 6)
	want(t, m.T().Index(1), []int{3}, 1, 5, 9)
	want(t, m.Reshape(2, -1).T(), []int{6, 2}, 0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11)
	want(t, m.T().Reshape(12), []int{12}, 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)
	want(t, m.Unsqueeze(1).Squeeze(1).Unsqueeze(-1).Sum(0), []int{4, 1}, 12, 15, 18, 21)
	want(t, m.Slice(1, 0, 2).Exp().Log(), []int{3, 2}, 0, 1, 4, 5, 8, 9)
	want(t, m.Reshape(3, 2, 2).Permute(2, 0, 1), []int{2, 3, 2}, 0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11)
	want(t, New([]float64{1, 2}).BroadcastTo(2, 2).T(), []int{2, 2}, 1, 1, 2, 2)
	if !m.Reshape(2, 6).SameStorage(m) || !m.Slice(1, 0, 2).Reshape(3, 2, 1).SameStorage(m) {
		t.Error("a reshape that strides allow made a copy")
	}
}

// Views must launch nothing, and a strided operand of an element-wise
// operation must need no copy.
func TestLaunches(t *testing.T) {
	m := iota2(4, 6)
	dev := m.Device()
	launches := func(f func()) (n int64) {
		before := dev.Counters()
		f()
		d := dev.Counters().Sub(before)
		return d.TotalLaunches()
	}
	if n := launches(func() { m.T().Reshape(6, 2, 2).Slice(0, 1, 3).BroadcastTo(3, 2, 2, 2).Index(1) }); n != 0 {
		t.Errorf("views launched %d times", n)
	}
	if n := launches(func() { m.T().Add(m.Reshape(6, 4)) }); n != 1 {
		t.Errorf("a strided add launched %d times", n)
	}
	if n := launches(func() { m.T().MatMul(m.Slice(1, 2, 4)) }); n != 1 {
		t.Errorf("a product of views launched %d times", n)
	}
	if n := launches(func() { m.Sum() }); n != 1 {
		t.Errorf("a full sum launched %d times", n)
	}
}

func TestReduce(t *testing.T) {
	m := Arange(0, 24, 1).Reshape(2, 3, 4)
	want(t, m.Sum(), nil, 276)
	want(t, m.Mean(0, 2), []int{3}, 7.5, 11.5, 15.5)
	want(t, m.Sum(1), []int{2, 4}, 12, 15, 18, 21, 48, 51, 54, 57)
	want(t, m.MaxKeep(-1, 0), []int{1, 3, 1}, 15, 19, 23)
	want(t, m.Permute(2, 0, 1).Min(1, 2), []int{4}, 0, 1, 2, 3)
	want(t, Scalar(3).Mean(), nil, 3)
	want(t, m.SumTo(3, 1), []int{3, 1}, 60, 92, 124)
	want(t, m.SumTo(), nil, 276)
	if got := m.ArgMax(1).Ints(); !slices.Equal(got, []int{2, 2, 2, 2, 2, 2, 2, 2}) {
		t.Error(got)
	}
	if got := New([]float64{3, 9, 9, 1}, 2, 2).T().ArgMax(-1).Ints(); !slices.Equal(got, []int{1, 0}) {
		t.Error(got)
	}
}

// reference is the product by its definition.
func reference(a, b *Tensor) []float64 {
	m, k, n := a.Dim(-2), a.Dim(-1), b.Dim(-1)
	x, y := a.Float64s(), b.Float64s()
	batch := max(a.Len()/(m*k), b.Len()/(k*n))
	var out []float64
	for g := range batch {
		for i := range m {
			for j := range n {
				s := 0.0
				for l := range k {
					s += x[(g*m*k+i*k+l)%len(x)] * y[(g*k*n+l*n+j)%len(y)]
				}
				out = append(out, s)
			}
		}
	}
	return out
}

func TestMatMul(t *testing.T) {
	Seed(1)
	r := func(shape ...int) *Tensor { return As(Float64).Rand(shape...) }
	cases := []struct {
		name  string
		a, b  *Tensor
		shape []int
	}{
		{"plain", r(3, 4), r(4, 5), []int{3, 5}},
		{"transposed", r(4, 3).T(), r(5, 4).T(), []int{3, 5}},
		{"sliced", r(3, 9).Slice(1, 2, 6), r(9, 5).Slice(0, 1, 5), []int{3, 5}},
		{"strided both ways", r(3, 4, 2).Permute(2, 0, 1).Index(1), r(4, 5), []int{3, 5}},
		{"repeated rows", r(1, 4).BroadcastTo(3, 4), r(4, 5), []int{3, 5}},
		{"row", r(1, 4), r(4, 5), []int{1, 5}},
		{"column", r(3, 1), r(1, 5), []int{3, 5}},
		{"batch by matrix", r(2, 3, 4), r(4, 5), []int{2, 3, 5}},
		{"matrix by batch", r(3, 4), r(2, 4, 5), []int{2, 3, 5}},
		{"batches", r(2, 3, 4), r(2, 5, 4).T(), []int{2, 3, 5}},
		{"two batch dimensions", r(2, 6, 3, 4), r(2, 6, 4, 5), []int{2, 6, 3, 5}},
		{"permuted batch by matrix", r(3, 2, 4).Transpose(0, 1), r(4, 5), []int{2, 3, 5}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want(t, c.a.MatMul(c.b), c.shape, reference(c.a.Clone(), c.b.Clone())...)
			want(t, Product(c.a.T().Clone(), c.b.T().Clone(), true, true), c.shape, reference(c.a.Clone(), c.b.Clone())...)
		})
	}
	want(t, New([]float64{1, 2}).MatMul(New([]float64{3, 4})), nil, 11)
	want(t, iota2(2, 3).MatMul(New([]float64{1, 1, 1})), []int{2}, 3, 12)
	want(t, New([]float64{1, 1}).MatMul(iota2(2, 3)), []int{3}, 3, 5, 7)
	want(t, New([]float64{1, 1}).MatMul(Arange(0, 12, 1).Reshape(2, 2, 3)), []int{2, 3}, 3, 5, 7, 15, 17, 19)
}

func TestRows(t *testing.T) {
	m := iota2(4, 2)
	ix := FromInts([]int{3, 0, 3})
	want(t, m.Gather(ix), []int{3, 2}, 6, 7, 0, 1, 6, 7)
	want(t, m.Gather(ix).ScatterAdd(ix, 4, 2), []int{4, 2}, 0, 1, 0, 0, 0, 0, 12, 14)
	want(t, Concat(1, m, m.T().Reshape(4, 2)), []int{4, 4}, 0, 1, 0, 2, 2, 3, 4, 6, 4, 5, 1, 3, 6, 7, 5, 7)
	want(t, Stack(0, New([]float64{1, 2}), New([]float64{3, 4})), []int{2, 2}, 1, 2, 3, 4)
	want(t, Stack(-1, New([]float64{1, 2}), New([]float64{3, 4})), []int{2, 2}, 1, 3, 2, 4)
	want(t, OneHot(FromInts([]int{2, 0}), 3), []int{2, 3}, 0, 0, 1, 1, 0, 0)
	want(t, New([]float64{1, 2}, 2, 1).Expand(1, 1, 2, 3), []int{2, 3}, 0, 1, 0, 0, 2, 0)
	if v := m.Gather(FromInts([]int{4})).Float64s(); !math.IsNaN(v[0]) {
		t.Error("a row outside the table is", v)
	}
}

func TestInPlace(t *testing.T) {
	m := iota2(2, 3)
	v := m.Version()
	m.AddInPlace(Ones(2, 3), 10)
	m.Slice(1, 0, 1).Fill(-1)
	m.Index(1).CopyFrom(New([]float64{7}))
	m.T().AddInPlace(Ones(3, 2), 1)
	want(t, m, []int{2, 3}, 0, 12, 13, 8, 8, 8)
	if m.Version() == v {
		t.Error("writes in place were not counted")
	}
	m.Set([]float64{1, 2, 3, 4, 5, 6})
	m.T().Index(0).Set([]float64{8, 9})
	want(t, m, []int{2, 3}, 8, 2, 3, 9, 5, 6)
	misuse(t, func() { New([]float64{1}).BroadcastTo(3).CopyFrom(Ones(3)) })
}

func TestDTypes(t *testing.T) {
	want(t, New([]float64{1.9, -1.9}).Cast(Int32), []int{2}, 1, -1)
	want(t, FromInts([]int{1, 2}).Cast(Float64).Add(As(Float64).Scalar(0.5)), []int{2}, 1.5, 2.5)
	want(t, FromInts([]int{1<<30 + 1, 2}).Equal(FromInts([]int{1 << 30, 2})), []int{2}, 0, 1)
	want(t, FromInts([]int{1, 5, 3}).Less(FromInts([]int{4})), []int{3}, 1, 0, 1)
	if e := misuse(t, func() { Ones(2).Add(As(Float64).Ones(2)) }); e.Op != "add" || !strings.Contains(e.Error(), "Cast") {
		t.Error(e)
	}
	if e := misuse(t, func() { FromInts([]int{1}).Exp() }); !strings.Contains(e.Error(), "int32 (1,)") {
		t.Error(e)
	}
}

func TestErrors(t *testing.T) {
	a := Ones(3, 4).SetName("images")
	e := misuse(t, func() { a.MatMul(Ones(5, 6)) })
	const msg = "matmul of images float32 (3, 4), float32 (5, 6): the inner sizes 4 and 5 differ; transpose an operand with T if its dimensions are the wrong way round"
	if e.Error() != msg {
		t.Errorf("%s\nwant %s", e, msg)
	}
	for name, f := range map[string]func(){
		"broadcast": func() { a.Add(Ones(3)) },
		"reshape":   func() { a.Reshape(5, -1) },
		"slice":     func() { a.Slice(0, 2, 2) },
		"index":     func() { a.Index(3) },
		"dim":       func() { a.Sum(2) },
		"twice":     func() { a.Sum(1, -1) },
		"shape":     func() { Zeros(2, 0) },
		"rank":      func() { Zeros(1, 1, 1, 1, 1, 1, 1) },
		"large":     func() { Zeros(1<<20, 1<<20) },
		"values":    func() { New([]float64{1, 2}, 3) },
		"nil":       func() { a.Add(nil) },
		"labels":    func() { CrossEntropy(a, Ones(3)) },
		"item":      func() { a.Item() },
		"window":    func() { Im2col(Ones(1, 1, 2, 2), Square(3, 1, 0)) },
	} {
		t.Run(name, func(t *testing.T) { misuse(t, f) })
	}
}

func TestFreed(t *testing.T) {
	a := Ones(2).SetName("a")
	a.Free()
	defer func() {
		e, _ := recover().(error)
		var d *DeviceError
		if !errors.Is(e, gpu.ErrFreed) || !errors.As(e, &d) || d.Interrupted() {
			t.Error(e)
		}
		if s := a.String(); !strings.HasSuffix(s, "freed") {
			t.Error(s)
		}
	}()
	a.Exp()
}

func TestInterrupt(t *testing.T) {
	a := Ones(2)
	a.Device().Interrupt()
	defer a.Device().Resume()
	defer func() {
		if d, ok := recover().(*DeviceError); !ok || !d.Interrupted() {
			t.Error(d)
		}
	}()
	a.Exp()
}

func TestString(t *testing.T) {
	for _, c := range []struct {
		t    *Tensor
		want string
	}{
		{Scalar(2.5), "float32 () on host\n2.5"},
		{iota2(2, 2).SetName("m"), "m: float32 (2, 2) on host\n[[0 1]\n [2 3]]"},
		{FromInts([]int{1, 2}), "int32 (2,) on host\n[1 2]"},
		{Arange(0, 100, 1), "float32 (100,) on host\n[0 1 2 ... 97 98 99]"},
		{iota2(100, 2), "float32 (100, 2) on host\n[[0 1]\n [2 3]\n [4 5]\n ...\n [194 195]\n [196 197]\n [198 199]]"},
	} {
		c.want = strings.Replace(c.want, "host", c.t.Device().String(), 1)
		if got := c.t.String(); got != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
}

func TestSeed(t *testing.T) {
	Seed(7)
	a, b := Randn(1000).Float64s(), Rand(10).Float64s()
	Seed(7)
	if !slices.Equal(a, Randn(1000).Float64s()) || !slices.Equal(b, Rand(10).Float64s()) {
		t.Error("the same seed gave other numbers")
	}
	if slices.Equal(b, Rand(10).Float64s()) {
		t.Error("the generator stands still")
	}
	m, s := New(a).Mean().Item(), New(a).Square().Mean().Item()
	if math.Abs(m) > 0.1 || math.Abs(s-1) > 0.1 {
		t.Errorf("mean %g, variance %g", m, s)
	}
}
