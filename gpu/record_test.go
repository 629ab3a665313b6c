package gpu_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/host"
	"gradbook/gpu/trial"
)

// A toy step with what a real one has: an input, a parameter changed in place,
// temporaries freed inside, a random mask, a counter, a result.
type toy struct {
	d                  *gpu.Device
	x, w, state, steps *gpu.Storage
	loss               *gpu.Storage
}

func newToy(d *gpu.Device) *toy {
	m := &toy{d: d, x: d.FromHost(floats(1, 2, 3, 4), "batch", gpu.Data), w: d.FromHost(floats(1, 1, 1, 1), "w", gpu.Parameter), state: d.RandomState(), steps: d.NewCounter("adam")}
	return m
}

func (m *toy) step() error {
	d := m.d
	temp := func() *gpu.Storage { return d.NewStorage(16, "toy", gpu.Temporary) }
	y, mask, sq := temp(), temp(), temp()
	m.loss = d.NewStorage(4, "loss", gpu.Temporary)
	n := uint32(4)
	line := gpu.BinaryParams{Scale: 1, Op: gpu.Mul, N: n, Rank: 1, Dims: gpu.Dims{n}, A: gpu.Strides{1}, B: gpu.Strides{1}}
	err := errors.Join(
		d.Run(gpu.Binary, gpu.Float32, &line, m.x.All(), m.w.All(), y.All()),
		d.Run(gpu.Dropout, gpu.Float32, &gpu.DropoutParams{P: 0.5, N: n}, m.state.All(), y.All(), sq.All(), mask.All()),
		d.Run(gpu.Count, gpu.Int32, &gpu.CountParams{Add: 1}, m.state.All()),
	)
	y.Free()
	again := temp() // takes y's buffer
	err = errors.Join(err,
		d.Run(gpu.Unary, gpu.Float32, &gpu.UnaryParams{Scale: 0.1, Op: gpu.Tanh, N: n}, sq.All(), again.All()),
		m.update(again),
		d.Run(gpu.Reduce, gpu.Float32, &gpu.ReduceParams{Scale: 1, Op: gpu.ReduceSum, Outer: 1, Axis: n, Inner: 1}, m.w.All(), m.loss.All()),
	)
	for _, s := range []*gpu.Storage{mask, sq, again} {
		s.Free()
	}
	// Comes to the device only now, when freed buffers of its size are there.
	return errors.Join(err, d.Run(gpu.Count, gpu.Int32, &gpu.CountParams{Add: 1}, m.steps.All()))
}

// update changes its params after the launch, as a caller may.
func (m *toy) update(step *gpu.Storage) error {
	p := &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 4}
	err := m.d.Run(gpu.Axpby, gpu.Float32, p, step.All(), m.w.All())
	*p = gpu.AxpbyParams{}
	return err
}

func batch(i int) []byte { v := float32(i); return floats(v, v+1, -v, 0.5) }

func TestReplayHasTheBitsOfAnEagerRun(t *testing.T) {
	eager, recorded := newToy(newDevice(t)), newToy(newDevice(t))
	must(t, eager.step())
	rec, err := recorded.d.Record(recorded.step)
	must(t, err)
	if rec.Launches() != 7 {
		t.Errorf("%d launches", rec.Launches())
	}
	loss := recorded.loss
	var noise []*gpu.Storage
	for i := range 5 {
		for _, m := range []*toy{eager, recorded} {
			must(t, m.x.Write(batch(i)))
		}
		eager.loss.Free()
		must(t, eager.step())
		_, err := recorded.w.Host() // a copy that the replay makes stale
		must(t, err)
		must(t, rec.Replay())
		// Other work in between finds other memory.
		noise = append(noise, fill(t, recorded.d, 4, 99), fill(t, recorded.d, 1, 99))
		want(t, loss, read(t, eager.loss)...)
		want(t, recorded.w, read(t, eager.w)...)
		want(t, recorded.state, read(t, eager.state)...)
		checkBooks(t, recorded.d)
	}
	e, r := eager.d.Counters(), recorded.d.Counters()
	if e.Launches[gpu.Dropout] != r.Launches[gpu.Dropout] || e.Launches[gpu.Axpby] != r.Launches[gpu.Axpby] {
		t.Error("replayed launches are not counted like eager ones")
	}
	for _, s := range noise {
		for _, v := range read(t, s) {
			if v != 99 {
				t.Fatal("a replay wrote into another storage")
			}
		}
	}
	rec.Close()
	rec.Close()
	if err := rec.Replay(); err == nil {
		t.Error("a closed recording replays")
	}
	want(t, recorded.w, read(t, eager.w)...)
	runtime.KeepAlive(eager)
}

func TestRecordingOwnsItsBuffers(t *testing.T) {
	d := newDevice(t)
	m := newToy(d)
	rec, err := d.Record(m.step)
	must(t, err)
	rec.SetName("step")
	row := func() (r gpu.Row) {
		for _, r := range d.Snapshot().Rows {
			if r.Owner.Role == gpu.Replaying {
				return r
			}
		}
		return r
	}
	// y and again share a buffer, mask and sq have their own.
	if r := row(); r.Owner.Name != "step" || r.DeviceBytes != 3*256 {
		t.Errorf("the map shows %+v", r)
	}
	m.loss.Free()
	if r := row(); r.DeviceBytes != 4*256 {
		t.Errorf("a freed result does not pass to the recording: %+v", r)
	}
	d.Trim()
	must(t, rec.Replay())
	if err := m.w.Evict(); err == nil || !strings.Contains(err.Error(), "part of a recording") {
		t.Errorf("evicting a recorded parameter: %v", err)
	}
	m.w.Free()
	if err := rec.Replay(); !errors.Is(err, gpu.ErrFreed) {
		t.Errorf("replay without a parameter: %v", err)
	}
	rec.Close()
	d.Trim()
	if r := row(); r.ID != 0 {
		t.Errorf("a closed recording is still shown: %+v", r)
	}
	if s := d.Snapshot(); s.Backend.Buffers != 3 { // x, state, steps
		t.Errorf("%d buffers are left", s.Backend.Buffers)
	}
	runtime.KeepAlive(m)
}

