package autograd_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gradbook/autograd"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/gpu"
	"gradbook/gpu/host"
	"gradbook/gpu/trial"
	"gradbook/tensor"
)

// trainer is a small model with dropout on a device of its own.
type trainer struct {
	dev   *gpu.Device
	model *nn.Model
	opt   *optim.Optimizer
	loss  func(x, y *autograd.Var) *autograd.Var
}

func newTrainer(opts ...optim.Option) *trainer {
	return trainerOn(gpu.New(host.New()), opts...)
}

func trainerOn(dev *gpu.Device, opts ...optim.Option) *trainer {
	t := &trainer{dev: dev}
	if err := t.dev.Seed(5); err != nil {
		panic(err)
	}
	on := nn.On(t.dev)
	t.model = nn.Sequential(on.Linear(6, 16), nn.Tanh(), nn.Dropout(0.3), on.LayerNorm(16), on.Linear(16, 3))
	t.opt = optim.Adam(t.model.Params(), 0.01, opts...)
	t.loss = func(x, y *autograd.Var) *autograd.Var {
		loss := nn.CrossEntropy(t.model.Forward(x), y)
		loss.Backward()
		optim.ClipGradNorm(t.model.Params(), 1)
		t.opt.Step()
		return loss
	}
	return t
}

// batch makes the i-th batch of n rows.
func (t *trainer) batch(i, n int) (x, y *autograd.Var) {
	values, labels := make([]float64, n*6), make([]int, n)
	for k := range values {
		values[k] = float64((k*7+i*13)%11)/5 - 1
	}
	for k := range labels {
		labels[k] = (k + i) % 3
	}
	on := tensor.On(t.dev)
	return autograd.Const(on.New(values, n, 6)), autograd.Const(on.FromInts(labels))
}

// run trains and returns all losses and weights.
func (t *trainer) run(step func(x, y *autograd.Var) *autograd.Var, sizes ...int) (bits []float64) {
	for i, n := range sizes {
		bits = append(bits, step(t.batch(i, n)).Item())
	}
	for _, p := range t.model.Params() {
		bits = append(bits, p.Float64s()...)
	}
	return append(bits, float64(t.opt.Steps()))
}

