package tensor_test

import (
	"fmt"

	"gradbook/gpu"
	"gradbook/tensor"
)

func Example() {
	a := tensor.New([]float64{1, 2, 3, 4}, 2, 2)
	b := a.T().MatMul(a).AddScalar(1)
	fmt.Println(b)
	// Output:
	// float32 (2, 2) on host
	// [[11 15]
	//  [15 21]]
}

// Sizes are equal, or 1, or missing, from the last dimension on.
func ExampleTensor_Add() {
	rows := tensor.New([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(rows.Add(tensor.New([]float64{10, 20, 30})).Float64s())
	fmt.Println(rows.Add(tensor.New([]float64{100, 200}, 2, 1)).Float64s())
	// Output:
	// [11 22 33 14 25 36]
	// [101 102 103 204 205 206]
}

// A view launches nothing: both names stand for the same numbers.
func ExampleTensor_Slice() {
	m := tensor.Arange(0, 12, 1).Reshape(3, 4)
	middle := m.Slice(1, 1, 3)
	middle.Fill(0)
	fmt.Println(m.Float64s(), middle.Shape())
	// Output: [0 0 0 3 4 0 0 7 8 0 0 11] [3 2]
}

func ExampleTensor_Sum() {
	m := tensor.New([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(m.Sum().Item(), m.Sum(0).Float64s(), m.Sum(-1).Float64s())
	// Output: 21 [5 7 9] [6 15]
}

func ExampleOn() {
	dev, err := gpu.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	m := tensor.On(dev).As(tensor.Float64).Ones(2)
	fmt.Println(m)
	// Output:
	// float64 (2,) on host
	// [1 1]
}

func ExampleError() {
	defer func() { fmt.Println(recover()) }()
	images := tensor.Ones(8, 784).SetName("images")
	images.MatMul(tensor.Ones(128, 784).SetName("weights"))
	// Output: matmul of images float32 (8, 784), weights float32 (128, 784): the inner sizes 784 and 128 differ; transpose an operand with T if its dimensions are the wrong way round
}
