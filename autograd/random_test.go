package autograd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gradbook/tensor"
)

// graph is a random program of operations: each takes values made before, some
// of them several times, through views and broadcasts.
type graph struct {
	r   *rand.Rand
	log []string
}

func (g *graph) pick(vs []*Var) (*Var, int) {
	i := g.r.IntN(len(vs))
	return vs[i], i
}

// grow appends the result of one random operation. Values stay of order one,
// so that central differences are exact enough.
func (g *graph) grow(vs []*Var) []*Var {
	a, i := g.pick(vs)
	b, j := g.pick(vs)
	_, fits := tensor.Broadcast(a.Shape(), b.Shape())
	rank := len(a.Shape())
	var y *Var
	name := ""
	switch k := g.r.IntN(16); {
	case k == 0 && fits:
		name, y = "add", a.Add(b)
	case k == 1 && fits:
		name, y = "sub", a.Sub(b)
	case k == 2 && fits:
		name, y = "mul", a.Mul(b)
	case k == 3 && fits:
		name, y = "where", Where(Const(a.Value.Greater(b.Value)), a, b)
	case k == 4 && rank == 2 && len(b.Shape()) == 2:
		name, y = "matmul", a.MatMul(b.T().MatMul(b).Tanh().Slice(0, 0, 1).BroadcastTo(a.Dim(1), b.Dim(1)))
	case k == 5 && rank >= 1:
		name, y = "sum", a.Sum(g.r.IntN(rank))
	case k == 6 && rank >= 1:
		name, y = "mean keep", a.MeanKeep(g.r.IntN(rank))
	case k == 7 && rank >= 2:
		name, y = "t", a.T()
	case k == 8 && rank >= 1 && a.Dim(0) > 1:
		name, y = "slice", a.Slice(0, 1, a.Dim(0))
	case k == 9 && rank >= 1:
		name, y = "reshape", a.Reshape(-1)
	case k == 10 && rank >= 1:
		name, y = "softmax", a.Softmax()
	case k == 11 && rank >= 1:
		name, y = "concat", Concat(0, a, a.MulScalar(0.5))
	case k == 12:
		name, y = "sigmoid", a.Sigmoid()
	case k == 13:
		name, y = "add scalar", a.AddScalar(0.1)
	case k == 14 && rank >= 1:
		name, y = "unsqueeze", a.Unsqueeze(0).BroadcastTo(append([]int{2}, a.Shape()...)...).Sum(0)
	default:
		name, y = "tanh", a.Tanh()
	}
	if y.Len() > 200 || y.Len() < 1 {
		return vs
	}
	g.log = append(g.log, fmt.Sprintf("%d = %s(%d, %d) %v", len(vs), name, i, j, y.Shape()))
	// Results in between are hidden at random, as compiled modules do.
	if g.r.IntN(3) == 0 {
		defer y.Discard()
	}
	return append(vs, y.Tanh())
}

// Gradients of random graphs: reuse, views, broadcasts and discarded values in
// all orders.
func TestRandomGraphs(t *testing.T) {
	tensor.Seed(11)
	for seed := range uint64(150) {
		var last *graph
		f := func(leaves []*Var) *Var {
			g := &graph{r: rand.New(rand.NewPCG(seed, 1))}
			last = g
			vs := slices.Clone(leaves)
			for len(vs) < 12 {
				n := len(vs)
				if vs = g.grow(vs); len(vs) == n && g.r.IntN(20) == 0 {
					break
				}
			}
			sum := vs[len(vs)-1].Sum()
			for _, v := range vs[len(vs)/2:] {
				sum = sum.Add(v.Mean())
			}
			return sum
		}
		if err := GradCheck(f, rnd(2, 3), rnd(3), rnd(2, 1), rnd()); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(last.log, "\n"))
		}
	}
}
