package host

import "sync"

// parallelFrom is the number of elements from which a second goroutine pays.
const parallelFrom = 16 << 10

// parallel runs f over halves of [0, n). Elements must not depend on each
// other, so that results do not depend on the split.
func parallel(n int, f func(lo, hi int)) {
	if n < parallelFrom {
		f(0, n)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { f(n/2, n) })
	f(0, n/2)
	wg.Wait()
}
