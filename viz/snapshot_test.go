package viz

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gradbook/gpu"
	"gradbook/session"
	"gradbook/viz/display"
)

// trained is what a device holds after a training step.
func trained() gpu.Snapshot {
	s := gpu.Snapshot{Info: gpu.Info{Backend: "vulkan", Name: "test device"}, PoolBytes: 4096}
	add := func(name, op string, role gpu.Role, device, host int64, where gpu.Residency) {
		s.Rows = append(s.Rows, gpu.Row{ID: uint64(len(s.Rows) + 1), Bytes: max(device, host), DeviceBytes: device, HostBytes: host, Residency: where,
			Owner: gpu.Owner{Name: name, Op: op, Role: role, Cell: 2}})
		s.InUse += device
	}
	add("model.layers[0].W", "kaiming", gpu.Parameter, 8192, 0, gpu.OnDevice)
	add("model.layers[0].W.grad", "linear_param_bwd", gpu.Gradient, 8192, 0, gpu.OnDevice)
	add("opt.m[0]", "adam", gpu.OptimizerState, 8192, 0, gpu.OnDevice)
	add("test.X", "mnist", gpu.Data, 1024, 1000, gpu.Both)
	add("train.X", "mnist", gpu.Data, 0, 100_000, gpu.OnHost)
	add("w <&> old", "linear", gpu.Temporary, 512, 500, gpu.OnHost)
	add("", "relu", gpu.Temporary, 4096, 0, gpu.OnDevice)
	add("", "relu", gpu.Temporary, 4096, 0, gpu.OnDevice)
	add("batch X", "new", gpu.Data, 0, 20_000, gpu.OnHost)
	add("batch X", "new", gpu.Data, 0, 20_000, gpu.OnHost)
	s.Held = s.InUse + s.PoolBytes
	s.Backend.BytesHeld = s.Held
	return s
}

func TestResidencyMapCountsEveryByte(t *testing.T) {
	snap := trained()
	o := own(snap)
	for _, p := range o.panels() {
		sum := int64(0)
		for _, b := range p.blocks {
			sum += p.bytes(b)
		}
		want := snap.InUse
		if p.place != "on the device" {
			want = 141_500
		}
		if sum != want || p.total != want {
			t.Errorf("%s: boxes hold %d, total %d, want %d", p.place, sum, p.total, want)
		}
	}
	if w := o.warnings(); len(w) > 0 {
		t.Errorf("warnings %q", w)
	}
	snap.Backend.BytesHeld += 512
	o = own(snap)
	if w := o.warnings(); len(w) != 1 || !strings.Contains(w[0], "backend holds") {
		t.Errorf("books that do not agree: %q", w)
	}
}

