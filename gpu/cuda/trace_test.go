//go:build cuda && linux && amd64

package cuda

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"gradbook/gpu"
)

var update = flag.Bool("update", false, "rewrite the golden traces")

// TestTrace compares what the driver is asked to do with testdata/trace. A
// change that asks for the same shows no difference; a launch, copy or
// allocation more or less does. Rewrite with `go test -update`.
func TestTrace(t *testing.T) {
	for name, scenario := range scenarios {
		t.Run(name, func(t *testing.T) {
			b := openFake(t)
			scenario(t, b)
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			got := readable(fake.takeLog())
			path := filepath.Join("testdata", "trace", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the trace is not that of %s:\n%s", path, difference(string(want), got))
			}
		})
	}
}

// readable rewrites a log: addresses as #allocation+offset, numbered from the
// first of the log, and blocks of parameters with the names of their fields.
func readable(log string) string {
	first := int64(0)
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(log), "\n") {
		f := strings.Fields(line)
		number := func(i int) {
			n, _ := strconv.ParseInt(f[i], 10, 64)
			f[i] = fmt.Sprintf("#%d", n-first+1)
		}
		place := func(hexAddress string) string {
			a, _ := strconv.ParseUint(hexAddress, 16, 64)
			return placeOf(a, first)
		}
		matrices := func(at ...int) {
			for _, i := range at {
				address, rest, _ := strings.Cut(f[i], ",")
				f[i] = place(address) + "," + rest
			}
		}
		switch f[0] {
		case "alloc":
			if f[2] == "out" {
				break
			}
			if first == 0 {
				first, _ = strconv.ParseInt(f[1], 10, 64)
			}
			number(1)
		case "free", "left":
			number(1)
		case "upload", "download":
			f[1] = place(f[1])
		case "set":
			f[2] = place(f[2])
		case "copy":
			f[1], f[2] = place(f[1]), place(f[2])
		case "module":
			n, _ := strconv.Atoi(f[1])
			m := fake.modules[int32(n)]
			f[1] = fmt.Sprintf("%s.%s", m.name, m.dtype)
		case "launch":
			n, _ := strconv.Atoi(f[2])
			t := fake.modules[int32(n)].dtype
			f = []string{"launch", f[1] + "." + t.String(), f[3], "x", f[4], fields(f[1], t, f[5], first)}
		case "matmul":
			matrices(4, 5, 6)
			f[9] = place(f[9])
		case "product":
			matrices(5, 6, 8)
		}
		fmt.Fprintln(&out, strings.Join(f, " "))
	}
	return out.String()
}

func placeOf(address uint64, first int64) string {
	n := fake.name(address)
	if n < 0 {
		return "nowhere"
	}
	return fmt.Sprintf("#%d+%d", n>>40-first+1, n&(1<<40-1))
}

func fields(entry string, t gpu.DType, block string, first int64) string {
	s, known := signatureOf(entry)
	if !known {
		return block
	}
	raw, _ := hex.DecodeString(block)
	addrs, params := s.unpack(t, raw)
	var out []string
	for i, a := range addrs {
		out = append(out, s.args[i].Name+"="+placeOf(a, first))
	}
	p := reflect.ValueOf(params).Elem()
	for i := range p.NumField() {
		if v := p.Field(i); !v.IsZero() {
			out = append(out, fmt.Sprintf("%s=%v", p.Type().Field(i).Name, v))
		}
	}
	return strings.Join(out, " ")
}

// difference shows the first lines that differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "(end)", "(end)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n  want %s\n  got  %s", i+1, a, b)
		}
	}
	return ""
}
