// Mutate breaks gradbook on purpose, one line at a time, and asks for each break whether the test that
// should notice does.
//
// Its one idea: a test that cannot fail proves nothing. The tables in faults/ name one-line faults; each is
// applied in a scratch copy of the tree, never in the tree itself, and the test it names must then fail. A
// fault that does not compile, a test that does not exist and a test that fails without the fault count
// against the table, not for it.
//
// A table is a text file of blocks, separated by blank lines; a line that starts with # is a comment:
//
//	fault pool-hands-out-short-block
//	file  gpu/pool.go
//	old   if block.size >= bytes {
//	new   if block.size < bytes {
//	test  ./gpu TestPoolFits
//
// Old is a part of one line (surrounding blanks aside) that occurs exactly once in the file; new takes its
// place and may be empty. Test names a package and a top-level test function. One fault may be tried by name: mutate NAME...
//
// It must not know what any package does.
package main
