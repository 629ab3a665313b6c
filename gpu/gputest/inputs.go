package gputest

import (
	"bytes"
	"testing"

	"gradbook/gpu"
)

// inputs replays a model's step on batches from many places, and beside it
// writes the same batches and steps eagerly: both must have the same bits, and
// only what does not lie there already may be copied.
func (s *suite) inputs(t *testing.T) {
	for name, wrap := range forms {
		t.Run(name, func(t *testing.T) {
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			eager, replayed := newTraining(s.device(t, wrap)), newTraining(s.device(t, wrap))
			d := replayed.d
			size := eager.x.Bytes()
			batch := func(i int) []byte {
				content := make([]byte, size)
				encode(content, gpu.Float32, numbers(int(size/4), i), gpu.Typed)
				return content
			}
			// A data set on the device, and one that stays in host memory.
			var all []byte
			for i := range 4 {
				all = append(all, batch(i)...)
			}
			host := d.FromHost(all, "gputest", gpu.Data)
			set := d.NewStorage(4*size, "gputest", gpu.Data)
			n := uint32(size)
			line := &gpu.CopyParams{N: n, Rank: 1, Dims: gpu.Dims{n}, X: gpu.Strides{1}}
			must(d.Run(gpu.Copy, gpu.Float32, line, host.All(), set.All()))
			stay := d.FromHost(bytes.Clone(all), "gputest", gpu.Data)
			of := func(s *gpu.Storage, i int) gpu.View {
				return gpu.View{Storage: s, Offset: int64(i) * size, Bytes: size}
			}
			first := d.FromHost(labelBytes(t, replayed), "gputest", gpu.Data)

			rec, err := d.Record(replayed.step, gpu.Input{To: replayed.x, From: of(set, 0)}, gpu.Input{To: replayed.labels, From: first.All()})
			must(err)
			must(eager.x.Write(batch(0)))
			must(eager.step())
			quiet := int64(-1) // copies of a replay that has nothing to fill
			for _, c := range []struct {
				name       string
				before     func() error
				x, labels  gpu.View
				eager      func() error
				copies, up int64
			}{
				{name: "nothing", eager: func() error { return nil }},
				{name: "the same batch", x: of(set, 0), labels: first.All(), eager: func() error { return nil }},
				{name: "another batch", x: of(set, 1), eager: func() error { return eager.x.Write(batch(1)) }, copies: 1},
				{name: "a batch in host memory", x: of(stay, 2), eager: func() error { return eager.x.Write(batch(2)) }, up: size},
				{name: "the same in host memory", x: of(stay, 2), eager: func() error { return nil }},
				{name: "a batch over what the host wrote", before: func() error { return replayed.x.Write(batch(9)) }, x: of(set, 3),
					eager: func() error { return eager.x.Write(batch(3)) }, copies: 1},
				{name: "a batch that changed", x: of(set, 3), copies: 1, before: func() error {
					return d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{Value: 0.25, N: n}, set.All())
				}, eager: func() error {
					return eager.run(gpu.Fill, &gpu.FillParams{Value: 0.25, N: n / 4}, eager.x)
				}},
				// What the step itself writes: copied aside, then in. No labels, but the same bits.
				{name: "its own result", labels: replayed.loss.All(), copies: 2, eager: func() error {
					return eager.run(gpu.Copy, &gpu.CopyParams{N: 9, Rank: 1, Dims: gpu.Dims{9}, X: gpu.Strides{1}}, eager.loss, eager.labels)
				}},
			} {
				if c.before != nil {
					must(c.before())
				}
				before := d.Counters()
				if err := rec.Replay(c.x, c.labels); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				moved := d.Counters().Sub(before)
				if quiet < 0 {
					quiet = moved.Launches[gpu.Copy]
				}
				s.checks += 2
				if got := moved.Launches[gpu.Copy] - quiet; got != c.copies {
					t.Errorf("%s: %d copies to inputs, want %d", c.name, got, c.copies)
				}
				if moved.BytesUp != c.up {
					t.Errorf("%s: %d bytes went up, want %d", c.name, moved.BytesUp, c.up)
				}
				must(c.eager())
				must(eager.step())
				want, err := eager.bits()
				must(err)
				got, err := replayed.bits()
				must(err)
				s.checks++
				if !bytes.Equal(got, want) {
					t.Fatalf("%s: the replay has other bits than the eager step", c.name)
				}
			}
			rec.Close()
		})
	}
}

func labelBytes(t *testing.T, m *training) []byte {
	content := make([]byte, m.labels.Bytes())
	if err := m.labels.Read(content, 0); err != nil {
		t.Fatal(err)
	}
	return content
}
