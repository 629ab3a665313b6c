package session

import (
	"fmt"
	"reflect"
	"testing"

	"gradbook/gpu"
)

// BenchmarkIdleCell is what the session adds to a cell that does nothing,
// while variables lead to so many storages.
func BenchmarkIdleCell(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := New()
			defer s.Close()
			d, err := s.Use("host")
			if err != nil {
				b.Fatal(err)
			}
			list := make([]*gpu.Storage, n)
			for i := range list {
				list[i] = d.NewStorage(4, "x", gpu.Temporary)
			}
			globals := []Global{{Name: "list", Value: reflect.ValueOf(list), Cell: 1}}
			for i := range b.N {
				s.BeginCell(i)
				if _, err := s.EndCell(End{Globals: globals}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
