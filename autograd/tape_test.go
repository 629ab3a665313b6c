package autograd

import (
	"slices"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/tensor"
)

// misuse runs f and returns the message of the tensor.Error it must panic with.
func misuse(t *testing.T, f func()) (msg string) {
	t.Helper()
	defer func() {
		t.Helper()
		e, ok := recover().(*tensor.Error)
		if !ok {
			t.Fatal("no tensor.Error")
		}
		msg = e.Error()
	}()
	f()
	return ""
}

func equal(t *testing.T, got *tensor.Tensor, want ...float64) {
	t.Helper()
	if v := got.Float64s(); !slices.Equal(v, want) {
		t.Errorf("%v, want %v", v, want)
	}
}

func TestAccumulation(t *testing.T) {
	w := Param(tensor.New([]float64{1, 2}))
	w.Square().Sum().Backward()
	equal(t, w.Grad, 2, 4)
	w.MulScalar(10).Sum().Backward()
	equal(t, w.Grad, 12, 14)
	g := w.Grad
	w.UseGrad()
	w.MulScalar(10).Sum().Backward()
	equal(t, w.Grad, 10, 10)
	equal(t, g, 10, 10) // the handle follows
	w.MulScalar(1).Sum().Backward()
	equal(t, w.Grad, 11, 11)
	w.ZeroGrad()
	if w.Grad != nil {
		t.Error("ZeroGrad left a gradient")
	}
	w.MulScalar(5).Sum().Backward()
	equal(t, w.Grad, 5, 5)
}

// Gradients that share a storage on the way must not be changed through each
// other.
func TestSharedGradients(t *testing.T) {
	a, b := Leaf(tensor.New([]float64{1, 2})), Leaf(tensor.New([]float64{3, 4}))
	first := a.MulScalar(2).Sum() // sends to a last
	both := a.Add(b)              // one gradient for both
	both.MulScalar(1).Sum().Add(first).Backward()
	equal(t, a.Grad, 3, 3)
	equal(t, b.Grad, 1, 1)
	a.Add(b).Sum().Backward()
	equal(t, a.Grad, 4, 4)
	equal(t, b.Grad, 2, 2)
}

func TestConsumedTape(t *testing.T) {
	w := Param(tensor.New([]float64{1, 2}))
	y := w.Square()
	loss := y.Sum()
	loss.Backward()
	for _, f := range []func(){func() { loss.Backward() }, func() { y.Mean().Backward() }} {
		if msg := misuse(t, f); !strings.Contains(msg, "was consumed by an earlier Backward") {
			t.Error(msg)
		}
	}
	equal(t, w.Grad, 2, 4)
	equal(t, y.Value, 1, 4) // what a program holds lives on
}

func TestChangeInPlace(t *testing.T) {
	w := Param(tensor.New([]float64{1, 2})).Named("w")
	loss := w.Square().Sum()
	w.Value.Fill(3)
	if msg := misuse(t, loss.Backward); !strings.Contains(msg, "backward of square of w float32 (2,): a value it needs was changed in place") {
		t.Error(msg)
	}
	if w.Grad != nil {
		t.Error("a Backward that failed left a gradient")
	}
	loss = w.AddScalar(1).Sum()
	w.Value.Fill(4) // nothing needs the old value
	loss.Backward()
	equal(t, w.Grad, 1, 1)
}

func TestMisuse(t *testing.T) {
	w := Param(tensor.New([]float64{1, 2}))
	for want, f := range map[string]func(){
		"not a single number":     w.Square().Backward,
		"no operation on a tape":  func() { NoGrad(func() { w.Sum().Backward() }) },
		"shape is not the":        func() { w.Square().BackwardFrom(tensor.Ones(3)) },
		"returned 1 gradients":    func() { badFunc(1)(w, w).Sum().Backward() },
		"operand 0 has another":   func() { badFunc(2)(w, w).Sum().Backward() },
		"the result of square":    func() { w.Square().Freeze(true) },
		"the shapes do not broad": func() { w.Add(New([]float64{1, 2, 3})) },
	} {
		if msg := misuse(t, f); !strings.Contains(msg, want) {
			t.Errorf("%q lacks %q", msg, want)
		}
	}
	if w.Grad != nil {
		t.Error("misuse left a gradient")
	}
}

