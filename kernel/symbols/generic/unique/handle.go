// Package unique stands for the generic types of unique.
package unique

// Handle is equal to another if their values are.
type Handle[T comparable] struct{ value T }

// Make returns the handle of a value.
func Make[T comparable](value T) Handle[T] { return Handle[T]{value} }

// Value returns what the handle was made of.
func (h Handle[T]) Value() T { return h.value }
