package host

import (
	"math"

	"gradbook/gpu"
)

func gatherRows[T element](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.RowsParams)
	table, index, out := elems[T](l.Args[0]), elems[int32](l.Args[1]), elems[T](l.Args[2])
	width := int(p.Width)
	var missing T
	switch m := any(&missing).(type) {
	case *float32:
		*m = float32(math.NaN())
	case *float64:
		*m = math.NaN()
	}
	for r := range int(p.Rows) {
		row := out[r*width : (r+1)*width]
		if at := int(index[r]); at >= 0 && at < int(p.Table) {
			copy(row, table[at*width:])
			continue
		}
		for c := range row {
			row[c] = missing
		}
	}
}

func scatterAddRows[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.RowsParams)
	x, index, table := elems[T](l.Args[0]), elems[int32](l.Args[1]), elems[T](l.Args[2])
	width := int(p.Width)
	for r := range int(p.Rows) {
		at := int(index[r])
		if at < 0 || at >= int(p.Table) {
			continue
		}
		for c := range width {
			table[at*width+c] += x[r*width+c]
		}
	}
}
