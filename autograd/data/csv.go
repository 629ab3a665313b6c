package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"gradbook/gpu"
	"gradbook/tensor"
)

// CSVClasses reads a dataset from a CSV file with a header line. The column
// target holds classes: Y is (n) Int32, numbers into Classes, which are sorted.
// The other columns hold numbers: X is (n, columns) Float32.
func CSVClasses(path, target string) *Dataset {
	t := readCSV(path)
	at := t.column(target)
	d := t.inputs([]int{at})
	for _, r := range t.rows {
		d.Classes = append(d.Classes, r[at])
	}
	labels := slices.Clone(d.Classes)
	slices.Sort(d.Classes)
	d.Classes = slices.Compact(d.Classes)
	numbers := make([]int, len(labels))
	for i, l := range labels {
		numbers[i], _ = slices.BinarySearch(d.Classes, l)
	}
	y := New(d.X.Value, tensor.On(gpu.Default()).FromInts(numbers))
	y.Name, y.Classes = path, d.Classes
	return y
}

// CSVValues reads a dataset from a CSV file with a header line. The columns
// named by targets hold what is to be predicted: Y is (n, targets) Float32. The
// others are the inputs: X is (n, columns) Float32.
func CSVValues(path string, targets ...string) *Dataset {
	t := readCSV(path)
	var at []int
	for _, name := range targets {
		at = append(at, t.column(name))
	}
	if len(at) == 0 {
		panic(&FileError{Path: path, Expected: "the name of a column to predict", Found: "none", Advice: "name one of " + strings.Join(t.header, ", ")})
	}
	d := t.inputs(at)
	y := New(d.X.Value, t.numbers(at))
	y.Name = path
	return y
}

type table struct {
	path   string
	header []string
	rows   [][]string
	lines  []int // of the rows in the file
}

func readCSV(path string) *table {
	f, err := os.Open(path)
	if err != nil {
		found := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			found = "no such file"
		}
		panic(&FileError{Path: path, Expected: "a CSV file", Found: found, Err: err})
	}
	defer f.Close()
	t := &table{path: path}
	r := csv.NewReader(f)
	r.TrimLeadingSpace = true
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(&FileError{Path: path, Expected: "a CSV file with as many fields in each line", Found: err.Error(), Err: err})
		}
		if t.header == nil {
			t.header = row
			continue
		}
		line, _ := r.FieldPos(0)
		t.rows, t.lines = append(t.rows, row), append(t.lines, line)
	}
	if len(t.rows) == 0 {
		panic(&FileError{Path: path, Expected: "a header line and rows", Found: "no rows"})
	}
	return t
}

func (t *table) column(name string) int {
	i := slices.Index(t.header, name)
	if i < 0 {
		panic(&FileError{Path: t.path, Expected: "a column " + name, Found: strings.Join(t.header, ", ")})
	}
	return i
}

// inputs is a dataset of all columns but some, with X for Y.
func (t *table) inputs(but []int) *Dataset {
	var at []int
	for i := range t.header {
		if !slices.Contains(but, i) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		panic(&FileError{Path: t.path, Expected: "a column besides those to predict", Found: "none"})
	}
	x := t.numbers(at)
	return New(x, x)
}

func (t *table) numbers(columns []int) *tensor.Tensor {
	values := make([]float32, 0, len(t.rows)*len(columns))
	for i, r := range t.rows {
		for _, c := range columns {
			v, err := strconv.ParseFloat(strings.TrimSpace(r[c]), 32)
			if err != nil {
				panic(&FileError{Path: fmt.Sprintf("%s:%d", t.path, t.lines[i]), Expected: "a number in column " + t.header[c], Found: strconv.Quote(r[c]), Err: err})
			}
			values = append(values, float32(v))
		}
	}
	return tensor.On(gpu.Default()).FromFloat32s(values, len(t.rows), len(columns))
}
