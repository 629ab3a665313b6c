// Package iter stands for the generic types and functions of iter.
package iter

// Seq is an iterator over values.
type Seq[V any] func(yield func(V) bool)

// Seq2 is an iterator over pairs.
type Seq2[K, V any] func(yield func(K, V) bool)

// Pull turns a push iterator into one that is asked. The iterator runs on a goroutine between calls of next.
func Pull[V any](seq Seq[V]) (next func() (V, bool), stop func()) {
	var cur V
	next2, stop := Pull2(func(yield func(V, bool) bool) {
		seq(func(v V) bool { return yield(v, true) })
	})
	next = func() (V, bool) {
		v, _, ok := next2()
		if !ok {
			v = cur // the zero value
		}
		return v, ok
	}
	return next, stop
}

// Pull2 is Pull for pairs.
func Pull2[K, V any](seq Seq2[K, V]) (next func() (K, V, bool), stop func()) {
	var (
		key            K
		val            V
		zeroK          K
		zeroV          V
		started, ended bool
		failure        any
		ask            = make(chan bool)
		answer         = make(chan bool)
	)
	run := func() {
		defer func() {
			failure = recover()
			ended = true
			answer <- false
		}()
		if <-ask {
			seq(func(k K, v V) bool {
				key, val = k, v
				answer <- true
				return <-ask
			})
		}
	}
	resume := func(more bool) bool {
		if !started {
			started = true
			go run()
		}
		ask <- more
		got := <-answer
		if failure != nil {
			panic(failure)
		}
		return got
	}
	next = func() (K, V, bool) {
		if ended || !resume(true) {
			return zeroK, zeroV, false
		}
		return key, val, true
	}
	stop = func() {
		if ended {
			return
		}
		if !started {
			ended = true
			return
		}
		resume(false)
	}
	return next, stop
}
