package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/tensor"
)

func small(n int) *Dataset {
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i
	}
	return New(tensor.Arange(0, float64(2*n), 1).Reshape(n, 2), tensor.FromInts(labels))
}

// labels returns what is seen, and checks that inputs stay with their labels.
func labels(t *testing.T, d *Dataset) (ys []int) {
	t.Helper()
	for _, b := range d.Batches(4) {
		x, y := b.X.Float64s(), b.Y.Value.Ints()
		for i := range y {
			if x[2*i] != float64(2*y[i]) || x[2*i+1] != float64(2*y[i]+1) {
				t.Fatalf("row %v has label %d", x[2*i:2*i+2], y[i])
			}
		}
		ys = append(ys, y...)
	}
	return ys
}

func TestOrders(t *testing.T) {
	d := small(10)
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	if got := labels(t, d); !slices.Equal(got, all) {
		t.Error(got)
	}
	s := d.Shuffled(1)
	got := labels(t, s)
	if slices.Equal(got, all) || !slices.Equal(got, labels(t, d.Shuffled(1))) || slices.Equal(got, labels(t, d.Shuffled(2))) {
		t.Error("seed 1", got, "seed 2", labels(t, d.Shuffled(2)))
	}
	sorted := slices.Clone(got)
	slices.Sort(sorted)
	if !slices.Equal(sorted, all) {
		t.Error("shuffling lost rows", got)
	}
	if sub := labels(t, s.Slice(2, 5)); !slices.Equal(sub, got[2:5]) {
		t.Error(sub, got)
	}
	if sub := labels(t, s.Subset([]int{9, 0})); !slices.Equal(sub, []int{got[9], got[0]}) {
		t.Error(sub, got)
	}
	a, b := s.Split(0.7)
	if a.Len() != 7 || !slices.Equal(append(labels(t, a), labels(t, b)...), got) {
		t.Error(labels(t, a), labels(t, b))
	}
	if d.Steps(4) != 3 || d.Rows(8, 10).Len() != 2 {
		t.Error("sizes of batches")
	}
	n := 0
	for range d.Batches(4) {
		n++
		break
	}
	if n != 1 {
		t.Error("break did not end the batches")
	}
}

// A batch goes up when it is used, and nothing but the batch does.
func TestUploads(t *testing.T) {
	d := small(100)
	labels(t, d.Slice(0, 1)) // the inputs were made on the device: bring them to the host
	dev := d.X.Device()
	before := dev.Counters()
	for _, b := range d.Shuffled(1).Batches(10) {
		if up := dev.Counters().Sub(before); up.BytesUp != 0 {
			t.Fatalf("%d bytes went up before the batch was used", up.BytesUp)
		}
		b.X.Value.Sum()
		if up := dev.Counters().Sub(before); up.BytesUp != 10*2*4 || up.BytesDown != 0 {
			t.Fatalf("%d bytes went up, %d down", up.BytesUp, up.BytesDown)
		}
		if o := b.X.Value.Storage().Owner(); o.Role != gpu.Data {
			t.Error(o)
		}
		before = dev.Counters()
	}
}

