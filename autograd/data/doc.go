// Package data is what models learn from.
//
// Its one idea: a [Dataset] is rows of X with rows of Y, and an order in which
// to look at them. Shuffling, splitting and taking parts only make other
// orders. The rows of a batch are brought together in host memory when the
// batch's turn comes, and go to the device when an operation first needs them.
//
//	train, test := data.MNIST()
//	for _, b := range train.Shuffled(1).Batches(128) {
//		loss := nn.CrossEntropy(model.Forward(b.X), b.Y)
//		...
//	}
//
// A file that is missing, damaged or of another kind panics with a
// [*FileError], which names the file, what was expected and what was found.
//
// The package must not know models, optimizers, sessions or notebooks.
package data
