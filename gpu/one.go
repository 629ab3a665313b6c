package gpu

import "sync"

// one keeps the number 1 in each dtype.
type one struct {
	mu     sync.Mutex
	values [Int32 + 1]*Storage
}

// One returns a storage of one element, 1, which all share and nobody writes:
// where each gradient starts. Only the first call for a dtype launches.
func (d *Device) One(t DType) (*Storage, error) {
	d.one.mu.Lock()
	defer d.one.mu.Unlock()
	if s := d.one.values[t]; s != nil && !s.Freed() {
		return s, nil
	}
	s := d.NewStorage(t.Size(), "one", Temporary)
	if err := d.Run(Fill, t, &FillParams{Value: 1, N: 1}, s.All()); err != nil {
		return nil, err
	}
	s.SetName("one")
	d.one.values[t] = s
	return s, nil
}
