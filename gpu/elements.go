package gpu

// Elements says how many elements, counted from the first byte of its span, a
// launch touches in each argument, in the order of the kernel's table row. For
// an argument that is only written this is its whole content. A negative
// number means that the parameters reach before the span, or contradict
// themselves.
func Elements(k Kernel, params any) [MaxArgs]int64 {
	switch p := params.(type) {
	case *FillParams:
		return touch(p.N)
	case *ArangeParams:
		return touch(p.N)
	case *CopyParams:
		return [MaxArgs]int64{reach(p.N, p.Rank, &p.Dims, &p.X), int64(p.N)}
	case *PasteParams:
		return [MaxArgs]int64{int64(p.N), reach(p.N, p.Rank, &p.Dims, &p.Dst)}
	case *CastParams:
		return touch(p.N, p.N)
	case *UnaryParams:
		return touch(p.N, p.N)
	case *BinaryParams:
		return [MaxArgs]int64{reach(p.N, p.Rank, &p.Dims, &p.A), reach(p.N, p.Rank, &p.Dims, &p.B), int64(p.N)}
	case *AxpbyParams:
		return touch(p.N, p.N)
	case *WhereParams:
		return touch(p.N, p.N, p.N, p.N)
	case *ReduceParams:
		return [MaxArgs]int64{product(p.Outer, p.Axis, p.Inner), product(p.Outer, p.Inner)}
	case *ArgMaxParams:
		return [MaxArgs]int64{product(p.Outer, p.Axis, p.Inner), product(p.Outer, p.Inner)}
	case *GemmParams:
		return [MaxArgs]int64{
			matrices(p.Batch, p.StrideA, p.M, p.K, p.LDA, p.TransA),
			matrices(p.Batch, p.StrideB, p.K, p.N, p.LDB, p.TransB),
			matrices(p.Batch, p.StrideC, p.M, p.N, p.LDC, 0),
		}
	case *RowsParams:
		rows, table := product(p.Rows, p.Width), product(p.Table, p.Width)
		if k == GatherRows {
			return [MaxArgs]int64{table, int64(p.Rows), rows}
		}
		return [MaxArgs]int64{rows, int64(p.Rows), table}
	case *WindowParams:
		image, cols := product(p.N, p.C, p.H, p.W), product(p.N, p.C, p.KH, p.KW, p.OH, p.OW)
		if k == Im2col {
			return [MaxArgs]int64{image, cols}
		}
		return [MaxArgs]int64{cols, image}
	case *PoolParams:
		image, windows := product(p.N, p.C, p.H, p.W), product(p.N, p.C, p.OH, p.OW)
		if k == MaxPool {
			return [MaxArgs]int64{image, windows, windows}
		}
		return [MaxArgs]int64{windows, windows, image}
	case *RandomParams:
		return touch(stateWords, p.N)
	case *CountParams:
		return touch(stateWords)
	case *LinearParams:
		return [MaxArgs]int64{product(p.Rows, p.In), product(p.Out, p.In), int64(p.Out), product(p.Rows, p.Out)}
	case *LinearParamBwdParams:
		return [MaxArgs]int64{product(p.Rows, p.Out), product(p.Rows, p.In), product(p.Out, p.In), int64(p.Out)}
	case *Conv2DParams:
		image, windows, w := product(p.N, p.C, p.H, p.W), product(p.N, p.O, p.OH, p.OW), product(p.O, p.C, p.KH, p.KW)
		switch k {
		case Conv2D:
			return [MaxArgs]int64{image, w, int64(p.O), windows}
		case Conv2DBwd:
			return [MaxArgs]int64{windows, w, image}
		}
		return [MaxArgs]int64{windows, image, w, int64(p.O)}
	case *SoftmaxParams:
		n := product(p.Rows, p.Cols)
		return [MaxArgs]int64{n, n, n}
	case *XentParams:
		return [MaxArgs]int64{product(p.Rows, p.Cols), int64(p.Rows), int64(p.Rows), int64(p.Rows)}
	case *XentBwdParams:
		n, losses := product(p.Rows, p.Cols), int64(p.Rows)
		if p.DLossStride == 0 {
			losses = min(losses, 1)
		}
		return [MaxArgs]int64{n, int64(p.Rows), int64(p.Rows), losses, n}
	case *LayerNormParams:
		n, rows, cols := product(p.Rows, p.Cols), int64(p.Rows), int64(p.Cols)
		return [MaxArgs]int64{n, cols, cols, n, rows, rows}
	case *LayerNormBwdParams:
		n, rows, cols := product(p.Rows, p.Cols), int64(p.Rows), int64(p.Cols)
		if k == LayerNormBwd {
			return [MaxArgs]int64{n, n, cols, rows, rows, n}
		}
		return [MaxArgs]int64{n, n, rows, rows, cols, cols}
	case *DropoutParams:
		return touch(stateWords, p.N, p.N, p.N)
	case *SGDParams:
		return touch(p.N, p.N, p.N)
	case *AdamParams:
		return touch(p.N, stateWords, p.N, p.N, p.N)
	}
	return [MaxArgs]int64{}
}

// MaxArgs is the largest number of arguments in the kernel table.
const MaxArgs = 6

// stateWords is the size of a state block in 32-bit words.
const stateWords = 4

func touch(ns ...uint32) (e [MaxArgs]int64) {
	for i, n := range ns {
		e[i] = int64(n)
	}
	return e
}

func product(ns ...uint32) int64 {
	p := int64(1)
	for _, n := range ns {
		p *= int64(n)
	}
	return p
}

// reach is one more than the largest index of a strided walk over n elements.
func reach(n, rank uint32, dims *Dims, strides *Strides) int64 {
	if rank > MaxRank || product(dims[:rank]...) != int64(n) {
		return -1
	}
	if n == 0 {
		return 0
	}
	low, high := int64(0), int64(0)
	for d := range rank {
		step := int64(strides[d]) * (int64(dims[d]) - 1)
		low, high = low+min(step, 0), high+max(step, 0)
	}
	if low < 0 {
		return low
	}
	return high + 1
}

// matrices is the reach of a batch of matrices of rows by cols as the product
// sees them.
func matrices(batch, stride, rows, cols, ld, trans uint32) int64 {
	if trans != 0 {
		rows, cols = cols, rows
	}
	if batch == 0 || rows == 0 || cols == 0 {
		return 0
	}
	return product(batch-1, stride) + product(rows-1, ld) + int64(cols)
}

// size is the number of bytes of an element of the i-th argument.
func (info *KernelInfo) size(i int, t DType, params any) int64 {
	switch info.Args[i].Type {
	case Typed:
		return t.Size()
	case Foreign:
		return DType(params.(*CastParams).From).Size()
	}
	return Int32.Size()
}
