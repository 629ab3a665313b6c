package tensor

import "testing"

func TestLater(t *testing.T) {
	x := New([]float64{0}, 1)
	var reads []func() float64
	for range laterSize + 5 {
		x.AddInPlace(New([]float64{1}, 1), 1)
		reads = append(reads, x.Later())
	}
	before := x.Device().Counters()
	for i, read := range reads {
		if got := read(); got != float64(i+1) {
			t.Fatalf("number %d is %v, want %d: a later write must not show", i, got, i+1)
		}
	}
	if n := x.Device().Counters().Sub(before).Downloads; n > 3 {
		t.Errorf("%d downloads for %d numbers", n, len(reads))
	}
	wide := New([]float64{0.1}).Cast(Float64)
	if got := wide.Later()(); got != wide.Item() {
		t.Errorf("float64: %v", got)
	}
	if got := FromInts([]int{7}, 1).Later()(); got != 7 {
		t.Errorf("int32: %v", got)
	}
	defer func() {
		if _, ok := recover().(*Error); !ok {
			t.Error("two elements must be refused")
		}
	}()
	New([]float64{1, 2}).Later()
}
