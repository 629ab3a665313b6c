// Package install puts the kernel where Jupyter finds it, takes it away again,
// and says what is wrong when Jupyter does not find it.
//
// A kernelspec is a folder: kernel.json, logos, and echarts.min.js, which the
// Jupyter server hands to pages under kernelspecs/NAME/, so that charts are
// drawn without a network and cost no bytes in a notebook. The files are
// embedded in the program.
//
// echarts.min.js is dist/echarts.min.js of the npm package echarts 5.6.0
// (Apache License 2.0, beside it). The PNG logos are drawings of logo-svg.svg
// at 32 and 64 pixels.
//
// The package knows nothing of kernels, devices or Go code.
package install
