// Package errors stands for the generic functions of errors.
package errors

import "errors"

// AsType returns the first error in err's tree that is an E.
func AsType[E error](err error) (E, bool) {
	var e E
	ok := errors.As(err, &e)
	return e, ok
}
