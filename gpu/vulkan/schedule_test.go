package vulkan

import (
	"math/rand/v2"
	"testing"

	"gradbook/gpu"
)

// program returns launches of one to three dispatches on some buffers, and the
// number of each one's dispatches.
func program(r *rand.Rand, n, buffers int) ([]gpu.Launch, []int) {
	kernels := []gpu.Kernel{gpu.Fill, gpu.Copy, gpu.Axpby, gpu.Linear, gpu.LinearParamBwd, gpu.AdamStep, gpu.Count}
	all := make([]*buffer, buffers)
	for i := range all {
		all[i] = &buffer{}
	}
	launches, steps := make([]gpu.Launch, n), make([]int, n)
	for i := range launches {
		k := kernels[r.IntN(len(kernels))]
		launches[i].Kernel = k
		for _, at := range r.Perm(buffers)[:len(k.Info().Args)] {
			launches[i].Args = append(launches[i].Args, gpu.Span{Buffer: all[at]})
		}
		steps[i] = r.IntN(4) // 0 where there is nothing to do
	}
	return launches, steps
}

func conflict(a, b *gpu.Launch) bool {
	for i, x := range a.Args {
		for j, y := range b.Args {
			if x.Buffer == y.Buffer && (a.Kernel.Info().Args[i].Access != gpu.In || b.Kernel.Info().Args[j].Access != gpu.In) {
				return true
			}
		}
	}
	return false
}

// In random programs a barrier stands between each two launches that touch a
// buffer which one of them writes, the earlier one first, and between the
// dispatches of each launch. There are no more barriers than the longest chain
// of dispatches makes necessary.
func TestSchedule(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		launches, steps := program(r, 1+r.IntN(40), 5+r.IntN(20))
		order := overlapped(launches, steps)
		barriers := 0
		at := map[[2]int]int{} // the number of barriers before a dispatch
		for _, d := range order {
			if d.barrier {
				barriers++
			}
			at[[2]int{d.launch, d.step}] = barriers
		}
		total, longest := 0, 0
		chain := make([]int, len(launches)) // dispatches of the longest one that ends here
		for j := range launches {
			total += steps[j]
			for s := 1; s < steps[j]; s++ {
				if at[[2]int{j, s - 1}] >= at[[2]int{j, s}] {
					t.Fatalf("no barrier between dispatches %d and %d of launch %d: %v", s-1, s, j, order)
				}
			}
			for i := range j {
				if !conflict(&launches[i], &launches[j]) {
					continue
				}
				chain[j] = max(chain[j], chain[i])
				if steps[i] > 0 && steps[j] > 0 && at[[2]int{i, steps[i] - 1}] >= at[[2]int{j, 0}] {
					t.Fatalf("no barrier between launch %d, %s, and launch %d, %s: %v", i, launches[i].Kernel, j, launches[j].Kernel, order)
				}
			}
			chain[j] += steps[j]
			longest = max(longest, chain[j])
		}
		if len(order) != total || len(at) != total {
			t.Fatalf("%d dispatches, %d of them different, want %d", len(order), len(at), total)
		}
		if barriers != max(longest-1, 0) {
			t.Fatalf("%d barriers for a chain of %d dispatches: %v", barriers, longest, order)
		}
		for i, d := range oneByOne(steps) {
			if d.barrier != (i > 0) {
				t.Fatalf("one by one, dispatch %d has a barrier before it: %v", i, d.barrier)
			}
		}
	}
}
