package live

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gradbook/kernel/wire"
)

// median of five starts; go test's own mean would hide what a user sees.
func medianStart(b *testing.B, until func(*process)) {
	var took []time.Duration
	for b.Loop() {
		for range 5 {
			p := start(b, b.TempDir())
			until(p)
			took = append(took, time.Since(p.started))
			p.shutdown()
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "ns/op")
}

func BenchmarkStartToKernelInfo(b *testing.B) {
	medianStart(b, func(p *process) { p.request(wire.Shell, "kernel_info_request", map[string]any{}) })
}

func BenchmarkStartToFirstCell(b *testing.B) {
	medianStart(b, func(p *process) { p.run("1 + 1") })
}

func BenchmarkTrivialCell(b *testing.B) {
	p := start(b, b.TempDir())
	p.run("1 + 1")
	for b.Loop() {
		p.run("1 + 1")
	}
}

func BenchmarkTenThousandPrints(b *testing.B) {
	p := start(b, b.TempDir())
	const cell = "for i := 0; i < 10000; i++ {\n\tfmt.Println(i)\n}"
	p.run(cell)
	for b.Loop() {
		if _, printed := p.run(cell); strings.Count(printed, "\n") != 10000 {
			b.Fatal("lines are missing")
		}
	}
}

func BenchmarkIdleResidentMemory(b *testing.B) {
	p := start(b, b.TempDir())
	p.run("1 + 1")
	for b.Loop() {
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		b.Skip("no /proc here")
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kb float64
	fmt.Sscan(rest, &kb)
	b.ReportMetric(kb*1024, "bytes")
	b.ReportMetric(0, "ns/op")
}
