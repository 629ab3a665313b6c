package tensor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	m := iota2(2, 3)
	WriteFile(path, map[string]*Tensor{"a": m.T(), "b": As(Float64).Scalar(1.5), "c": FromInts([]int{-1, 7})}, map[string]string{"k": "v"})
	got, about := ReadFile(path)
	want(t, got["a"], []int{3, 2}, 0, 3, 1, 4, 2, 5)
	want(t, got["b"], []int{}, 1.5)
	if got["b"].DType() != Float64 || !slices.Equal(got["c"].Ints(), []int{-1, 7}) || about["k"] != "v" || len(got) != 3 {
		t.Error(got, about)
	}
	left, _ := filepath.Glob(path + "*")
	if len(left) != 1 {
		t.Error("left behind", left)
	}
}

func TestDamagedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	WriteFile(path, map[string]*Tensor{"a": iota2(2, 3)}, nil)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for want, file := range map[string][]byte{
		"too few":       whole[:5],
		"is truncated,": whole[:20],
		"is truncated:": whole[:len(whole)-1],
		"no JSON":       append(append([]byte{}, whole[:8]...), make([]byte, 200)...),
		"dtype F16":     []byte(strings.Replace(string(whole), "F32", "F16", 1)),
		"needs 28":      []byte(strings.Replace(string(whole), "[2,3]", "[7,1]", 1)),
		"shape [0 3]":   []byte(strings.Replace(string(whole), "[2,3]", "[0,3]", 1)),
	} {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				e, ok := recover().(*FileError)
				if !ok || !strings.Contains(e.Error(), want) || !strings.HasPrefix(e.Error(), path) {
					t.Errorf("%q: %v", want, e)
				}
			}()
			ReadFile(path)
		}()
	}
	defer func() {
		if e, ok := recover().(*FileError); !ok || !os.IsNotExist(e.Err) {
			t.Error(e)
		}
	}()
	ReadFile(path + ".missing")
}
