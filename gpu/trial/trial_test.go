package trial

import (
	"fmt"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/host"
)

func TestFaultyCountsCalls(t *testing.T) {
	f := Faulty(host.New())
	var failed []int
	alloc := func(i int) {
		if _, err := f.Alloc(4); err != nil {
			failed = append(failed, i)
		}
	}
	alloc(1)
	f.Fail(Alloc, 2, false)
	for i := 2; i <= 5; i++ {
		alloc(i)
	}
	f.Fail(Alloc, 1, true)
	alloc(6)
	alloc(7)
	f.Heal()
	alloc(8)
	if fmt.Sprint(failed) != "[3 6 7]" || f.Calls(Alloc) != 8 {
		t.Errorf("allocations %v of %d failed", failed, f.Calls(Alloc))
	}
}

// As %device opens them.
func TestNames(t *testing.T) {
	for name, says := range map[string]string{
		"small:64apples": "small:64MiB",
		"small:-1MiB":    "small:64MiB",
		"faulty:lunch:3": "faulty:launch:17",
		"faulty:launch:": "faulty:launch:17",
		"faulty:alloc:0": "faulty:launch:17",
	} {
		if _, err := gpu.Open(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want an error with %q", name, err, says)
		}
	}
	for name, bytes := range map[string]int64{"small": 64 << 20, "small:1MiB": 1 << 20, "small:3KiB": 3 << 10, "small:512": 512} {
		d, err := gpu.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Info().MemoryBytes; got != bytes {
			t.Errorf("%s has %d bytes, want %d", name, got, bytes)
		}
	}
	d, err := gpu.Open("faulty:launch:2+")
	if err != nil {
		t.Fatal(err)
	}
	if plain, _ := gpu.Open("host"); d.Info() == plain.Info() {
		t.Error("a faulty device cannot be told from the host")
	}
	s := d.NewStorage(4, "fill", gpu.Temporary)
	for i := range 4 {
		err := d.Run(gpu.Fill, gpu.Float32, &gpu.FillParams{N: 1}, s.All())
		if (err != nil) != (i > 0) {
			t.Errorf("launch %d: %v", i+1, err)
		}
	}
}
