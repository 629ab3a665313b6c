//go:build cuda && linux && amd64

package hardware

import (
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"

	"gorgonia.org/cu"

	"gradbook/gpu/cuda/driver"
)

// addOne takes a pointer and a count, as one block or as two parameters: their
// bytes are the same.
const addOne = `.version 6.0
.target sm_70
.address_size 64
.visible .entry addone(.param .align 8 .b8 block[128]) {
.reg .pred %p1; .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
ld.param.u64 %rd1,[block]; ld.param.u32 %r1,[block+8];
mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x; mov.u32 %r4,%tid.x; mad.lo.s32 %r5,%r2,%r3,%r4;
setp.ge.u32 %p1,%r5,%r1; @%p1 bra E;
cvta.to.global.u64 %rd1,%rd1; mul.wide.u32 %rd2,%r5,4; add.s64 %rd3,%rd1,%rd2;
ld.global.f32 %f1,[%rd3]; add.f32 %f2,%f1,0f3F800000; st.global.f32 [%rd3],%f2;
E: ret; }
.visible .entry addone_plain(.param .u64 p, .param .u32 n) {
ret; }
`

// BenchmarkEntry compares ways to have the context current where a launch is
// made. A burst is short enough not to fill the stream's queue.
func BenchmarkEntry(b *testing.B) {
	if err := driver.Load(); err != nil {
		b.Skip(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(driver.ResultOf(err))
		}
	}
	ctx, err := cu.Device(0).MakeContext(cu.SchedAuto)
	must(err)
	defer ctx.Destroy()
	stream, err := cu.MakeStream(cu.NonBlocking)
	must(err)
	m, err := cu.LoadData(addOne)
	must(err)
	fn, err := m.Function("addone")
	must(err)
	plain, err := m.Function("addone_plain")
	must(err)
	p, err := cu.MemAlloc(4096)
	must(err)
	q := driver.NewQueue(ctx, stream)
	params := make([]byte, 128)
	binary.LittleEndian.PutUint64(params, uint64(p))
	binary.LittleEndian.PutUint32(params[8:], 1024)
	grid, block := [3]uint32{4, 1, 1}, [3]uint32{256, 1, 1}
	n := uint64(1024)

	launch := func() error { return q.Launch(fn, grid, block, params) }
	work, done := make(chan func() error), make(chan error)
	defer close(work)
	go func() {
		runtime.LockOSThread()
		cu.SetCurrentContext(ctx)
		for f := range work {
			done <- f()
		}
	}()
	for _, way := range []struct {
		name string
		do   func() error
	}{
		{"in the same call", launch},
		{"locked and set before", func() error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if err := cu.SetCurrentContext(ctx); err != nil {
				return err
			}
			return launch()
		}},
		{"locked and set, cu's launch", func() error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if err := cu.SetCurrentContext(ctx); err != nil {
				return err
			}
			return plain.Launch(4, 1, 1, 256, 1, 1, 0, stream, []unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&n)})
		}},
		{"a thread of its own", func() error {
			work <- launch
			return <-done
		}},
	} {
		b.Run(way.name, func(b *testing.B) { burst(b, 500, q.Wait, way.do) })
	}
}
