package vulkan

import (
	"encoding/binary"
	"math"
	"testing"

	"gradbook/gpu"
)

func putFloat(b []byte, v float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(v)) }

func floatsOf(t testing.TB, d gpu.Backend, s gpu.Span) []float32 {
	t.Helper()
	content := make([]byte, s.Bytes)
	if err := d.Download(content, s); err != nil {
		t.Fatal(err)
	}
	v := make([]float32, s.Bytes/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(content[4*i:]))
	}
	return v
}
