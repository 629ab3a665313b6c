package host

import (
	"gradbook/gpu"
)

// convolution is a conv2d launch seen one image at a time: its columns fit the
// processor's caches, and those of all images would be many times the images.
type convolution[T float] struct {
	p        *gpu.Conv2DParams
	h        *backend
	rows     int // of the columns: C*KH*KW
	windows  int
	image    int // elements of an image of x
	result   int // of an image of y
	channels int
}

func convolutionOf[T float](h *backend, l *gpu.Launch) *convolution[T] {
	p := l.Params.(*gpu.Conv2DParams)
	return &convolution[T]{p, h, int(p.C * p.KH * p.KW), int(p.OH * p.OW), int(p.C * p.H * p.W), int(p.O * p.OH * p.OW), int(p.O)}
}

// one is the window over a single image.
func (c *convolution[T]) one() *gpu.WindowParams {
	w := c.p.Window()
	w.N = 1
	return w
}

func conv2D[T float](h *backend, l *gpu.Launch) {
	c := convolutionOf[T](h, l)
	x, w, b, y := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2]), elems[T](l.Args[3])
	cols, one := make([]T, c.rows*c.windows), c.one()
	act := unaryFuncs[c.p.Act]
	for n := range int(c.p.N) {
		toColumns(one, x[n*c.image:], cols)
		out := y[n*c.result : (n+1)*c.result]
		for o := range c.channels {
			plane := out[o*c.windows : (o+1)*c.windows]
			for i := range plane {
				plane[i] = b[o]
			}
		}
		product(h, matrix[T]{w, c.rows, false}, matrix[T]{cols, c.windows, false}, matrix[T]{out, c.windows, false}, c.channels, c.windows, c.rows, 1, 1)
	}
	if c.p.Act != gpu.Identity {
		parallel(int(c.p.N)*c.result, 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = T(act(float64(y[i])))
			}
		})
	}
}

func conv2DBwd[T float](h *backend, l *gpu.Launch) {
	c := convolutionOf[T](h, l)
	dy, w, dx := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2])
	cols, one := make([]T, c.rows*c.windows), c.one()
	for n := range int(c.p.N) {
		product(h, matrix[T]{w, c.rows, true}, matrix[T]{dy[n*c.result:], c.windows, false}, matrix[T]{cols, c.windows, false}, c.rows, c.windows, c.channels, 1, 0)
		fromColumns(one, cols, dx[n*c.image:(n+1)*c.image])
	}
}

func conv2DParamBwd[T float](h *backend, l *gpu.Launch) {
	c := convolutionOf[T](h, l)
	dy, x, dw, db := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2]), elems[T](l.Args[3])
	cols, one := make([]T, c.rows*c.windows), c.one()
	clear(dw[:c.channels*c.rows])
	sums := make([]float64, c.channels)
	for n := range int(c.p.N) {
		toColumns(one, x[n*c.image:], cols)
		out := dy[n*c.result : (n+1)*c.result]
		product(h, matrix[T]{out, c.windows, false}, matrix[T]{cols, c.windows, true}, matrix[T]{dw, c.rows, false}, c.channels, c.rows, c.windows, 1, 1)
		for o := range sums {
			for _, v := range out[o*c.windows : (o+1)*c.windows] {
				sums[o] += float64(v)
			}
		}
	}
	for o, s := range sums {
		db[o] = T(s)
	}
}
