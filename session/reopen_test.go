package session

import (
	"errors"
	"strings"
	"testing"

	"gradbook/gpu"
)

func TestReopen(t *testing.T) {
	s := newSession(t)
	d, _ := s.Device()
	kept, lost := filled(t, s, 8, 3), filled(t, s, 16, 4)
	lost.SetName("lost")
	if _, err := kept.Host(); err != nil {
		t.Fatal(err)
	}
	r, err := s.Reopen()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.Device(); again != d {
		t.Error("the session has another device: handles would be on the old one")
	}
	if r.Kept != 1 || len(r.Lost) != 1 {
		t.Errorf("%d kept, %d lost", r.Kept, len(r.Lost))
	}
	if text := r.String(); !strings.Contains(text, "host is open again") || !strings.Contains(text, "64 B  lost") {
		t.Errorf("text %q", text)
	}
	raw := make([]byte, 4)
	if err := kept.Read(raw, 0); err != nil || raw[3] != 0x40 { // 3 is 0x40400000
		t.Errorf("%v, %x", err, raw)
	}
	if err := lost.Read(raw, 0); !errors.Is(err, gpu.ErrLost) {
		t.Errorf("read of what was lost: %v", err)
	}
}
