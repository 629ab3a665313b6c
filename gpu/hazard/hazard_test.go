package hazard

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gradbook/gpu"
)

// random returns steps that each use a few of the resources.
func random(r *rand.Rand, steps, resources int) [][]use {
	all := make([][]use, steps)
	for i := range all {
		for _, x := range r.Perm(resources)[:1+r.IntN(3)] {
			all[i] = append(all[i], use{x, gpu.Access(r.IntN(3))})
		}
	}
	return all
}

// conflict reports whether two steps may not change places.
func conflict(a, b []use) bool {
	for _, x := range a {
		for _, y := range b {
			if x.resource == y.resource && (x.access != gpu.In || y.access != gpu.In) {
				return true
			}
		}
	}
	return false
}

// A step waits, itself or through others, for every earlier one with which it
// conflicts, and for no other itself.
func TestRandomSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		steps := random(r, 40, 3+r.IntN(12))
		waits := make([][]bool, len(steps)) // directly or not
		track := New()
		for i, uses := range steps {
			for _, u := range uses {
				track.Use(u.resource, u.access)
			}
			waits[i] = make([]bool, i)
			after := track.Next()
			if !slices.IsSorted(after) || len(slices.Compact(slices.Clone(after))) != len(after) {
				t.Fatalf("step %d waits for %v: not in order, each once", i, after)
			}
			for _, j := range after {
				if !conflict(steps[j], uses) {
					t.Fatalf("step %d, %v, waits for step %d, %v, for no reason", i, uses, j, steps[j])
				}
				waits[i][j] = true
				for k, w := range waits[j] {
					waits[i][k] = waits[i][k] || w
				}
			}
			for j := range i {
				if conflict(steps[j], uses) && !waits[i][j] {
					t.Fatalf("step %d, %v, does not wait for step %d, %v", i, uses, j, steps[j])
				}
			}
		}
	}
}
