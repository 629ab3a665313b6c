package vulkan

import (
	"gradbook/gpu"
	"gradbook/gpu/hazard"
)

// dispatch is a step of the plan of a recording's launch.
type dispatch struct {
	launch, step int
	barrier      bool // before it
}

// overlapped puts the dispatches of launches into an order with as few barriers
// as the longest chain of them has links: into levels, each of which needs only
// those before it. steps is how many dispatches each launch has; they need one
// another in order.
func overlapped(launches []gpu.Launch, steps []int) []dispatch {
	var levels [][]dispatch
	ends := make([]int, len(launches)) // the level after a launch's last dispatch
	hazards := hazard.New()
	for i := range launches {
		args := launches[i].Kernel.Info().Args
		for k, a := range launches[i].Args {
			hazards.Use(a.Buffer, args[k].Access)
		}
		start := 0
		for _, j := range hazards.Next() {
			start = max(start, ends[j])
		}
		ends[i] = start + steps[i]
		for len(levels) < ends[i] {
			levels = append(levels, nil)
		}
		for s := range steps[i] {
			levels[start+s] = append(levels[start+s], dispatch{launch: i, step: s})
		}
	}
	var order []dispatch
	for i, level := range levels {
		level[0].barrier = i > 0
		order = append(order, level...)
	}
	return order
}

// oneByOne is the order given, with a barrier between each two dispatches.
func oneByOne(steps []int) []dispatch {
	var order []dispatch
	for i, n := range steps {
		for s := range n {
			order = append(order, dispatch{i, s, len(order) > 0})
		}
	}
	return order
}