func TestMNISTFiles(t *testing.T) {
	train, test := MNIST()
	if train.Len() != 60000 || test.Len() != 10000 || !slices.Equal(train.X.Shape(), []int{60000, 784}) {
		t.Fatal(train, test)
	}
	// The first training digit is a 5, the first test digit a 7.
	if train.Rows(0, 1).Y.Item() != 5 || test.Rows(0, 1).Y.Item() != 7 {
		t.Error("labels")
	}
	var sum, squares float64
	for _, v := range train.X.Value.Float32s() {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	n := float64(train.X.Len())
	if mean, dev := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 1e-3 || math.Abs(dev-1) > 1e-3 {
		t.Errorf("mean %g, deviation %g", mean, dev)
	}
	if !slices.Equal(train.Reshaped(1, 28, 28).Rows(0, 2).X.Shape(), []int{2, 1, 28, 28}) {
		t.Error("reshaped")
	}
}

// write makes an IDX file.
func write(t *testing.T, name string, zip bool, typ byte, data []byte, sizes ...int) string {
	t.Helper()
	f := []byte{0, 0, typ, byte(len(sizes))}
	for _, s := range sizes {
		f = binary.BigEndian.AppendUint32(f, uint32(s))
	}
	f = append(f, data...)
	if zip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(f)
		w.Close()
		f = b.Bytes()
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, f, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIDX(t *testing.T) {
	for _, zip := range []bool{false, true} {
		d := IDX(write(t, "x", zip, 8, []byte{0, 51, 102, 153, 204, 255, 0, 0}, 2, 2, 2), write(t, "y", zip, 8, []byte{3, 9}, 2))
		b := d.Rows(0, 2)
		for i, want := range []float64{0, 0.2, 0.4, 0.6, 0.8, 1, 0, 0} {
			if got := b.X.Float64s()[i]; math.Abs(got-want) > 1e-7 {
				t.Errorf("pixel %d is %g, want %g", i, got, want)
			}
		}
		if !slices.Equal(b.X.Shape(), []int{2, 4}) || !slices.Equal(b.Y.Value.Ints(), []int{3, 9}) {
			t.Error(b.X, b.Y)
		}
	}
}

// fileError runs f and returns the FileError that it must panic with.
func fileError(t *testing.T, f func()) (e *FileError) {
	t.Helper()
	defer func() {
		t.Helper()
		var ok bool
		if e, ok = recover().(*FileError); !ok {
			t.Fatal("no FileError")
		}
	}()
	f()
	return nil
}

func TestBadFiles(t *testing.T) {
	x := write(t, "x", false, 8, make([]byte, 8), 2, 2, 2)
	y := write(t, "y", false, 8, make([]byte, 2), 2)
	cut := func(path string, n int) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "cut")
		if err := os.WriteFile(out, b[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		return out
	}
	zipped := write(t, "z", true, 8, bytes.Repeat([]byte{1, 2, 3}, 1000), 3000)
	for _, c := range []struct{ images, labels, want string }{
		{"missing", y, "missing: expected a file in the IDX format, found no such file"},
		{cut(x, 20), y, "expected 8 bytes for sizes [2 2 2], found 4; the file is truncated"},
		{cut(x, 10), y, "expected 3 sizes, found 10 bytes in all"},
		{cut(x, 2), y, "found 00 00"},
		{x, cut(zipped, 30), "expected a whole gzip file, found damage after"},
		{"idx.go", y, "which starts with two zero bytes, found 70 61 63 6b"},
		{write(t, "f", false, 13, make([]byte, 16), 2, 2), y, "expected unsigned bytes (type 8), found type 13"},
		{y, x, "expected images of 2 dimensions or more, found 1"},
		{x, write(t, "three", false, 8, make([]byte, 3), 3), "expected 2 labels, one for each image, found 3"},
	} {
		if e := fileError(t, func() { IDX(c.images, c.labels) }); !strings.Contains(e.Error(), c.want) {
			t.Errorf("%q lacks %q", e, c.want)
		}
	}
	if e := fileError(t, func() { IDX("missing", y) }); !errors.Is(e, fs.ErrNotExist) {
		t.Error(e)
	}
	if e := fileError(t, func() { FashionMNIST(t.TempDir()) }); !strings.Contains(e.Error(), "train-images-idx3-ubyte.gz: expected") {
		t.Error(e)
	}
}

func TestCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "iris.csv")
	text := "length,width,species\n5.1,3.5,setosa\n7.0, 3.2,versicolor\n4.9,3.0,setosa\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d := CSVClasses(path, "species")
	if !slices.Equal(d.Classes, []string{"setosa", "versicolor"}) || !slices.Equal(d.Y.Value.Ints(), []int{0, 1, 0}) || d.X.Value.At(1, 1) != float64(float32(3.2)) {
		t.Error(d.Classes, d.Y, d.X)
	}
	if e := fileError(t, func() { CSVClasses(path, "kind") }); !strings.Contains(e.Error(), "a column kind, found length, width, species") {
		t.Error(e)
	}
	if e := fileError(t, func() { CSVValues(path, "width") }); !strings.Contains(e.Error(), `iris.csv:2: expected a number in column species, found "setosa"`) {
		t.Error(e)
	}
	if err := os.WriteFile(path, []byte("a,b,c\n1,2,3\n4,5,6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := CSVValues(path, "c", "a")
	if !slices.Equal(v.Y.Float64s(), []float64{3, 1, 6, 4}) || !slices.Equal(v.X.Float64s(), []float64{2, 5}) {
		t.Error(v.X, v.Y)
	}
	if err := os.WriteFile(path, []byte("a,b\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fileError(t, func() { CSVValues(path, "a") })
	fileError(t, func() { CSVValues(path+"x", "a") })
}
