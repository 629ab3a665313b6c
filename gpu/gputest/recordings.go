package gputest

import (
	"bytes"
	"testing"

	"gradbook/gpu"
)

// recorded trains a model eagerly and the same model by replays: after every
// step both must have the same bits, and the same launches must be counted.
func (s *suite) recorded(t *testing.T) {
	for name, wrap := range forms {
		t.Run(name, func(t *testing.T) {
			eager, replayed := newTraining(s.device(t, wrap)), newTraining(s.device(t, wrap))
			var rec *gpu.Recorded
			for step := range 6 {
				batch := make([]byte, eager.x.Bytes())
				encode(batch, gpu.Float32, numbers(len(batch)/4, step), gpu.Typed)
				for _, m := range []*training{eager, replayed} {
					if err := m.x.Write(bytes.Clone(batch)); err != nil {
						t.Fatal(err)
					}
				}
				if err := eager.step(); err != nil {
					t.Fatal(err)
				}
				var err error
				if rec == nil {
					rec, err = replayed.d.Record(replayed.step)
				} else {
					err = rec.Replay()
				}
				if err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
				// What comes between replays must not meet their memory.
				other := replayed.d.NewStorage(300, "gputest", gpu.Temporary)
				if err := replayed.run(gpu.Fill, &gpu.FillParams{Value: 1e9, N: 75}, other); err != nil {
					t.Fatal(err)
				}
				other.Free()
				want, err := eager.bits()
				if err != nil {
					t.Fatal(err)
				}
				got, err := replayed.bits()
				if err != nil {
					t.Fatal(err)
				}
				s.checks++
				if !bytes.Equal(got, want) {
					t.Fatalf("step %d: the replay has other bits than the eager step", step)
				}
			}
			a, b := eager.d.Counters(), replayed.d.Counters()
			for k := range gpu.NumKernels {
				// A composition's copies, to undo it by, are not recorded.
				if k == gpu.Fill || k == gpu.Copy {
					continue
				}
				s.checks++
				if a.Launches[k] != b.Launches[k] {
					t.Errorf("%s: %d launches eagerly, %d in replays", k, a.Launches[k], b.Launches[k])
				}
			}
			rec.Close()
			replayed.d.Trim()
			snapshot := replayed.d.Snapshot()
			s.checks++
			if snapshot.Held != snapshot.Backend.BytesHeld || snapshot.PoolBytes != 0 {
				t.Errorf("after Close the books hold %d bytes, %d of them in the pool, the backend %d",
					snapshot.Held, snapshot.PoolBytes, snapshot.Backend.BytesHeld)
			}
		})
	}
}

func (t *training) step() error {
	if err := t.gradients(); err != nil {
		return err
	}
	return t.update()
}

// numbers are n values that differ from step to step.
func numbers(n, step int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64((i*7+step*13)%29)/29 - 0.5
	}
	return x
}
