// Package nn is layers, losses and models.
//
// Its one idea: a [Module] is anything with Forward and Params; layers are
// modules with parameters of their own, and Sequential is a module of modules.
// A type of one's own with these two methods is as good as those here.
//
//	model := nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
//	loss := nn.CrossEntropy(model.Forward(x), labels)
//
// Initial parameters are drawn on the host from the device's seed, so that the
// same program starts from the same bits on every device.
//
// What the layers of this package hand to each other in a Sequential belongs
// to the tape: Backward frees it. What a layer of one's own returns lives as
// long as Go can reach it.
//
// The package must not know optimizers, data sets, sessions or notebooks.
package nn
