package nn

import (
	"slices"

	"gradbook/autograd"
	"gradbook/tensor"
)

// CrossEntropy returns the mean, over the rows, of the cross-entropy of
// softmax(logits) and the labels: logits (n, classes), Int32 labels (n). A
// label outside the classes makes it NaN.
func CrossEntropy(logits, labels *autograd.Var) *autograd.Var {
	return autograd.CrossEntropy(logits, labels)
}

// MSE returns the mean of the squared differences. The shapes must be equal.
func MSE(pred, target *autograd.Var) *autograd.Var {
	equalShapes("mse", pred, target)
	d := pred.Sub(target)
	sq := d.Square()
	defer d.Discard()
	defer sq.Discard()
	return sq.Mean()
}

// L1 returns the mean of the absolute differences. The shapes must be equal.
func L1(pred, target *autograd.Var) *autograd.Var {
	equalShapes("l1", pred, target)
	d := pred.Sub(target)
	abs := d.Abs()
	defer d.Discard()
	defer abs.Discard()
	return abs.Mean()
}

// BCEWithLogits returns the mean binary cross-entropy of sigmoid(logits) and
// targets from 0 to 1, computed without overflow as softplus(x) - x*y. The
// shapes must be equal.
func BCEWithLogits(logits, targets *autograd.Var) *autograd.Var {
	equalShapes("bce_with_logits", logits, targets)
	soft := logits.Softplus()
	xy := logits.Mul(targets)
	each := soft.Sub(xy)
	defer soft.Discard()
	defer xy.Discard()
	defer each.Discard()
	return each.Mean()
}

// equalShapes keeps (n, 1) and (n) from being broadcast to (n, n).
func equalShapes(op string, a, b *autograd.Var) {
	if !slices.Equal(a.Shape(), b.Shape()) {
		tensor.Fail(op, "the shapes differ", "reshape one of them", a.Value, b.Value)
	}
}

// Batched is rows that come in batches: a data.Dataset.
type Batched interface {
	// Each calls f with each batch of n rows until f returns false.
	Each(n int, f func(x, y *autograd.Var) bool)
	// Len returns the number of rows.
	Len() int
}

// accuracyBatch rows are asked for at once.
const accuracyBatch = 1000

// Accuracy returns the part of the rows, 0 to 1, that the model gets right:
// those whose largest logit is at the label, or, if there is one logit a row,
// those where it is positive and the label 1, or not and the label 0. Dropout is
// off meanwhile, and there is no tape. It waits for the device once.
func Accuracy(model Module, rows Batched) float64 {
	defer setTraining(model, false)()
	var right *tensor.Tensor
	autograd.NoGrad(func() {
		rows.Each(accuracyBatch, func(x, labels *autograd.Var) bool {
			logits := model.Forward(x)
			n := hits(logits.Value, labels.Value)
			if right == nil {
				right = n
				return true
			}
			right.AddInPlace(n, 1)
			n.Free()
			return true
		})
	})
	defer right.Free()
	return right.Item() / float64(rows.Len())
}

// hits counts the rows that are right.
func hits(logits, labels *tensor.Tensor) *tensor.Tensor {
	if labels.Len() != logits.Dim(0) || logits.Rank() > 2 {
		tensor.Fail("accuracy", "needs logits (n, classes) or (n, 1), and labels (n)", "", logits, labels)
	}
	if logits.Len() == labels.Len() {
		return binaryHits(logits.Reshape(-1), labels.Reshape(-1))
	}
	best := logits.ArgMax(1)
	defer best.Free()
	whole := labels.Cast(tensor.Int32)
	if whole != labels {
		defer whole.Free()
	}
	same := best.Equal(whole.Reshape(-1))
	defer same.Free()
	return same.Sum()
}

func binaryHits(logits, labels *tensor.Tensor) *tensor.Tensor {
	zero := tensor.Maker{Device: logits.Device(), DType: logits.DType()}.Zeros()
	defer zero.Free()
	yes := logits.Greater(zero)
	defer yes.Free()
	wanted := labels.Cast(logits.DType())
	if wanted != labels {
		defer wanted.Free()
	}
	same := yes.Equal(wanted)
	defer same.Free()
	return same.Sum()
}
