// Benchtable turns the lines that benchmarks print into one table.
//
//	go test -bench . ./... | go run ./cmd/benchtable
//
// Its one idea: a figure means something beside another one. Sub-benchmarks of one benchmark are a group, and each is given
// as a multiple of the group's first; a benchmark that targets.txt names is set against its target. Benchmarks
// that are not Go's take part by printing the same lines.
//
// It must not know what any benchmark measures.
package main
