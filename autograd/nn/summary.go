package nn

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"gradbook/autograd"
	"gradbook/gpu"
	"gradbook/tensor"
)

// Table is what Summary returns: text in columns.
type Table string

func (t Table) String() string { return string(t) }

// Summary lists the layers of a model with their parameters and their bytes.
// With the shape of an input, the first dimension included, it also runs the
// model on zeros of that shape, and shows the shape that each layer gives.
func Summary(model Module, input ...int) Table {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	layers := []Module{model}
	if c, ok := model.(Container); ok {
		layers = c.Modules()
	}
	head := "layer\tparameters\tbytes"
	if len(input) > 0 {
		head = "layer\tresult\tparameters\tbytes"
	}
	fmt.Fprintln(w, head)
	shapes := make([]string, len(layers))
	if len(input) > 0 {
		shapes = results(model, layers, input)
	}
	total, bytes := 0, int64(0)
	for i, l := range layers {
		n, size := 0, int64(0)
		for _, p := range l.Params() {
			n += p.Len()
			size += int64(p.Len()) * p.DType().Size()
		}
		total, bytes = total+n, bytes+size
		row := fmt.Sprintf("%d %s\t", i, describe(l))
		if len(input) > 0 {
			row += shapes[i] + "\t"
		}
		fmt.Fprintf(w, "%s%d\t%s\n", row, n, gpu.Bytes(size))
	}
	row := "total\t"
	if len(input) > 0 {
		row += "\t"
	}
	fmt.Fprintf(w, "%s%d\t%s\n", row, total, gpu.Bytes(bytes))
	w.Flush()
	return Table(strings.TrimRight(b.String(), "\n"))
}

func results(model Module, layers []Module, input []int) []string {
	m := tensor.On(gpu.Default())
	if ps := model.Params(); len(ps) > 0 {
		m = tensor.On(ps[0].Device()).As(ps[0].DType())
	}
	if _, ok := layers[0].(*EmbeddingLayer); ok {
		m.DType = tensor.Int32
	}
	defer setTraining(model, false)()
	var shapes []string
	autograd.NoGrad(func() {
		x := autograd.Const(m.Zeros(input...))
		for _, l := range layers {
			x = l.Forward(x)
			shapes = append(shapes, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(x.Shape())), ", "), "[]"))
		}
	})
	return shapes
}
