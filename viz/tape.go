package viz

import (
	"fmt"
	"strings"

	"gradbook/viz/display"
)

// Taped is a value that knows what it was computed by: a variable. Inputs are
// visited before what is computed from them; op is "" for a leaf; flows tells
// that a gradient comes back there.
type Taped interface {
	Tape(visit func(id int, op, name string, shape []int, flows bool, inputs []int))
}

// taped is a node of a tape.
type taped struct {
	op, name string
	shape    []int
	flows    bool
	inputs   []int
}

func (n taped) leaf() bool { return n.op == "" }

func (n taped) title() string {
	switch {
	case n.op != "":
		return n.op
	case n.name != "":
		return n.name
	case n.flows:
		return "parameter"
	}
	return "constant"
}

func (n taped) size() string {
	if len(n.shape) == 0 {
		return "scalar"
	}
	s := make([]string, len(n.shape))
	for i, d := range n.shape {
		s[i] = fmt.Sprint(d)
	}
	return strings.Join(s, " × ")
}

// drawnTape is how many nodes a picture of a tape has at most: beyond, it
// shows the last ones.
const drawnTape = 120

// TapeGraph shows the tape of a value before Backward: operations as boxes
// from the leaves at the top down to the value, and where the gradient flows
// back.
func TapeGraph(v Taped) display.Bundle {
	var nodes []taped
	v.Tape(func(_ int, op, name string, shape []int, flows bool, inputs []int) {
		nodes = append(nodes, taped{op, name, append([]int(nil), shape...), flows, append([]int(nil), inputs...)})
	})
	var notes []string
	if len(nodes) == 1 {
		notes = append(notes, "nothing is on the tape: the value is a leaf, or Backward has been here; draw it before")
	}
	text := tapeTable(nodes).String()
	if cut := len(nodes) - drawnTape; cut > 0 {
		notes = append(notes, fmt.Sprintf("the picture leaves out the first %s", plural(int64(cut), "node")))
		nodes = lastOf(nodes, cut)
	}
	p := picture{text: strings.TrimRight(text+strings.Join(notes, "\n"), "\n"), alt: "autograd tape", more: small(notes)}
	p.svg, p.width = tapePicture(nodes)
	return p.bundle()
}

// lastOf drops the first nodes; what came from them becomes a leaf.
func lastOf(nodes []taped, cut int) []taped {
	out := append([]taped(nil), nodes[cut:]...)
	for i := range out {
		var inputs []int
		for _, in := range out[i].inputs {
			if in >= cut {
				inputs = append(inputs, in-cut)
			}
		}
		out[i].inputs = inputs
	}
	return out
}

func tapeTable(nodes []taped) *table {
	t := &table{head: []string{">", "operation", "from", "shape", "gradient"}}
	for i, n := range nodes {
		var from []string
		for _, in := range n.inputs {
			from = append(from, fmt.Sprint(in))
		}
		op := n.title()
		if n.leaf() {
			op = "leaf " + op
		}
		flows := "–"
		if n.flows {
			flows = "flows"
		}
		t.add(fmt.Sprint(i), op, strings.Join(from, ", "), n.size(), flows)
	}
	return t
}

func tapePicture(nodes []taped) (string, float64) {
	const boxHigh, layerGap, gap, margin, legend = 38.0, 30.0, 18.0, 10.0, 30.0
	width := func(i int) float64 {
		n := nodes[i]
		return max(64, 1.1*textWidth(n.title(), 12)+24, textWidth(n.size(), 10.5)+20)
	}
	inputs := make([][]int, len(nodes))
	for i, n := range nodes {
		inputs[i] = n.inputs
	}
	l := layered(inputs, width, gap)
	right := 300.0
	for i := range nodes {
		right = max(right, l.x[i]+width(i)/2)
	}
	y := func(v int) float64 { return margin + float64(l.layer[v])*(boxHigh+layerGap) }
	s := newSVG(right+2*margin, 2*margin+float64(len(l.layers))*(boxHigh+layerGap)-layerGap+legend)
	for to, n := range nodes {
		for _, from := range n.inputs {
			s.tapeEdge(l, l.paths[[2]int{from, to}], nodes[from].flows && n.flows, func(v int) (x, top, bottom float64) {
				high := boxHigh
				if v >= len(nodes) {
					high = 0
				}
				return l.x[v] + margin, y(v) + (boxHigh-high)/2, y(v) + (boxHigh+high)/2
			})
		}
	}
	for i, n := range nodes {
		s.tapeBox(n, box{l.x[i] + margin - width(i)/2, y(i), width(i), boxHigh})
	}
	base := s.h - 12
	s.line(margin, base-4, margin+22, base-4, orange, "1")
	s.text(margin+28, base, "a gradient flows back", style{size: 11})
	at := margin + 28 + textWidth("a gradient flows back", 11) + 14
	s.line(at, base-4, at+22, base-4, grey, "0.6")
	s.text(at+28, base, "none does", style{size: 11})
	return s.finish("autograd tape of " + nodes[len(nodes)-1].title()), s.w
}

// tapeEdge draws the way along a path of nodes and dummies, each placed by at.
func (s *svg) tapeEdge(l *layering, path []int, flows bool, at func(v int) (x, top, bottom float64)) {
	color, opacity := grey, "0.6"
	if flows {
		color, opacity = orange, "1"
	}
	var d strings.Builder
	for i := 1; i < len(path); i++ {
		x1, _, y1 := at(path[i-1])
		x2, y2, _ := at(path[i])
		if i == 1 {
			fmt.Fprintf(&d, "M%s %s", num(x1), num(y1))
		}
		mid := (y1 + y2) / 2
		fmt.Fprintf(&d, "C%s %s %s %s %s %s", num(x1), num(mid), num(x2), num(mid), num(x2), num(y2))
		if i == len(path)-1 {
			fmt.Fprintf(&d, "m-4 -7l4 7l4 -7")
		}
	}
	fmt.Fprintf(&s.body, `<path d="%s" fill="none" stroke="%s" stroke-opacity="%s" stroke-width="1.4"/>`, d.String(), color, opacity)
}

// tapeBox draws a node: operations framed, leaves filled, parameters in the
// parameters' colour.
func (s *svg) tapeBox(n taped, b box) {
	title, shape := ink, ink
	switch {
	case n.leaf() && n.flows:
		s.rect(b.x, b.y, b.w, b.h, `rx="19" fill="`+tileColors[parameter]+`"`)
		title, shape = "#fff", "#fff"
	case n.leaf():
		s.rect(b.x, b.y, b.w, b.h, `rx="19" fill="`+tileColors[data]+`"`)
		title, shape = "#fff", "#fff"
	default:
		s.rect(b.x, b.y, b.w, b.h, `rx="5" fill="`+grey+`" fill-opacity="0.1" stroke="`+ink+`" stroke-opacity="0.7"`)
	}
	s.text(b.x+b.w/2, b.y+16, n.title(), style{size: 12, anchor: "middle", color: title, weight: "600"})
	s.text(b.x+b.w/2, b.y+30, n.size(), style{size: 10.5, anchor: "middle", color: shape})
}
