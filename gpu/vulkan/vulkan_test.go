package vulkan

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	vk "github.com/vulkan-go/vulkan"

	"gradbook/gpu"
	"gradbook/gpu/host"
)

func opened(t *testing.T) *Backend {
	t.Helper()
	b := device(t)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestNoLoader(t *testing.T) {
	err := open([]string{"libvulkan-of-nobody.so.1"})
	if err == nil || !strings.Contains(err.Error(), "no Vulkan loader: install libvulkan1") {
		t.Errorf("got %v", err)
	}
}

func TestOpenUnknownDevice(t *testing.T) {
	b := opened(t)
	for _, index := range []int{-1, 99} {
		if _, err := Open(index); err == nil || !strings.Contains(err.Error(), b.info.Name) {
			t.Errorf("device %d: the error should list what there is: %v", index, err)
		}
	}
	if _, err := gpu.Open("vulkan:no such card"); err == nil || !strings.Contains(err.Error(), b.info.Name) {
		t.Errorf("the error should list what there is: %v", err)
	}
	d, err := gpu.Open("vulkan:" + strings.ToUpper(b.info.Name[:4]))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// A device without float64 declines what needs it, and nothing else.
func TestDeviceWithoutFloat64(t *testing.T) {
	b := opened(t)
	b.info.Float64 = false
	x, y := span(t, b, 8), span(t, b, 8)
	for _, l := range []gpu.Launch{
		{Kernel: gpu.Fill, DType: gpu.Float64, Params: &gpu.FillParams{N: 4}, Args: []gpu.Span{x}},
		{Kernel: gpu.Cast, DType: gpu.Float32, Params: &gpu.CastParams{From: uint32(gpu.Float64), N: 4}, Args: []gpu.Span{x, y}},
	} {
		if err := b.Launch(l); !errors.Is(err, gpu.ErrDeclined) {
			t.Errorf("%s: %v, want a decline", l.Kernel, err)
		}
	}
	if err := b.Sync(); err != nil {
		t.Error(err)
	}
}

// A lost device says which launch it was lost in, from then on.
func TestDeviceLost(t *testing.T) {
	b := opened(t)
	t.Cleanup(func() { b.lost = nil }) // so that Close reports nothing
	x := span(t, b, 8)
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	injected = func() int { return int(vk.ErrorDeviceLost) }
	defer func() { injected = nil }()
	if err := b.Launch(gpu.Launch{Kernel: gpu.Arange, DType: gpu.Float32, Params: &gpu.ArangeParams{N: 8}, Args: []gpu.Span{x}}); err != nil {
		t.Fatal(err)
	}
	err := b.Sync()
	if !errors.Is(err, errLost) || !strings.Contains(err.Error(), "in arange float32") || !strings.Contains(err.Error(), "reopen") {
		t.Errorf("got %v", err)
	}
	injected = nil
	if _, again := b.Alloc(4); again != err {
		t.Errorf("Alloc afterwards: %v", again)
	}
	if again := b.Upload(x, make([]byte, 4)); again != err {
		t.Errorf("Upload afterwards: %v", again)
	}
	b.flight = b.flight[:0] // it never ran
}

func TestOutOfMemory(t *testing.T) {
	b := opened(t)
	b.physical.maxAlloc = 1 << 20
	if _, err := b.Alloc(1 << 30); !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Errorf("got %v", err)
	}
	if s := b.Stats(); s.BytesHeld != 0 || s.Buffers != 0 {
		t.Errorf("a failed allocation left %d bytes in %d buffers", s.BytesHeld, s.Buffers)
	}
}

// Buffers never overlap, and freeing all of them leaves whole blocks.
func TestBlocks(t *testing.T) {
	b := opened(t)
	r := rand.New(rand.NewPCG(1, 2))
	live := map[*buffer]bool{}
	for range 3000 {
		if len(live) > 0 && r.IntN(2) == 0 {
			for m := range live {
				delete(live, m)
				b.Free(m)
				break
			}
			continue
		}
		g, err := b.Alloc(1 + r.Int64N(300_000))
		if err != nil {
			t.Fatal(err)
		}
		m := g.(*buffer)
		for o := range live {
			if o.block == m.block && m.at < o.at+o.bytes && o.at < m.at+m.bytes {
				t.Fatalf("bytes %d to %d and %d to %d of one block are both in use", o.at, o.at+o.bytes, m.at, m.at+m.bytes)
			}
		}
		live[m] = true
	}
	for m := range live {
		b.Free(m)
	}
	for _, bl := range b.local.blocks {
		if !bl.empty() {
			t.Errorf("a block of %d bytes has free extents %v", bl.size, bl.free)
		}
	}
	if s := b.Stats(); s.BytesHeld != 0 || s.Buffers != 0 {
		t.Errorf("%d bytes in %d buffers are left", s.BytesHeld, s.Buffers)
	}
}

// More bytes than the staging ring holds come back as they went, by either way.
func TestTransfers(t *testing.T) {
	for name, b := range map[string]*Backend{"direct": opened(t), "staged": hidden(opened(t))} {
		sent := make([]byte, 2*ringBytes+12345)
		for i := range sent {
			sent[i] = byte(i * 7 >> 3)
		}
		g, err := b.Alloc(int64(len(sent)))
		if err != nil {
			t.Fatal(err)
		}
		s := gpu.Span{Buffer: g, Bytes: int64(len(sent))}
		for range 3 {
			if err := b.Upload(s, sent); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, len(sent))
		if err := b.Download(got, s); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(sent, got) {
			t.Errorf("%s: other bytes came back", name)
		}
		const part = 1000 // many uploads under way at once
		for at := 0; at < 200*part; at += part {
			for i := range part {
				sent[at+i] = byte(at / part)
			}
			if err := b.Upload(gpu.Span{Buffer: g, Offset: int64(at), Bytes: part}, sent[at:at+part]); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Download(got, s); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(sent, got) {
			t.Errorf("%s: other bytes came back from small uploads", name)
		}
		if err := b.Upload(gpu.Span{Buffer: g, Bytes: 4}, sent); err == nil {
			t.Errorf("%s: an upload larger than its span was taken", name)
		}
		if err := b.Download(got, gpu.Span{Buffer: g, Offset: 8, Bytes: int64(len(sent))}); err == nil {
			t.Errorf("%s: a span past the buffer's end was taken", name)
		}
		b.Free(g)
		if err := b.Upload(s, sent); !errors.Is(err, gpu.ErrFreed) {
			t.Errorf("%s: upload into a freed buffer: %v", name, err)
		}
	}
}

// Barriers stand where a launch touches what an earlier one wrote, or writes
// what an earlier one read, and nowhere else.
func TestBarriers(t *testing.T) {
	b := opened(t)
	x, y, z, w := span(t, b, 8), span(t, b, 8), span(t, b, 8), span(t, b, 8)
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	axpby := func(x, y gpu.Span) { run(t, b, gpu.Axpby, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 8}, x, y) }
	axpby(x, y) // opens the batch
	for _, c := range []struct {
		what string
		f    func()
		want uint64
	}{
		{"reads what was read, writes another", func() { axpby(x, z) }, 0},
		{"reads what was written", func() {
			run(t, b, gpu.Copy, &gpu.CopyParams{N: 8, Rank: 1, Dims: gpu.Dims{8}, X: gpu.Strides{1}}, y, w)
		}, 1},
		{"writes what was read", func() { run(t, b, gpu.Fill, &gpu.FillParams{N: 8}, y) }, 1},
		{"writes what was not touched since", func() { axpby(x, z) }, 0},
		{"overwrites what was written", func() { run(t, b, gpu.Fill, &gpu.FillParams{N: 8}, z) }, 1},
	} {
		before := b.epoch
		c.f()
		if got := b.epoch - before; got != c.want {
			t.Errorf("a launch that %s: %d barriers, want %d", c.what, got, c.want)
		}
	}
}

// Thousands of launches that each need the one before pass through all batches.
func TestManyBatches(t *testing.T) {
	b := opened(t)
	x, y := span(t, b, 4), span(t, b, 4)
	run(t, b, gpu.Fill, &gpu.FillParams{Value: 1, N: 4}, x)
	run(t, b, gpu.Fill, &gpu.FillParams{N: 4}, y)
	const n = (batches + 2) * marks
	for range n {
		run(t, b, gpu.Axpby, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 4}, x, y)
	}
	if got := floatsOf(t, b, y)[0]; got != n {
		t.Errorf("got %v, want %d", got, n)
	}
	if b.physical.timestamps && b.Stats().KernelTime[gpu.Axpby] <= 0 {
		t.Error("no time was booked for axpby")
	}
}

