package gpu

import "fmt"

// fallback runs on another device, the host, what a backend declines.
type fallback struct{ backend Backend }

// AllowFallback makes the device permissive: a primitive that its backend
// declines runs on b, its arguments copied there and back, and is counted in
// Fallbacks. A nil b makes it strict again, which it is from the start.
func (d *Device) AllowFallback(b Backend) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fallback = nil
	if b != nil {
		d.fallback = &fallback{b}
	}
}

func (f *fallback) run(d *Device, l Launch) error {
	info := &Kernels[l.Kernel]
	there := l
	there.Args = make([]Span, len(l.Args))
	for i, s := range l.Args {
		b, err := f.backend.Alloc(grain(s.Bytes))
		if err != nil {
			return fmt.Errorf("fallback of %s: %w", l.Kernel, err)
		}
		defer f.backend.Free(b)
		there.Args[i] = Span{b, 0, s.Bytes}
		if info.Args[i].Access == Out {
			continue
		}
		bytes := make([]byte, s.Bytes)
		if err := d.download(bytes, s); err != nil {
			return err
		}
		if err := f.backend.Upload(there.Args[i], bytes); err != nil {
			return fmt.Errorf("fallback of %s: %w", l.Kernel, err)
		}
	}
	if err := f.backend.Launch(there); err != nil {
		return &LaunchError{l.Kernel, l.DType, err}
	}
	for i, s := range l.Args {
		if info.Args[i].Access == In {
			continue
		}
		bytes := make([]byte, s.Bytes)
		if err := f.backend.Download(bytes, there.Args[i]); err != nil {
			return fmt.Errorf("fallback of %s: %w", l.Kernel, err)
		}
		if err := d.upload(s, bytes); err != nil {
			return err
		}
	}
	d.count.Fallbacks++
	return nil
}
