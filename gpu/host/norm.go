package host

import (
	"math"

	"gradbook/gpu"
)

func layerNorm[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.LayerNormParams)
	x, gamma, beta := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2])
	y, means, rstds := elems[T](l.Args[3]), elems[T](l.Args[4]), elems[T](l.Args[5])
	eps := float64(T(p.Eps))
	cols := int(p.Cols)
	for r := range int(p.Rows) {
		row := x[r*cols : (r+1)*cols]
		mean, variance := 0.0, 0.0
		for _, v := range row {
			mean += float64(v)
		}
		mean /= float64(cols)
		for _, v := range row {
			variance += (float64(v) - mean) * (float64(v) - mean)
		}
		variance /= float64(cols)
		rstd := 1 / math.Sqrt(variance+eps)
		for c, v := range row {
			y[r*cols+c] = T((float64(v)-mean)*rstd*float64(gamma[c]) + float64(beta[c]))
		}
		means[r], rstds[r] = T(mean), T(rstd)
	}
}

func layerNormBwd[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.LayerNormBwdParams)
	dy, x, gamma := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2])
	means, rstds, dx := elems[T](l.Args[3]), elems[T](l.Args[4]), elems[T](l.Args[5])
	cols := int(p.Cols)
	for r := range int(p.Rows) {
		mean, rstd := float64(means[r]), float64(rstds[r])
		// With xhat = (x-mean)*rstd: the row means of dy*gamma and of
		// dy*gamma*xhat.
		flat, tilted := 0.0, 0.0
		for c := range cols {
			i := r*cols + c
			g := float64(dy[i]) * float64(gamma[c])
			flat += g
			tilted += g * (float64(x[i]) - mean) * rstd
		}
		flat /= float64(cols)
		tilted /= float64(cols)
		for c := range cols {
			i := r*cols + c
			xhat := (float64(x[i]) - mean) * rstd
			dx[i] = T(rstd * (float64(dy[i])*float64(gamma[c]) - flat - xhat*tilted))
		}
	}
}

func layerNormParamBwd[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.LayerNormBwdParams)
	dy, x, means, rstds := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2]), elems[T](l.Args[3])
	dgamma, dbeta := elems[T](l.Args[4]), elems[T](l.Args[5])
	cols := int(p.Cols)
	for c := range cols {
		g, b := 0.0, 0.0
		for r := range int(p.Rows) {
			i := r*cols + c
			g += float64(dy[i]) * (float64(x[i]) - float64(means[r])) * float64(rstds[r])
			b += float64(dy[i])
		}
		dgamma[c], dbeta[c] = T(g), T(b)
	}
}
