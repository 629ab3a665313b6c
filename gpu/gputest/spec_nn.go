package gputest

import (
	"math"
	"math/bits"

	"gradbook/gpu"
)

func rowOf(x []float64, r int, cols uint32) []float64 {
	return x[r*int(cols) : (r+1)*int(cols)]
}

// logSum is the logarithm of the sum of exponentials.
func logSum(row []float64) float64 {
	top := row[first(row)]
	sum := 0.0
	for _, v := range row {
		sum += math.Exp(v - top)
	}
	return math.Log(sum) + top
}

func specSoftmax(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.SoftmaxParams)
	for r := range int(p.Rows) {
		x, y := rowOf(args[0], r, p.Cols), rowOf(args[1], r, p.Cols)
		for c, lse := 0, logSum(x); c < len(x); c++ {
			y[c] = x[c] - lse
			if p.Log == 0 {
				y[c] = math.Exp(y[c])
			}
		}
	}
}

// The gradient is the product of dy with the Jacobian, written out.
func specSoftmaxBwd(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.SoftmaxParams)
	for r := range int(p.Rows) {
		y, dy, dx := rowOf(args[0], r, p.Cols), rowOf(args[1], r, p.Cols), rowOf(args[2], r, p.Cols)
		for j := range dx {
			dx[j] = 0
			for i := range dy {
				delta := 0.0
				if i == j {
					delta = 1
				}
				if p.Log != 0 {
					dx[j] += dy[i] * (delta - math.Exp(y[j]))
				} else {
					dx[j] += dy[i] * y[i] * (delta - y[j])
				}
			}
		}
	}
}

func specXent(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.XentParams)
	for r := range int(p.Rows) {
		row := rowOf(args[0], r, p.Cols)
		args[3][r] = logSum(row)
		args[2][r] = math.NaN()
		if k := int(args[1][r]); k >= 0 && k < len(row) {
			args[2][r] = args[3][r] - row[k]
		}
	}
}

func specXentBwd(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.XentBwdParams)
	for i, v := range args[0] {
		r, c := i/int(p.Cols), i%int(p.Cols)
		probability := math.Exp(v - args[2][r])
		if int(args[1][r]) == c {
			probability--
		}
		args[4][i] = scalar(l, p.Scale) * args[3][r*int(p.DLossStride)] * probability
	}
}

func specLayerNorm(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.LayerNormParams)
	for r := range int(p.Rows) {
		x, y := rowOf(args[0], r, p.Cols), rowOf(args[3], r, p.Cols)
		mean, squares := 0.0, 0.0
		for _, v := range x {
			mean += v / float64(p.Cols)
		}
		for _, v := range x {
			squares += (v - mean) * (v - mean) / float64(p.Cols)
		}
		args[4][r] = mean
		args[5][r] = math.Pow(squares+scalar(l, p.Eps), -0.5)
		for c, v := range x {
			y[c] = (v-mean)*args[5][r]*args[1][c] + args[2][c]
		}
	}
}

// With n columns, dx = rstd/n * (n*g - sum(g) - xhat*sum(g*xhat)), g = dy*gamma.
func specLayerNormBwd(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.LayerNormBwdParams)
	n := float64(p.Cols)
	for r := range int(p.Rows) {
		dy, x, dx := rowOf(args[0], r, p.Cols), rowOf(args[1], r, p.Cols), rowOf(args[5], r, p.Cols)
		mean, rstd := args[3][r], args[4][r]
		g, gx := 0.0, 0.0
		for c := range dy {
			g += dy[c] * args[2][c]
			gx += dy[c] * args[2][c] * (x[c] - mean) * rstd
		}
		for c := range dx {
			dx[c] = rstd / n * (n*dy[c]*args[2][c] - g - (x[c]-mean)*rstd*gx)
		}
	}
}

func specLayerNormParamBwd(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.LayerNormBwdParams)
	clear(args[4])
	clear(args[5])
	for i, dy := range args[0] {
		r, c := i/int(p.Cols), i%int(p.Cols)
		args[4][c] += dy * (args[1][i] - args[2][r]) * args[3][r]
		args[5][c] += dy
	}
}

// draw is the word of the i-th element: Philox4x32-10 as its authors state it.
func draw(state []float64, i int) uint32 {
	count := uint64(state[1])<<32 + uint64(state[0]) + uint64(i/4)
	x := [4]uint32{uint32(count), uint32(count >> 32), 0, 0}
	key := [2]uint32{uint32(state[2]), uint32(state[3])}
	for round := range uint32(10) {
		k0, k1 := key[0]+round*0x9E3779B9, key[1]+round*0xBB67AE85
		p0, p1 := uint64(x[0])*0xD2511F53, uint64(x[2])*0xCD9E8D57
		x = [4]uint32{uint32(p1>>32) ^ x[1] ^ k0, uint32(p1), uint32(p0>>32) ^ x[3] ^ k1, uint32(p0)}
	}
	return x[i%4]
}

func specRandom(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.RandomParams)
	a, b := scalar(l, p.A), scalar(l, p.B)
	for i := range args[1] {
		if p.Dist == gpu.Uniform {
			args[1][i] = a + (b-a)*float64(draw(args[0], i)>>8)/(1<<24)
			continue
		}
		even := i / 2 * 2
		radius := math.Sqrt(-2 * math.Log(float64(draw(args[0], even)>>8+1)/(1<<24)))
		turn := 2 * math.Pi * float64(draw(args[0], even+1)>>8) / (1 << 24)
		if i == even {
			args[1][i] = a + b*radius*math.Cos(turn)
		} else {
			args[1][i] = a + b*radius*math.Sin(turn)
		}
	}
}

func specCount(l *gpu.Launch, args [][]float64) {
	low, carry := bits.Add32(uint32(args[0][0]), l.Params.(*gpu.CountParams).Add, 0)
	args[0][0], args[0][1] = float64(low), float64(uint32(args[0][1])+carry)
}

func specDropout(l *gpu.Launch, args [][]float64) {
	drop := scalar(l, l.Params.(*gpu.DropoutParams).P)
	for i, x := range args[1] {
		args[2][i], args[3][i] = 0, 0
		if float64(draw(args[0], i)>>8)/(1<<24) >= drop {
			args[3][i] = 1 / (1 - drop)
			args[2][i] = x / (1 - drop)
		}
	}
}

func specSGDStep(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.SGDParams)
	lr, momentum := scalar(l, p.LR), scalar(l, p.Momentum)
	for i, g := range args[0] {
		w, v := &args[1][i], &args[2][i]
		g += scalar(l, p.WeightDecay) * *w
		*v = momentum**v + g
		step := *v
		if p.Nesterov != 0 {
			step = g + momentum**v
		}
		*w -= lr * step
	}
}

func specAdamStep(l *gpu.Launch, args [][]float64) {
	p := l.Params.(*gpu.AdamParams)
	lr, decay, eps := scalar(l, p.LR), scalar(l, p.WeightDecay), scalar(l, p.Eps)
	b1, b2 := scalar(l, p.Beta1), scalar(l, p.Beta2)
	t := args[1][0] + args[1][1]*(1<<32)
	for i, g := range args[0] {
		w, m, v := &args[2][i], &args[3][i], &args[4][i]
		if p.Decoupled != 0 {
			*w *= 1 - lr*decay
		} else {
			g += decay * *w
		}
		*m = b1**m + (1-b1)*g
		*v = b2**v + (1-b2)*g*g
		*w -= lr * *m / (1 - math.Pow(b1, t)) / (math.Sqrt(*v/(1-math.Pow(b2, t))) + eps)
	}
}