// timed opens a device that has timestamps, and says how large a product there
// must be for its time to stand out.
func timed(t *testing.T) (b *Backend, n uint32) {
	b = opened(t)
	if !b.physical.timestamps {
		t.Skip("the device has no timestamps")
	}
	if b.limits.Processor {
		return b, 256
	}
	return b, 2048
}

// The device's time goes to the kernel that spent it: to products among fills
// that each wait for one.
func TestKernelTimes(t *testing.T) {
	b, n := timed(t)
	size := int64(n) * int64(n)
	x, y, z, small := span(t, b, size), span(t, b, size), span(t, b, size), span(t, b, 8)
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	before := b.Stats().KernelTime
	for range 10 {
		run(t, b, gpu.Gemm, &gpu.GemmParams{Alpha: 1, M: n, N: n, K: n, LDA: n, LDB: n, LDC: n, Batch: 1}, x, y, z)
		run(t, b, gpu.Axpby, &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 8}, z, small)
	}
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	after := b.Stats().KernelTime
	gemm, axpby := after[gpu.Gemm]-before[gpu.Gemm], after[gpu.Axpby]-before[gpu.Axpby]
	if t.Logf("gemm %v, axpby %v", gemm, axpby); gemm < 5*axpby || axpby <= 0 {
		t.Errorf("gemm was booked %v, axpby %v", gemm, axpby)
	}
}

