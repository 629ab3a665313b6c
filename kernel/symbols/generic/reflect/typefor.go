// Package reflect stands for the generic functions of reflect.
package reflect

import "reflect"

// TypeFor returns the type that is its argument.
func TypeFor[T any]() reflect.Type {
	var p *T
	return reflect.TypeOf(p).Elem()
}
