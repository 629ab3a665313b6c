// Package gputest is one conformance suite for every backend.
//
// Its one idea: a backend is right if every kernel gives what a loop in
// float64, written here and sharing nothing with any backend, gives; if it
// touches nothing outside its spans; and if a device on top of it keeps its
// books through any sequence of operations and faults. A new backend's test is
//
//	func TestConformance(t *testing.T) { gputest.Run(t, open) }
//
// The package must not know any backend.
package gputest
