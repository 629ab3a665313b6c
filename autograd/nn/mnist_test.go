package nn_test

import (
	"testing"

	"gradbook/autograd/data"
	"gradbook/autograd/nn"
	"gradbook/autograd/optim"
	"gradbook/tensor"
)

// TestMNIST trains the model of the first notebook.
func TestMNIST(t *testing.T) {
	tensor.Seed(1)
	train, test := data.MNIST()
	model := nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
	opt := optim.Adam(model.Params(), 2e-3)
	for epoch := range 3 {
		for _, b := range train.Shuffled(epoch).Batches(128) {
			nn.CrossEntropy(model.Forward(b.X), b.Y).Backward()
			opt.Step()
		}
	}
	if a := nn.Accuracy(model, test); a < 0.97 {
		t.Errorf("test accuracy %.2f%%, want 97%% or more", 100*a)
	} else {
		t.Logf("test accuracy %.2f%%", 100*a)
	}
}
