package host

import (
	"math"

	"gradbook/gpu"
)

func sgdStep[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.SGDParams)
	gs, ws, vs := elems[T](l.Args[0])[:p.N], elems[T](l.Args[1])[:p.N], elems[T](l.Args[2])[:p.N]
	lr, momentum, decay := float64(T(p.LR)), float64(T(p.Momentum)), float64(T(p.WeightDecay))
	parallel(len(ws), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			g, w := float64(gs[i]), float64(ws[i])
			g += decay * w
			v := momentum*float64(vs[i]) + g
			if p.Nesterov != 0 {
				w -= lr * (g + momentum*v)
			} else {
				w -= lr * v
			}
			ws[i], vs[i] = T(w), T(v)
		}
	})
}

func adamStep[T float](h *backend, l *gpu.Launch) {
	p := l.Params.(*gpu.AdamParams)
	gs, ws, ms, vs := elems[T](l.Args[0])[:p.N], elems[T](l.Args[2])[:p.N], elems[T](l.Args[3])[:p.N], elems[T](l.Args[4])[:p.N]
	t := float64(readState(l.Args[1]).count)
	lr, eps, decay := float64(T(p.LR)), float64(T(p.Eps)), float64(T(p.WeightDecay))
	beta1, beta2 := float64(T(p.Beta1)), float64(T(p.Beta2))
	fix1, fix2 := 1-math.Pow(beta1, t), 1-math.Pow(beta2, t)
	parallel(len(ws), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			g, w := float64(gs[i]), float64(ws[i])
			if p.Decoupled != 0 {
				w -= lr * decay * w
			} else {
				g += decay * w
			}
			m := beta1*float64(ms[i]) + (1-beta1)*g
			v := beta2*float64(vs[i]) + (1-beta2)*g*g
			w -= lr * (m / fix1) / (math.Sqrt(v/fix2) + eps)
			ws[i], ms[i], vs[i] = T(w), T(m), T(v)
		}
	})
}
