// Package viz draws what a session and its devices did.
//
// Its one idea: a picture is a pure function of plain data, and always comes
// in three forms. [Curve] draws numbers as they are added; [ResidencyMap],
// [Ledger], [Comparison] and [TapeGraph] draw snapshots. Each becomes a
// display.Bundle with an interactive page (text/html), a still picture
// (image/svg+xml) and aligned text (text/plain).
//
// The page holds the still picture and a script that replaces it by an echarts
// chart. The script finds the library in the kernel's own folder on the
// Jupyter server; where it may not run, or finds none, the picture stays.
//
// The package must not ask a device or a session anything: it uses their
// snapshot types only. It must not know kernels, cells or gradients.
package viz
