package viz

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// graph is a tape of nodes that are given by their inputs.
type graph [][]int

func (g graph) Tape(visit func(id int, op, name string, shape []int, flows bool, inputs []int)) {
	for i, in := range g {
		op, name := fmt.Sprint("op", i), ""
		if len(in) == 0 {
			op, name = "", fmt.Sprint("x", i)
		}
		visit(i, op, name, []int{2, 3}, i%2 == 1, in)
	}
}

func TestTapeGraph(t *testing.T) {
	b := TapeGraph(graph{nil, nil, {0, 1}, {2, 2}, {3, 1}})
	_, picture := checkForms(t, b)
	// Three framed operations, two filled leaves, and one edge for each pair.
	if n := strings.Count(picture, "<rect"); n != 5 {
		t.Errorf("%d boxes, want 5", n)
	}
	if n := strings.Count(picture, "<path"); n != 6 {
		t.Errorf("%d edges, want 6", n)
	}
	want := `   operation  from  shape  gradient
0  leaf x0          2 × 3  –
1  leaf x1          2 × 3  flows
2  op2        0, 1  2 × 3  –
3  op3        2, 2  2 × 3  flows
4  op4        3, 1  2 × 3  –`
	if b.Plain() != want {
		t.Errorf("text:\n%s\nwant:\n%s", b.Plain(), want)
	}
	if b := TapeGraph(graph{nil}); !strings.Contains(b.Plain(), "Backward has been here") {
		t.Errorf("an empty tape: %q", b.Plain())
	}
}

func TestLongTape(t *testing.T) {
	g := graph{nil}
	for i := range 1000 {
		g = append(g, []int{i})
	}
	b := TapeGraph(g)
	_, picture := checkForms(t, b)
	if n := strings.Count(picture, "<rect"); n != drawnTape {
		t.Errorf("%d boxes", n)
	}
	if !strings.Contains(b.Plain(), "leaves out the first 881 nodes") {
		t.Error("the cut is not told")
	}
}

// Edges go down, boxes do not overlap, and layers keep their order.
func TestLayeringOfRandomGraphs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n := 2 + r.IntN(40)
		inputs := make([][]int, n)
		for v := 1; v < n; v++ {
			for range r.IntN(4) {
				inputs[v] = append(inputs[v], r.IntN(v))
			}
		}
		const gap = 10
		width := func(v int) float64 { return float64(20 + v%7*10) }
		l := layered(inputs, width, gap)
		for v, in := range inputs {
			for _, from := range in {
				if l.layer[from] >= l.layer[v] {
					t.Fatalf("edge from layer %d to %d", l.layer[from], l.layer[v])
				}
				if path := l.paths[[2]int{from, v}]; len(path) != l.layer[v]-l.layer[from]+1 {
					t.Fatalf("an edge over %d layers has %d points", l.layer[v]-l.layer[from], len(path))
				}
			}
		}
		for _, layer := range l.layers {
			for i := 1; i < len(layer); i++ {
				a, b := layer[i-1], layer[i]
				wide := func(v int) float64 {
					if v < n {
						return width(v)
					}
					return 8
				}
				if l.x[b]-l.x[a] < (wide(a)+wide(b))/2+gap-1e-6 {
					t.Fatalf("boxes at %v and %v overlap", l.x[a], l.x[b])
				}
			}
		}
	}
}