func badFunc(grads int) func(...*Var) *Var {
	return Func("bad",
		func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Add(in[1]) },
		func(in []*tensor.Tensor, out, dout *tensor.Tensor) []*tensor.Tensor {
			return slices.Repeat([]*tensor.Tensor{tensor.Ones(1)}, grads)
		})
}

// What compiled code discards goes with the tape; what it views stays as long
// as the view is in use.
func TestDiscard(t *testing.T) {
	w := Param(tensor.New([]float64{1, 2, 3, 4}))
	for _, taped := range []bool{true, false} {
		run := func() {
			h := w.Exp()
			seen := h.Reshape(2, 2)
			hidden := seen.Square()
			out := hidden.Sum()
			h.Discard()
			hidden.Discard()
			if hidden.Value.Freed() == taped {
				t.Errorf("taped %v: a discarded value is freed: %v", taped, !taped)
			}
			if taped {
				out.Backward()
			}
			if !hidden.Value.Freed() || h.Value.Freed() || seen.Value.Freed() {
				t.Errorf("taped %v: freed are hidden %v, h %v, its view %v", taped, hidden.Value.Freed(), h.Value.Freed(), seen.Value.Freed())
			}
			seen.Discard()
			if !h.Value.Freed() {
				t.Errorf("taped %v: the last view went, but not the storage", taped)
			}
		}
		if taped {
			run()
		} else {
			NoGrad(run)
		}
	}
	w.Discard()
	if w.Value.Freed() {
		t.Error("Discard freed a leaf")
	}
}

// After Backward only what the program holds is left.
func TestTapeIsFreed(t *testing.T) {
	dev := gpu.Default()
	w := Param(tensor.New([]float64{1, 2, 3, 4}, 2, 2))
	x := Const(tensor.Ones(3, 2))
	step := func() {
		h := Linear(x, w, New([]float64{0, 0}), TanhActivation)
		d := h.Dropout(0.5)
		loss := CrossEntropy(d, Const(tensor.FromInts([]int{0, 1, 0})))
		h.Discard()
		d.Discard()
		loss.Backward()
		loss.Value.Free()
	}
	step()
	dev.Collect()
	roles := func() (n int) {
		for _, r := range dev.Snapshot().Rows {
			if r.Owner.Role == gpu.Activation || r.Owner.Role == gpu.Temporary && r.Owner.Op != "new" {
				n++
			}
		}
		return n
	}
	before := roles()
	for range 10 {
		step()
	}
	if after := roles(); after != before {
		t.Errorf("%d activations and temporaries, %d after ten steps without a collection", before, after)
	}
}

func TestKeepGrad(t *testing.T) {
	w := Param(tensor.New([]float64{1, 2}))
	h := w.MulScalar(3).KeepGrad()
	h.Square().Sum().Backward()
	equal(t, h.Grad, 6, 12)
	equal(t, w.Grad, 18, 36)
}

// Mixed dtypes: the gradient comes back in the parameter's own.
func TestCast(t *testing.T) {
	w := Param(tensor.New([]float64{1, 2}))
	y := w.Cast(tensor.Float64)
	y.Square().Sum().Backward()
	equal(t, w.Grad, 2, 4)
	if y.DType() != tensor.Float64 || w.Grad.DType() != tensor.Float32 {
		t.Error(y.DType(), w.Grad.DType())
	}
	if hits := w.ArgMax(0).Equal(Const(tensor.FromInts([]int{1}))); hits.Item() != 1 || hits.NeedsGrad() {
		t.Error(hits)
	}
	if l := Const(tensor.FromInts([]int{3})).Cast(tensor.Float32); l.Item() != 3 || l.DType() != tensor.Float32 {
		t.Error(l)
	}
}

func TestFreeze(t *testing.T) {
	w, u := Param(tensor.Ones(2)), Param(tensor.Ones(2))
	w.Freeze(true)
	w.Mul(u).Sum().Backward()
	if w.Grad != nil || u.Grad == nil {
		t.Error("frozen", w.Grad, "free", u.Grad)
	}
}

func TestLabels(t *testing.T) {
	w := Param(tensor.Ones(2)).Named("layers[0].W")
	w.Square().Sum().Backward()
	if o := w.Value.Storage().Owner(); o.Role != gpu.Parameter || o.Name != "layers[0].W" {
		t.Error(o)
	}
	if o := w.Grad.Storage().Owner(); o.Role != gpu.Gradient || o.Name != "layers[0].W.Grad" {
		t.Error(o)
	}
}
