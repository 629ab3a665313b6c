package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	in := `goos: linux
pkg: gradbook/gpu/host
BenchmarkGemm/openblas-2   	     100	   2000000 ns/op	 1234567 B/op	       3 allocs/op
BenchmarkGemm/gonum-2      	      10	  15000000 ns/op
BenchmarkAlone-2           	     100	     123.4 ns/op
BenchmarkKernelStart/gradbook 5 160000000 ns/op
BenchmarkIdleMemory/gradbook 1 80000000 bytes
ok  	gradbook/gpu/host	1.2s
`
	var out, log strings.Builder
	if err := run(strings.NewReader(in), &out, &log); err != nil {
		t.Fatal(err)
	}
	if log.String() != in {
		t.Errorf("the log is not what was read:\n%s", log.String())
	}
	for _, want := range []string{
		"| gpu/host | Gemm/openblas | 2.00 ms | 1 | | 1.23 MB, 3 allocs/op |",
		"| gpu/host | Gemm/gonum | 15.0 ms | 7.50 | | |",
		"| gpu/host | Alone | 123 ns | | | |",
		"| gpu/host | KernelStart/gradbook | 160 ms | 1 | MISSED: 150 ms at most | |",
		"| gpu/host | IdleMemory/gradbook | | | met: 90.0 MB at most | 80.0 MB |",
		"| | Prints/gradbook | | | NOT MEASURED | 10,000 prints in one cell |",
	} {
		if !strings.Contains(squeeze(out.String()), want) {
			t.Errorf("no row %q in\n%s", want, out.String())
		}
	}
}

func squeeze(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}

func TestFailuresAreNotHidden(t *testing.T) {
	good := "BenchmarkA-2 1 5 ns/op\n"
	for in, want := range map[string]string{
		"": "no benchmark",
		good + "--- FAIL: BenchmarkB\nFAIL\tgradbook/gpu\t0.1s\n": "2 benchmarks or packages failed",
		good + "FAIL\tgradbook/gpu [build failed]\n":              "1 benchmarks or packages failed",
	} {
		var out, log strings.Builder
		if err := run(strings.NewReader(in), &out, &log); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}

func TestTargets(t *testing.T) {
	for _, bad := range []string{"a ns/op 5", "a ns/op x what", "a ns/op 0 what", "a ns/op 1 w\na ns/op 2 w"} {
		if _, err := parseTargets(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
