package host

import "sync"

// parallelFrom is the number of elements from which a second goroutine pays:
// it costs a microsecond or two, an element about one nanosecond.
const parallelFrom = 16 << 10

// parallel runs f over two halves of n items, each of so many elements, when
// there are enough of them. Items must not depend on each other, so that
// results do not depend on the split.
func parallel(n, elements int, f func(lo, hi int)) {
	if n < 2 || n*elements < parallelFrom {
		f(0, n)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { f(n/2, n) })
	f(0, n/2)
	wg.Wait()
}
