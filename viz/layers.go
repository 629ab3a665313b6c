package viz

import (
	"cmp"
	"math"
	"slices"
)

// layering places the nodes of an acyclic graph in layers, so that each edge
// goes from a layer to a later one, and orders each layer so that few edges
// cross. An edge over several layers gets a dummy in each between.
//
// Source: Sugiyama, Tagawa, Toda: Methods for visual understanding of
// hierarchical system structures, 1981; crossings by barycentres.
type layering struct {
	layers [][]int   // of nodes and dummies, first layer first
	x      []float64 // centre of each, in pixels
	layer  []int     // of each
	up     [][]int   // neighbours in the layer before
	down   [][]int   // and in the layer after
	paths  map[[2]int][]int
}

// layered places n nodes; inputs of a node come before it. Width is how wide
// each node is, gap what lies between two.
func layered(inputs [][]int, width func(node int) float64, gap float64) *layering {
	n := len(inputs)
	l := &layering{layer: make([]int, n), paths: map[[2]int][]int{}}
	// Distance to the end, so that a leaf stands right before what uses it.
	deepest := 0
	for v := n - 1; v >= 0; v-- {
		for _, in := range inputs[v] {
			l.layer[in] = max(l.layer[in], l.layer[v]+1)
			deepest = max(deepest, l.layer[in])
		}
	}
	for v := range l.layer {
		l.layer[v] = deepest - l.layer[v]
	}
	l.up, l.down = make([][]int, n), make([][]int, n)
	l.layers = make([][]int, deepest+1)
	for v := range inputs {
		l.layers[l.layer[v]] = append(l.layers[l.layer[v]], v)
	}
	for v := range inputs {
		for _, in := range inputs[v] {
			l.connect(in, v)
		}
	}
	for range 12 {
		l.sweep()
	}
	l.place(func(v int) float64 {
		if v < n {
			return width(v)
		}
		return 8
	}, gap)
	return l
}

// connect adds an edge, once, with its dummies.
func (l *layering) connect(from, to int) {
	if l.paths[[2]int{from, to}] != nil {
		return
	}
	path := []int{from}
	for layer := l.layer[from] + 1; layer < l.layer[to]; layer++ {
		d := len(l.layer)
		l.layer = append(l.layer, layer)
		l.up, l.down = append(l.up, nil), append(l.down, nil)
		l.layers[layer] = append(l.layers[layer], d)
		path = append(path, d)
	}
	path = append(path, to)
	for i := 1; i < len(path); i++ {
		a, b := path[i-1], path[i]
		l.down[a], l.up[b] = append(l.down[a], b), append(l.up[b], a)
	}
	l.paths[[2]int{from, to}] = path
}

// sweep orders each layer by the mean place of its neighbours, upwards from
// the end and back.
func (l *layering) sweep() {
	at := make([]float64, len(l.layer))
	number := func(layer []int) {
		for i, v := range layer {
			at[v] = float64(i) - float64(len(layer)-1)/2
		}
	}
	for _, layer := range l.layers {
		number(layer)
	}
	order := func(layer []int, near [][]int) {
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(centre(a, near, at), centre(b, near, at)) })
		number(layer)
	}
	for i := len(l.layers) - 2; i >= 0; i-- {
		order(l.layers[i], l.down)
	}
	for i := 1; i < len(l.layers); i++ {
		order(l.layers[i], l.up)
	}
}

// centre is the mean of the places of v's neighbours; v's own without any.
func centre(v int, near [][]int, at []float64) float64 {
	if len(near[v]) == 0 {
		return at[v]
	}
	sum := 0.0
	for _, n := range near[v] {
		sum += at[n]
	}
	return sum / float64(len(near[v]))
}

// place gives each node an x near its neighbours' that keeps order and gaps.
func (l *layering) place(width func(int) float64, gap float64) {
	l.x = make([]float64, len(l.layer))
	for _, layer := range l.layers {
		at := 0.0
		for _, v := range layer {
			l.x[v] = at + width(v)/2
			at += width(v) + gap
		}
		for _, v := range layer {
			l.x[v] -= (at - gap) / 2
		}
	}
	settle := func(layer []int, near [][]int) {
		want := make([]float64, len(layer))
		for i, v := range layer {
			want[i] = centre(v, near, l.x)
		}
		// As far left as the gaps allow from the wanted places, and as far
		// right: the mean of both keeps the gaps.
		left, right := make([]float64, len(layer)), make([]float64, len(layer))
		for i := range layer {
			left[i] = want[i]
			if i > 0 {
				left[i] = max(left[i], left[i-1]+(width(layer[i-1])+width(layer[i]))/2+gap)
			}
		}
		for i := len(layer) - 1; i >= 0; i-- {
			right[i] = want[i]
			if i+1 < len(layer) {
				right[i] = min(right[i], right[i+1]-(width(layer[i])+width(layer[i+1]))/2-gap)
			}
		}
		for i, v := range layer {
			l.x[v] = (left[i] + right[i]) / 2
		}
	}
	for range 8 {
		for i := len(l.layers) - 2; i >= 0; i-- {
			settle(l.layers[i], l.down)
		}
		for i := 1; i < len(l.layers); i++ {
			settle(l.layers[i], l.up)
		}
	}
	lo := math.Inf(1)
	for v, x := range l.x {
		lo = min(lo, x-width(v)/2)
	}
	for v := range l.x {
		l.x[v] -= lo
	}
}
