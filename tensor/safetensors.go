package tensor

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gradbook/gpu"
)

// Files are in the safetensors format, which other tools read and write too:
// the length of a JSON header in 8 bytes, little-endian; the header, which
// gives for each name dtype, shape and the place of its bytes; the bytes,
// row-major and little-endian. (https://github.com/huggingface/safetensors)

var fileDTypes = map[DType]string{Float32: "F32", Float64: "F64", Int32: "I32"}

type fileEntry struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// FileError tells what is wrong with a file of tensors.
type FileError struct {
	Path    string
	Problem string
	Err     error // what the system said; may be nil
}

func (e *FileError) Error() string {
	s := e.Path + ": " + e.Problem
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}
func (e *FileError) Unwrap() error { return e.Err }

// WriteFile writes tensors and a few strings about them to a file in the
// safetensors format. The file appears whole or not at all. It panics with a
// *FileError.
func WriteFile(path string, tensors map[string]*Tensor, about map[string]string) {
	header := map[string]any{}
	if len(about) > 0 {
		header["__metadata__"] = about
	}
	var names []string
	for n := range tensors {
		names = append(names, n)
	}
	slices.Sort(names)
	var body bytes.Buffer
	for _, n := range names {
		t := tensors[n]
		start := body.Len()
		body.Write(t.bytes("write"))
		header[n] = fileEntry{fileDTypes[t.dtype], append([]int{}, t.shape...), [2]int{start, body.Len()}}
	}
	head, err := json.Marshal(header)
	if err != nil {
		panic(&FileError{path, "the header does not encode", err})
	}
	for len(head)%8 != 0 { // the bytes start aligned, as the format asks
		head = append(head, ' ')
	}
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	file = append(append(file, head...), body.Bytes()...)
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		panic(&FileError{path, "cannot be written", err})
	}
	_, err = tmp.Write(file)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
		panic(&FileError{path, "cannot be written", err})
	}
}

// ReadFile reads a file that WriteFile wrote, or another in the safetensors
// format with float32, float64 and int32 tensors, to gpu.Default(). It panics
// with a *FileError.
func ReadFile(path string) (tensors map[string]*Tensor, about map[string]string) {
	return def().ReadFile(path)
}

// ReadFile reads a file to m's device; see the function.
func (m Maker) ReadFile(path string) (tensors map[string]*Tensor, about map[string]string) {
	file, err := os.ReadFile(path)
	if err != nil {
		panic(&FileError{path, "cannot be read", err})
	}
	bad := func(format string, args ...any) { panic(&FileError{Path: path, Problem: fmt.Sprintf(format, args...)}) }
	if len(file) < 8 {
		bad("%d bytes are too few for a file of tensors", len(file))
	}
	n := binary.LittleEndian.Uint64(file)
	if n > uint64(len(file)-8) {
		bad("is truncated, or no file of tensors: a header of %d bytes was expected, %d bytes are there", n, len(file)-8)
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+n], &header); err != nil {
		panic(&FileError{path, "the header is no JSON", err})
	}
	body := file[8+n:]
	tensors = map[string]*Tensor{}
	for name, raw := range header {
		if name == "__metadata__" {
			if err := json.Unmarshal(raw, &about); err != nil {
				panic(&FileError{path, "the metadata are no strings", err})
			}
			continue
		}
		var e fileEntry
		if err := json.Unmarshal(raw, &e); err != nil {
			panic(&FileError{path, "the header's entry of " + name, err})
		}
		tensors[name] = m.fromEntry(name, e, body, bad)
	}
	return tensors, about
}

func (m Maker) fromEntry(name string, e fileEntry, body []byte, bad func(string, ...any)) *Tensor {
	dt, ok := DType(0), false
	for d, s := range fileDTypes {
		if s == e.DType {
			dt, ok = d, true
		}
	}
	if !ok {
		bad("%s has dtype %s; float32, float64 and int32 can be read", name, e.DType)
	}
	size := int64(dt.Size())
	for _, s := range e.Shape {
		if s < 1 || size > int64(maxLen)*8/int64(s) {
			bad("%s has shape %v", name, e.Shape)
		}
		size *= int64(s)
	}
	lo, hi := e.Offsets[0], e.Offsets[1]
	if lo < 0 || hi < lo || int64(hi-lo) != size {
		bad("%s of shape %v needs %d bytes, its place is %d to %d", name, e.Shape, size, lo, hi)
	}
	if hi > len(body) {
		bad("is truncated: %s ends at byte %d of the data, %d bytes are there", name, hi, len(body))
	}
	checkShape("read "+name, e.Shape)
	return over(m.Device.FromHost(slices.Clone(body[lo:hi]), "read", gpu.Temporary), dt, e.Shape)
}
