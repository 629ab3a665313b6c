package host

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// cpuName is the processor's name as Linux tells it, else its architecture.
var cpuName = sync.OnceValue(func() string {
	if name := procValue("/proc/cpuinfo", "model name"); name != "" {
		return name
	}
	return runtime.GOARCH
})

// memoryBytes is the memory of the machine, 0 if unknown.
var memoryBytes = sync.OnceValue(func() int64 {
	kib, _, _ := strings.Cut(procValue("/proc/meminfo", "MemTotal"), " ")
	n, err := strconv.ParseInt(kib, 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
})

// procValue is the value of the first line "key : value" of a file.
func procValue(file, key string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if k, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
