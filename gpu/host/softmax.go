package host

import (
	"math"

	"gradbook/gpu"
)

// logSumExp is the logarithm of the sum of exponentials of a row.
func logSumExp[T float](row []T) float64 {
	largest := float64(row[0])
	for _, v := range row[1:] {
		largest = larger(largest, float64(v))
	}
	sum := 0.0
	for _, v := range row {
		sum += math.Exp(float64(v) - largest)
	}
	return largest + math.Log(sum)
}

func softmax[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.SoftmaxParams)
	x, y := elems[T](l.Args[0]), elems[T](l.Args[1])
	cols := int(p.Cols)
	parallel(int(p.Rows), cols, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := x[r*cols : (r+1)*cols]
			lse := logSumExp(row)
			for c, v := range row {
				if p.Log != 0 {
					y[r*cols+c] = T(float64(v) - lse)
				} else {
					y[r*cols+c] = T(math.Exp(float64(v) - lse))
				}
			}
		}
	})
}

func softmaxBwd[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.SoftmaxParams)
	y, dy, dx := elems[T](l.Args[0]), elems[T](l.Args[1]), elems[T](l.Args[2])
	cols := int(p.Cols)
	for r := range int(p.Rows) {
		sum := 0.0
		for i := r * cols; i < (r+1)*cols; i++ {
			if p.Log != 0 {
				sum += float64(dy[i])
			} else {
				sum += float64(dy[i]) * float64(y[i])
			}
		}
		for i := r * cols; i < (r+1)*cols; i++ {
			if p.Log != 0 {
				dx[i] = T(float64(dy[i]) - math.Exp(float64(y[i]))*sum)
			} else {
				dx[i] = T(float64(y[i]) * (float64(dy[i]) - sum))
			}
		}
	}
}

func xent[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.XentParams)
	logits, labels := elems[T](l.Args[0]), elems[int32](l.Args[1])
	loss, lse := elems[T](l.Args[2]), elems[T](l.Args[3])
	cols := int(p.Cols)
	for r := range int(p.Rows) {
		row := logits[r*cols : (r+1)*cols]
		s := logSumExp(row)
		picked := math.NaN()
		if at := int(labels[r]); at >= 0 && at < cols {
			picked = float64(row[at])
		}
		loss[r], lse[r] = T(s-picked), T(s)
	}
}

func xentBwd[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.XentBwdParams)
	logits, labels := elems[T](l.Args[0]), elems[int32](l.Args[1])
	lse, dloss, dlogits := elems[T](l.Args[2]), elems[T](l.Args[3]), elems[T](l.Args[4])
	scale := float64(T(p.Scale))
	cols := int(p.Cols)
	for r := range int(p.Rows) {
		g := scale * float64(dloss[r*int(p.DLossStride)])
		for c := range cols {
			i := r*cols + c
			v := math.Exp(float64(logits[i]) - float64(lse[r]))
			if int(labels[r]) == c {
				v--
			}
			dlogits[i] = T(g * v)
		}
	}
}
