package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"gradbook/gpu"
	"gradbook/tensor"
)

// IDX is the format of MNIST's files: two zero bytes, the element type (8 is
// an unsigned byte), the number of dimensions, each size in 4 bytes,
// big-endian, and the elements.

type idx struct {
	sizes []int
	data  []byte
}

// IDX reads a dataset from two files in the IDX format, gzipped or not: images
// of unsigned bytes (n, height, width), and labels (n). Inputs become Float32
// rows of height*width numbers, a byte divided by 255: 0 to 1. Labels become
// Int32.
func IDX(images, labels string) *Dataset {
	x, y := readIDX(images, os.ReadFile), readIDX(labels, os.ReadFile)
	return fromIDX(images, labels, x, y, 0, 1)
}

// fromIDX makes a pixel p (p/255-mean)/dev.
func fromIDX(images, labels string, x, y idx, mean, dev float64) *Dataset {
	if len(x.sizes) < 2 {
		panic(&FileError{Path: images, Expected: "images of 2 dimensions or more", Found: fmt.Sprintf("%d", len(x.sizes)), Advice: "give images first, then labels"})
	}
	if len(y.sizes) != 1 {
		panic(&FileError{Path: labels, Expected: "labels of 1 dimension", Found: fmt.Sprintf("%d", len(y.sizes)), Advice: "give images first, then labels"})
	}
	n := x.sizes[0]
	if y.sizes[0] != n {
		panic(&FileError{Path: labels, Expected: fmt.Sprintf("%d labels, one for each image", n), Found: fmt.Sprint(y.sizes[0])})
	}
	if n == 0 {
		panic(&FileError{Path: images, Expected: "images", Found: "none"})
	}
	var scaled [256]float32
	for i := range scaled {
		scaled[i] = float32((float64(i)/255 - mean) / dev)
	}
	pixels := make([]float32, len(x.data))
	for i, b := range x.data {
		pixels[i] = scaled[b]
	}
	classes := make([]int, n)
	for i, b := range y.data {
		classes[i] = int(b)
	}
	on := tensor.On(gpu.Default())
	d := New(on.FromFloat32s(pixels, n, len(pixels)/n), on.FromInts(classes))
	d.Mean, d.Dev = mean, dev
	return d
}

func readIDX(path string, read func(string) ([]byte, error)) idx {
	raw, err := read(path)
	if err != nil {
		found := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			found = "no such file"
		}
		panic(&FileError{Path: path, Expected: "a file in the IDX format", Found: found, Err: err})
	}
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err == nil {
			raw, err = io.ReadAll(z)
		}
		if err != nil {
			panic(&FileError{Path: path, Expected: "a whole gzip file", Found: fmt.Sprintf("damage after %d bytes (%v)", len(raw), err), Advice: "fetch it again", Err: err})
		}
	}
	if len(raw) < 4 || raw[0] != 0 || raw[1] != 0 {
		panic(&FileError{Path: path, Expected: "a file in the IDX format, which starts with two zero bytes", Found: fmt.Sprintf("% x", raw[:min(4, len(raw))])})
	}
	if raw[2] != 8 {
		panic(&FileError{Path: path, Expected: "unsigned bytes (type 8)", Found: fmt.Sprintf("type %d", raw[2])})
	}
	f := idx{data: raw[4:]}
	n := 1
	for range raw[3] {
		if len(f.data) < 4 {
			panic(&FileError{Path: path, Expected: fmt.Sprintf("%d sizes", raw[3]), Found: fmt.Sprintf("%d bytes in all", len(raw)), Advice: "the file is truncated: fetch it again"})
		}
		size := int(binary.BigEndian.Uint32(f.data))
		f.sizes, f.data = append(f.sizes, size), f.data[4:]
		n *= size
	}
	if len(f.data) != n {
		panic(&FileError{Path: path, Expected: fmt.Sprintf("%d bytes for sizes %v", n, f.sizes), Found: fmt.Sprint(len(f.data)), Advice: "the file is truncated or damaged: fetch it again"})
	}
	return f
}