func TestLaunchAllocatesNothing(t *testing.T) {
	b := opened(t)
	x, y := span(t, b, 8), span(t, b, 8)
	l := gpu.Launch{Kernel: gpu.Axpby, DType: gpu.Float32, Params: &gpu.AxpbyParams{Alpha: 1, Beta: 1, N: 8}, Args: []gpu.Span{x, y}}
	n := testing.AllocsPerRun(1000, func() {
		if err := b.Launch(l); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations a launch", n)
	}
}

// Compiled pipelines are found again on disk; rubbish there does no harm.
func TestPipelineCache(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	b := device(t)
	span(t, b, 8)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "gradbook", "*"))
	if len(files) != 1 {
		t.Fatalf("one file should be there: %v", files)
	}
	b = device(t)
	if b.pipelines.saved == 0 {
		t.Error("the cache was not read")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], []byte("rubbish"), 0o644); err != nil {
		t.Fatal(err)
	}
	b = device(t)
	span(t, b, 8)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// The largest tiles, with every form and a depth that is no multiple of theirs.
func TestLargeTiles(t *testing.T) {
	t.Run("gemm_large", func(t *testing.T) { testTile(t, "gemm_large", 1024, 1028) })
	t.Run("gemm_huge", func(t *testing.T) { testTile(t, "gemm_huge", 2048, 1540) })
}

func testTile(t *testing.T, tile string, m, n uint32) {
	b := opened(t)
	b.limits.Processor, b.limits.SharedBytes = false, 48<<10
	h := host.New()
	defer h.Close()
	const k = 36
	for form := range uint32(4) {
		p := &gpu.GemmParams{Alpha: 1, Beta: -0.5, TransA: form & 1, TransB: form >> 1, M: m, N: n, K: k, LDA: k, LDB: n, LDC: n, Batch: 1}
		if p.TransA == 1 {
			p.LDA = m
		}
		if p.TransB == 1 {
			p.LDB = k
		}
		var got [2][]float32
		for i, d := range []gpu.Backend{b, h} {
			var args []gpu.Span
			for j, size := range []int64{int64(m) * k, k * int64(n), int64(m) * int64(n)} {
				r := rand.New(rand.NewPCG(uint64(j), 1))
				content := make([]byte, 4*size)
				for at := range size {
					putFloat(content[4*at:], r.Float32()-0.5)
				}
				buf, err := d.Alloc(4 * size)
				if err != nil {
					t.Fatal(err)
				}
				defer d.Free(buf)
				s := gpu.Span{Buffer: buf, Bytes: 4 * size}
				if err := d.Upload(s, content); err != nil {
					t.Fatal(err)
				}
				args = append(args, s)
			}
			if err := d.Launch(gpu.Launch{Kernel: gpu.Gemm, DType: gpu.Float32, Params: p, Args: args}); err != nil {
				t.Fatal(err)
			}
			got[i] = floatsOf(t, d, args[2])
		}
		if name := b.plan.Steps[0].Code.Name; name != tile {
			t.Errorf("the tile was %s", name)
		}
		for i := range got[0] {
			if d := got[0][i] - got[1][i]; !(d < 1e-5 && d > -1e-5) {
				t.Errorf("form %d: element %d is %v, on the host %v", form, i, got[0][i], got[1][i])
				break
			}
		}
	}
}
