// Command build compiles the kernel sources: it writes src/params.slang from
// the kernel table, then a SPIR-V and a PTX form of every module. With -check it
// writes nothing and fails where a committed form is not what its source gives.
//
// The compilers are slangc and NVIDIA's NVRTC, both from Python wheels that
// `install/setup.sh kernels` puts into .cache/kernels; no GPU is needed.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	check := flag.Bool("check", false, "compare with the committed forms instead of writing them")
	only := flag.String("only", "", "compile only the modules whose name begins so")
	flag.Parse()
	if err := run(*check, *only); err != nil {
		fmt.Fprintln(os.Stderr, "kernels:", err)
		os.Exit(1)
	}
}

func run(check bool, only string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	c, err := findCompilers(root)
	if err != nil {
		return err
	}
	stale, err := build(c, check, only)
	if err != nil {
		return err
	}
	for _, f := range stale {
		if check {
			fmt.Println("stale:", f)
		} else {
			fmt.Println("wrote", f)
		}
	}
	if check && len(stale) > 0 {
		return fmt.Errorf("%d files are not what their sources give; run `make kernels`", len(stale))
	}
	return nil
}