func TestResidencyMapForms(t *testing.T) {
	b := ResidencyMap(session.Snapshot{Devices: []gpu.Snapshot{trained()}})
	page, picture := checkForms(t, b)
	for _, want := range []string{"model.layers[0].W", "opt.m[0]", "train.X", "pool", "relu ×2", "batch X ×2"} {
		if !strings.Contains(picture, want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
	for _, want := range []string{"model.layers[0].W.grad", "(unnamed) ×2", "batch X ×2", "host, device stale", "linear_param_bwd", "[2]", "pool, free for reuse"} {
		if !strings.Contains(b.Plain(), want) || !strings.Contains(page, want) {
			t.Errorf("%q is not in text or page:\n%s", want, b.Plain())
		}
	}
	if strings.Contains(page, "<&>") {
		t.Error("a name is not escaped")
	}
}

func TestResidencyMapOfManyAndNone(t *testing.T) {
	if b := ResidencyMap(session.Snapshot{}); !strings.Contains(b.Plain(), "nothing") {
		t.Errorf("no device: %q", b.Plain())
	}
	idle := gpu.Snapshot{Info: gpu.Info{Backend: "host"}}
	checkForms(t, ResidencyMap(session.Snapshot{Devices: []gpu.Snapshot{idle}}))
	b := ResidencyMap(session.Snapshot{Devices: []gpu.Snapshot{trained(), idle, trained()}})
	checkForms(t, b)
	if strings.Contains(b.Plain(), "host:") {
		t.Error("a device that holds nothing is clutter among others")
	}
	many := trained()
	for i := range 1000 {
		many.Rows = append(many.Rows, gpu.Row{DeviceBytes: 256, Residency: gpu.OnDevice, Owner: gpu.Owner{Name: fmt.Sprint("x", i), Role: gpu.Data}})
		many.InUse += 256
	}
	many.Held = many.InUse + many.PoolBytes
	many.Backend.BytesHeld = many.Held
	b = ResidencyMap(session.Snapshot{Devices: []gpu.Snapshot{many}})
	_, picture := checkForms(t, b)
	if n := strings.Count(picture, "<rect"); n > 3*drawnBoxes {
		t.Errorf("%d boxes", n)
	}
	o := own(many)
	drawn := int64(0)
	for _, block := range o.panels()[0].blocks {
		drawn += block.device
	}
	if drawn != many.InUse {
		t.Errorf("boxes hold %d of %d", drawn, many.InUse)
	}
	if n := strings.Count(b.Plain(), "\n"); n > listedOwners+20 {
		t.Errorf("%d lines of text", n)
	}
}

func entries() []session.Entry {
	w := session.Work{Device: "vulkan", Before: 1 << 20, After: 3 << 20}
	w.Counters.Launches[gpu.Linear] = 20
	w.Counters.Launches[gpu.AdamStep] = 30
	w.Counters.BytesUp, w.Counters.BytesDown, w.Counters.Reads, w.Counters.PeakBytes = 1<<20, 400, 8, 5<<20
	w.Counters.Collects, w.Counters.Fallbacks = 1, 2
	w.KernelTime[gpu.AdamStep] = time.Millisecond
	w.KernelTime[gpu.Linear] = 2 * time.Millisecond
	return []session.Entry{
		{Cell: 1, Wall: 312 * time.Microsecond},
		{Cell: 2, Wall: 61 * time.Millisecond, Work: []session.Work{w, {Device: "host"}}},
		{Cell: 3, Wall: time.Millisecond, Err: "Panic: <oh>\nmore"},
		{Cell: 4, Wall: time.Second, Work: []session.Work{w}},
	}
}

func TestLedger(t *testing.T) {
	b := Ledger(entries())
	page, _ := checkForms(t, b)
	want := `cell  device  wall time  device time  launches       up   down  waits     peak      kept  notes
 [1]             312 µs
 [2]  vulkan      61 ms         3 ms        50  1.0 MiB  400 B      8  5.0 MiB  +2.0 MiB  2 fallbacks, 1 collection
      host                         –         0        –      –      0      0 B         –
 [3]               1 ms                                                                   Panic: <oh>
 [4]  vulkan        1 s         3 ms        50  1.0 MiB  400 B      8  5.0 MiB  +2.0 MiB  2 fallbacks, 1 collection

kernel              launches  device time
linear                    20         2 ms
adam_step                 30         1 ms
cell [4] on vulkan        50         3 ms`
	if b.Plain() != want {
		t.Errorf("text:\n%s\nwant:\n%s", b.Plain(), want)
	}
	if strings.Contains(page, "<oh>") {
		t.Error("an error is not escaped")
	}
	if b := Ledger(nil); b.Plain() == "" {
		t.Error("no entries")
	}
}

func comparison() *session.Comparison {
	row := func(name string, median time.Duration, diff float64) session.Measured {
		return session.Measured{Device: name, Info: gpu.Info{Backend: name}, Low: median - time.Millisecond, Median: median, High: median + time.Millisecond,
			First: 30 * time.Millisecond, Launches: 15, BytesUp: 1024, Peak: 1 << 20, LossDiff: diff, WeightDiff: math.NaN()}
	}
	c := &session.Comparison{Plan: session.Plan{Steps: 20, Warmup: 3, Seed: 1}, Reference: "host"}
	c.Rows = append(c.Rows, row("host", 4*time.Millisecond, 0), row("vulkan", 9*time.Millisecond, 1.5e-6),
		session.Measured{Device: "cuda", Err: "no CUDA driver", LossDiff: math.NaN(), WeightDiff: math.NaN()})
	return c
}

func TestComparison(t *testing.T) {
	b := Comparison(comparison())
	_, picture := checkForms(t, b)
	if n := strings.Count(picture, `height="18"`); n != 2 {
		t.Errorf("%d bars, want one for each device that worked", n)
	}
	for _, want := range []string{"vulkan  9 ms  8 ms – 10 ms", "1.5e-06", "cuda: no CUDA driver", "differences from host"} {
		if !strings.Contains(b.Plain(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.Plain())
		}
	}
	c := comparison()
	c.Rows = c.Rows[2:]
	if b := Comparison(c); !strings.Contains(b.Plain(), "no CUDA driver") {
		t.Errorf("nothing worked: %q", b.Plain())
	}
}

func TestSnapshotsShowThemselves(t *testing.T) {
	for _, v := range []any{session.Snapshot{}, trained(), entries(), entries()[0], comparison()} {
		if b, ok := display.Rich(v); !ok || b.Plain() == "" {
			t.Errorf("%T has no picture", v)
		}
	}
}