func TestDroppedRecordingIsCollected(t *testing.T) {
	d := newDevice(t)
	func() {
		m := newToy(d)
		if _, err := d.Record(m.step); err != nil {
			t.Fatal(err)
		}
	}()
	for range 100 {
		d.Collect()
		if d.Snapshot().InUse == 256 { // the random state stays
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d bytes in use", d.Snapshot().InUse)
}

func TestRecordRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(m *toy) error
		says string
	}{
		"a host read":      {func(m *toy) error { return m.w.Read(make([]byte, 16), 0) }, "parameter from w is read by the host"},
		"a host copy":      {func(m *toy) error { _, err := m.w.Host(); return err }, "is read by the host"},
		"a host write":     {func(m *toy) error { return m.x.Write(batch(1)) }, "data from batch is written by the host"},
		"a swallowed read": {func(m *toy) error { m.w.Read(make([]byte, 16), 0); return nil }, "is read by the host"},
		"host data made inside": {func(m *toy) error {
			return add(m.d, m.d.FromHost(batch(1), "one-hot", gpu.Temporary), m.w, 1)
		}, "temporary from one-hot is made from host data"},
		"a new parameter": {func(m *toy) error { m.d.NewStorage(4, "kaiming", gpu.Parameter); return nil }, "parameter from kaiming is made"},
		"an input freed inside": {func(m *toy) error {
			err := add(m.d, m.x, m.w, 1)
			m.x.Free()
			return err
		}, "data from batch is used and then freed"},
		"a recording inside": {func(m *toy) error { _, err := m.d.Record(func() error { return nil }); return err }, "a recording inside a recording"},
		"a swallowed failure": {func(m *toy) error {
			m.d.Run(gpu.ArgMax, gpu.Float32, &gpu.ArgMaxParams{Outer: 1, Axis: 4, Inner: 1}, m.w.All(), m.d.NewStorage(4, "argmax", gpu.Temporary).All())
			return nil
		}, "has no kernel argmax"},
		"its own error": {func(m *toy) error { return errors.New("shapes do not match") }, "shapes do not match"},
	} {
		d := newDevice(t, func(b gpu.Backend) gpu.Backend { return without{b, gpu.ArgMax} })
		m := newToy(d)
		must(t, m.step())
		if _, err := d.Record(func() error { return c.f(m) }); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.says)
		}
		checkBooks(t, d)
		if err := m.w.Read(make([]byte, 16), 0); err != nil {
			t.Errorf("%s: the device still records: %v", name, err)
		}
	}
	d := newDevice(t)
	func() {
		defer func() { recover() }()
		d.Record(func() error { panic("in a cell") })
	}()
	if _, err := d.Record(func() error { return nil }); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

// without declines one kernel.
type without struct {
	gpu.Backend
	kernel gpu.Kernel
}

func (w without) Launch(l gpu.Launch) error {
	if l.Kernel == w.kernel {
		return gpu.ErrDeclined
	}
	return w.Backend.Launch(l)
}

func TestReplayIsWhole(t *testing.T) {
	f := trial.Faulty(host.New())
	d := newDevice(t, func(gpu.Backend) gpu.Backend { return f })
	m := newToy(d)
	rec, err := d.Record(m.step)
	must(t, err)
	d.Interrupt()
	var interrupted *gpu.InterruptedError
	if err := rec.Replay(); !errors.As(err, &interrupted) {
		t.Errorf("got %v", err)
	}
	d.Resume()
	for n := 1; n <= rec.Launches(); n++ {
		f.Fail(trial.Launch, n, false)
		if err := rec.Replay(); !errors.Is(err, trial.ErrInjected) {
			t.Errorf("launch %d: %v", n, err)
		}
	}
	f.Fail(trial.Launch, 3, true)
	var stopped *gpu.StoppedError
	if err := rec.Replay(); !errors.As(err, &stopped) || stopped.Done != 2 || stopped.Of != rec.Launches() {
		t.Errorf("faults from the third launch on: %v", err)
	}
	f.Heal()
	clean := newToy(newDevice(t))
	for range 1 + rec.Launches() {
		must(t, clean.step())
	}
	want(t, m.w, read(t, clean.w)...)
	runtime.KeepAlive(clean)
}

// Memory that a recording uses is no reserve for others.
func TestRecordingIsNotSpilled(t *testing.T) {
	d := newDevice(t, limited(4<<10))
	m := newToy(d)
	rec, err := d.Record(m.step)
	must(t, err)
	before := read(t, m.w)
	func() {
		var all []*gpu.Storage
		for range 20 {
			s := d.NewStorage(256, "fill", gpu.Temporary)
			if err := d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{N: 64}, s.All()); err != nil {
				if !errors.Is(err, gpu.ErrOutOfMemory) {
					t.Error(err)
				}
				break
			}
			all = append(all, s)
		}
		for _, s := range all {
			s.Free()
		}
	}()
	want(t, m.w, before...)
	must(t, rec.Replay())
	checkBooks(t, d)
}
