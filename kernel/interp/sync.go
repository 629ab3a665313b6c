package interp

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"time"
)

// What blocks in compiled code must end when its cell is stopped. Each function here is one of the standard library that
// selects on the stop as well.

func (s *support) doneOfRun() <-chan struct{} {
	if r := s.strands.currentRun(); r != nil {
		return r.done
	}
	return nil
}

// Sleep is time.Sleep.
func (s *support) Sleep(d time.Duration) {
	if d <= 0 {
		s.Check()
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.doneOfRun():
		s.Check()
	}
}

// AfterFunc is time.AfterFunc: the function runs as a goroutine of the cell.
func (s *support) AfterFunc(d time.Duration, f func()) *time.Timer {
	r := s.strands.currentRun()
	return time.AfterFunc(d, func() {
		if r == nil {
			f()
			return
		}
		if !r.stopped.Load() {
			s.goIn(r, f, 0)
		}
	})
}

// Exit is os.Exit: it ends the cell.
func (s *support) Exit(code int) {
	if code == 0 {
		s.abort(nil)
	}
	s.abort(&Error{Name: "Exit", Message: fmt.Sprintf("exit status %d", code)})
}

// Goexit is runtime.Goexit.
func (s *support) Goexit() { runtime.Goexit() }

// block waits for f, which cannot be interrupted, on a goroutine of its own. If the cell is stopped meanwhile, late undoes what f
// did once it is through.
func (s *support) block(f func(), late func()) {
	done := s.doneOfRun()
	ch := make(chan struct{})
	var mu sync.Mutex
	left := false
	go func() {
		f()
		mu.Lock()
		defer mu.Unlock()
		if left {
			if late != nil {
				late()
			}
			return
		}
		close(ch)
	}()
	select {
	case <-ch:
		return
	case <-done:
	}
	mu.Lock()
	left = true
	mu.Unlock()
	select {
	case <-ch: // it came through at the same moment
		if late != nil {
			late()
		}
	default:
	}
	s.strands.current().mayEnd()
	runtime.Goexit()
}

// MutexLock is the method Lock of a Mutex.
func (s *support) MutexLock(m *sync.Mutex) {
	if !m.TryLock() {
		s.block(m.Lock, m.Unlock)
	}
}

// MutexUnlock is the method Unlock of a Mutex. Unlocking what is not locked, which would end the process, panics.
func (s *support) MutexUnlock(m *sync.Mutex) {
	if m.TryLock() {
		m.Unlock()
		panic(runtimeError("sync: unlock of unlocked mutex"))
	}
	m.Unlock()
}

// RWMutexLock is the method Lock of an RWMutex.
func (s *support) RWMutexLock(m *sync.RWMutex) {
	if !m.TryLock() {
		s.block(m.Lock, m.Unlock)
	}
}

// RWMutexUnlock is the method Unlock of an RWMutex.
func (s *support) RWMutexUnlock(m *sync.RWMutex) {
	if m.TryRLock() {
		m.RUnlock()
		panic(runtimeError("sync: Unlock of unlocked RWMutex"))
	}
	m.Unlock()
}

// RWMutexRLock is the method RLock of an RWMutex.
func (s *support) RWMutexRLock(m *sync.RWMutex) {
	if !m.TryRLock() {
		s.block(m.RLock, m.RUnlock)
	}
}

// RWMutexRUnlock is the method RUnlock of an RWMutex.
func (s *support) RWMutexRUnlock(m *sync.RWMutex) {
	if m.TryLock() {
		m.Unlock()
		panic(runtimeError("sync: RUnlock of unlocked RWMutex"))
	}
	m.RUnlock()
}

// WaitGroupWait is the method Wait of a WaitGroup.
func (s *support) WaitGroupWait(w *sync.WaitGroup) { s.block(w.Wait, nil) }

// WaitGroupGo is the method Go of a WaitGroup.
func (s *support) WaitGroupGo(w *sync.WaitGroup, f func()) {
	w.Add(1)
	s.Go(func() { defer w.Done(); f() }, 0)
}

// CondWait is the method Wait of a Cond.
func (s *support) CondWait(c *sync.Cond) { s.block(c.Wait, c.L.Unlock) }

// OnceDo is the method Do of a Once.
func (s *support) OnceDo(o *sync.Once, f func()) { o.Do(f) }

// Close closes a channel.
func (s *support) Close(ch any) {
	_, v := s.types.of(reflect.ValueOf(ch))
	if v.IsNil() {
		panic(runtimeError("close of nil channel"))
	}
	v.Close()
}

// Clear empties a map or zeroes a slice.
func (s *support) Clear(x any) {
	if _, v := s.types.of(reflect.ValueOf(x)); v.IsValid() && !v.IsZero() {
		v.Clear()
	}
}
