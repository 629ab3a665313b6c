//go:build !cuda || !linux || !amd64

package cuda

import (
	"strings"
	"testing"

	"gradbook/gpu"
)

// A build without CUDA has the driver all the same, and says how to get it.
func TestLeftOut(t *testing.T) {
	for _, d := range gpu.Drivers() {
		if d.Name != "cuda" {
			continue
		}
		_, err := d.Devices()
		_, openErr := gpu.Open("cuda")
		for _, err := range []error{err, openErr} {
			if err == nil || !strings.Contains(err.Error(), "make build") {
				t.Error(err)
			}
		}
		return
	}
	t.Error("the driver is not registered")
}