// The recorded and the eager run must give the same bits, also for batches of
// several sizes, and with a rate that changes on the way.
func TestRecordedEqualsEager(t *testing.T) {
	sizes := []int{8, 8, 8, 5, 8, 5, 8, 8}
	for _, device := range []string{"host", "vulkan", "cuda"} {
		for name, opts := range map[string][]optim.Option{
			"constant rate": nil,
			"schedule":      {optim.WithSchedule(optim.StepLR(3, 0.1))},
		} {
			t.Run(device+"/"+name, func(t *testing.T) {
				open := func() *gpu.Device {
					dev, err := gpu.Open(device)
					if err != nil {
						t.Skipf("no %s: %v", device, err)
					}
					return dev
				}
				eager, recorded := trainerOn(open(), opts...), trainerOn(open(), opts...)
				want := eager.run(eager.loss, sizes...)
				step := autograd.Record(recorded.loss)
				got := recorded.run(func(x, y *autograd.Var) *autograd.Var { return step.Run(x, y) }, sizes...)
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("number %d of losses and weights: recorded %g, eager %g", i, got[i], want[i])
					}
				}
				if n := step.Launches(); len(n) != 2 {
					t.Errorf("%d recordings for two sizes", len(n))
				}
				for _, x := range []*trainer{eager, recorded} {
					if err := x.dev.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// Between replays the program may step eagerly, and look at gradients.
func TestRecordedAndEagerMix(t *testing.T) {
	eager, mixed := newTrainer(), newTrainer()
	want := eager.run(eager.loss, 8, 8, 8, 8, 8, 8)
	step := autograd.Record(mixed.loss)
	i := 0
	got := mixed.run(func(x, y *autograd.Var) *autograd.Var {
		i++
		if i%3 == 0 {
			return mixed.loss(x, y)
		}
		return step.Run(x, y)
	}, 8, 8, 8, 8, 8, 8)
	if !slices.Equal(got, want) {
		t.Error("replays and eager steps in turn give other bits than eager steps")
	}
}

func TestReplayMovesOnlyTheBatch(t *testing.T) {
	x := newTrainer()
	step := autograd.Record(x.loss)
	for i := range 2 {
		step.Run(x.batch(i, 8))
	}
	before := x.dev.Counters()
	step.Run(x.batch(3, 8))
	n := x.dev.Counters().Sub(before)
	if n.BytesUp != 8*6*4+8*4 || n.BytesDown != 0 || n.Reads != 0 || n.Allocs != 0 {
		t.Errorf("%d bytes up, %d down, %d reads, %d allocations", n.BytesUp, n.BytesDown, n.Reads, n.Allocs)
	}
	if got := n.TotalLaunches(); got != int64(step.Launches()[0]) {
		t.Errorf("%d launches, %d recorded", got, step.Launches()[0])
	}
}

// An input that is there still is not copied again; one that changed is, who
// ever changed it.
func TestInputsAreCopiedWhenTheyChange(t *testing.T) {
	dev := gpu.New(host.New())
	on := tensor.On(dev)
	double := autograd.RecordAll(func(in []*autograd.Var) *autograd.Var { return in[0].MulScalar(2) })
	spoil := autograd.RecordAll(func(in []*autograd.Var) *autograd.Var {
		in[0].Value.Fill(0)
		return in[0].AddScalar(1)
	})
	x := autograd.Const(on.Full(3, 4))
	count := func(step *autograd.Step, in *autograd.Var, want float64, launches int64) {
		t.Helper()
		before := dev.Counters()
		out := step.Run(in)
		if n := dev.Counters().Sub(before); n.TotalLaunches() != launches {
			t.Errorf("%d launches, want %d", n.TotalLaunches(), launches)
		}
		if got := out.Value.Index(0).Item(); got != want {
			t.Errorf("%g, want %g", got, want)
		}
	}
	double.Run(x)
	count(double, x, 6, 1)
	x.Value.Fill(4) // by the device
	count(double, x, 8, 2)
	count(double, x, 8, 1)
	x.Value.Set([]float64{5, 5, 5, 5}) // by the host
	count(double, x, 10, 1)
	count(double, autograd.Const(on.Full(1, 8).Slice(0, 4, 8)), 2, 2)
	// What one step gives is the same variable each time, with other content: as
	// its own input it is copied aside first.
	z := double.Run(x)
	count(double, double.Run(z), 40, 3)
	// A step that writes to its input gets it anew.
	spoil.Run(x)
	count(spoil, x, 1, 2)
	if x.Value.Index(0).Item() != 5 {
		t.Error("a step changed what was given to it")
	}
}

func TestWhatCannotBeRecorded(t *testing.T) {
	x := newTrainer()
	w := x.model.Params()[0]
	for want, f := range map[string]func(a, b *autograd.Var) *autograd.Var{
		"Float64s: inside a recorded step": func(a, b *autograd.Var) *autograd.Var { a.Sum().Item(); return a },
		"is made from host data":           func(a, b *autograd.Var) *autograd.Var { return a.Mul(autograd.Const(tensor.On(x.dev).Scalar(2))) },
		"is written by the host":           func(a, b *autograd.Var) *autograd.Var { w.Value.Set(make([]float64, w.Len())); return a },
		"generator from adam is made":      func(a, b *autograd.Var) *autograd.Var { optim.Adam(x.model.Params(), 1); return a },
		"a parameter is made inside":       func(a, b *autograd.Var) *autograd.Var { return autograd.Param(tensor.On(x.dev).Ones(1)) },
		"record: the step returned nil":    func(a, b *autograd.Var) *autograd.Var { return nil },
	} {
		var err error
		func() {
			defer func() { err, _ = recover().(error) }()
			autograd.Record(f).Run(x.batch(0, 4))
		}()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
		var d *tensor.DeviceError
		if errors.As(err, &d) && d.Interrupted() {
			t.Error("not an interrupt", err)
		}
	}
	// The device is fit for use afterwards.
	autograd.Record(x.loss).Run(x.batch(0, 4))
}

// An interrupt acts between replays, and the next one goes on.
func TestInterruptedReplay(t *testing.T) {
	x := newTrainer()
	step := autograd.Record(x.loss)
	step.Run(x.batch(0, 8))
	before := x.model.Params()[0].Float64s()
	x.dev.Interrupt()
	func() {
		defer func() {
			if e, ok := recover().(*tensor.DeviceError); !ok || !e.Interrupted() {
				t.Error(e)
			}
		}()
		step.Run(x.batch(1, 8))
	}()
	x.dev.Resume()
	if !slices.Equal(before, x.model.Params()[0].Float64s()) || x.opt.Steps() != 1 {
		t.Error("an interrupted replay changed something")
	}
	step.Run(x.batch(1, 8))
	if x.opt.Steps() != 2 {
		t.Error("no step after the interrupt")
	}
}

// A fault in any launch of a replay is told, and the step is taken all the
// same.
func TestFaultsInReplay(t *testing.T) {
	healthy := newTrainer()
	want := healthy.run(healthy.loss, 8, 8, 8)[3:]
	for n := 1; ; n++ {
		faults := trial.Faulty(host.New())
		x := trainerOn(gpu.New(faults))
		step := autograd.Record(x.loss)
		step.Run(x.batch(0, 8))
		faults.Fail(trial.Launch, n, false)
		failed := false
		func() {
			defer func() {
				if e, ok := recover().(*tensor.DeviceError); ok {
					failed = errors.Is(e, trial.ErrInjected)
				}
			}()
			step.Run(x.batch(1, 8))
		}()
		faults.Heal()
		if !failed {
			if n <= step.Launches()[0] {
				t.Fatalf("launch %d of %d failed, and Run did not tell", n, step.Launches()[0])
			}
			return
		}
		step.Run(x.batch(2, 8))
		if got := x.run(nil); !slices.Equal(got, want) {
			t.Fatalf("launch %d: the weights are not those of an undisturbed run", n)
		}
	}
}

// After a device was lost and opened anew, what the host has goes on, and the
// step is recorded anew.
func TestRecordedStepOnAReopenedDevice(t *testing.T) {
	x := newTrainer()
	step := autograd.Record(x.loss)
	step.Run(x.batch(0, 8))
	kept := x.model.Params()
	for _, p := range kept {
		p.Value.HostBytes() // a copy that the host keeps
	}
	for _, s := range x.opt.State() {
		s.HostBytes()
	}
	if _, err := x.dev.Reopen(host.New()); err != nil {
		t.Fatal(err)
	}
	step.Run(x.batch(1, 8))
	x.loss(x.batch(2, 8))
	if x.opt.Steps() != 3 {
		t.Error(x.opt.Steps())
	}
}

// A recording's buffers are its own, and go with it.
func TestClosedRecording(t *testing.T) {
	x := newTrainer()
	for range 2 {
		x.loss(x.batch(0, 8))
	}
	x.dev.Collect()
	before := x.dev.Snapshot()
	step := autograd.Record(x.loss)
	step.Run(x.batch(0, 8))
	replaying := 0
	for _, r := range x.dev.Snapshot().Rows {
		if r.Owner.Role == gpu.Replaying {
			replaying++
		}
	}
	if replaying == 0 {
		t.Error("the map does not show the recording")
	}
	step.Close()
	x.loss(x.batch(0, 8))
	step = nil
	x.dev.Collect()
	if after := x.dev.Snapshot(); after.InUse != before.InUse {
		t.Errorf("%d bytes in use, %d after the recording was closed", before.InUse, after.InUse)
	}
}
