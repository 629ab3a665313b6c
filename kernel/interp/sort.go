package interp

import (
	"reflect"
	"slices"
)

// sortSlice is slices.Sort. Lowered slices have elements of basic types.
func sortSlice(x any) {
	switch x := x.(type) {
	case []int:
		slices.Sort(x)
	case []float64:
		slices.Sort(x)
	case []string:
		slices.Sort(x)
	default:
		v := reflect.ValueOf(x)
		sortBy(v, slices.SortFunc[[]int], func(a, b reflect.Value) int { return compareBasic(a, b) })
	}
}

// compareBasic is cmp.Compare; NaN is below all numbers.
func compareBasic(a, b reflect.Value) int {
	switch {
	case lessBasic(a, b):
		return -1
	case lessBasic(b, a):
		return 1
	}
	return 0
}

func lessBasic(a, b reflect.Value) bool {
	switch {
	case a.CanInt():
		return a.Int() < b.Int()
	case a.CanUint():
		return a.Uint() < b.Uint()
	case a.CanFloat():
		x, y := a.Float(), b.Float()
		return x < y || x != x && y == y
	}
	return a.String() < b.String()
}

// sortSliceFunc is slices.SortFunc.
func sortSliceFunc(x, cmp any) { sortCalling(x, cmp, slices.SortFunc[[]int]) }

// sortSliceStable is slices.SortStableFunc.
func sortSliceStable(x, cmp any) { sortCalling(x, cmp, slices.SortStableFunc[[]int]) }

func sortCalling(x, cmp any, sort func([]int, func(a, b int) int)) {
	f := reflect.ValueOf(cmp)
	sortBy(reflect.ValueOf(x), sort, func(a, b reflect.Value) int {
		return int(f.Call([]reflect.Value{a, b})[0].Int())
	})
}

// sortBy sorts the numbers of the elements by the library's own algorithm, and then the elements: the same comparisons lead to
// the same order, equal elements included.
func sortBy(v reflect.Value, sort func([]int, func(a, b int) int), cmp func(a, b reflect.Value) int) {
	n := v.Len()
	old := reflect.MakeSlice(v.Type(), n, n)
	reflect.Copy(old, v)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort(order, func(a, b int) int { return cmp(old.Index(a), old.Index(b)) })
	for i, from := range order {
		v.Index(i).Set(old.Index(from))
	}
}

// overlaps says whether two slices share memory.
func overlaps(a, b any) bool {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	size := v.Type().Elem().Size()
	if v.Len() == 0 || w.Len() == 0 || size == 0 {
		return false
	}
	v0, w0 := v.Pointer(), w.Pointer()
	return v0 < w0+uintptr(w.Len())*size && w0 < v0+uintptr(v.Len())*size
}
