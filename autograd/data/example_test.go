package data_test

import (
	"fmt"

	"gradbook/autograd/data"
	"gradbook/tensor"
)

func Example() {
	train, test := data.MNIST()
	fmt.Println(train)
	fmt.Println(test)
	for i, b := range train.Shuffled(1).Batches(128) {
		fmt.Println(i, b.X.Shape(), b.Y.Shape())
		break
	}
	// Output:
	// MNIST train: 60000 rows, X [784], Y []
	// MNIST test: 10000 rows, X [784], Y []
	// 0 [128 784] [128]
}

func ExampleDataset_Split() {
	all := data.New(tensor.Arange(0, 20, 1).Reshape(10, 2), tensor.FromInts([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))
	train, rest := all.Shuffled(1).Split(0.8)
	fmt.Println(train.Len(), rest.Len())
	// Output: 8 2
}
