package viz

import "gradbook/gpu"

// Every colour has a contrast of 3 or more both on white and on JupyterLab's
// dark background, so that one picture serves both themes; a test holds it.
// Neighbours differ in lightness or along the blue-yellow axis, which most
// colour-blind people see.
const (
	blue   = "#3d85c6"
	orange = "#d9730d"
	green  = "#2e9e6b"
	purple = "#9c5fc4"
	pink   = "#d6336c"
	teal   = "#1498a8"
	olive  = "#8f7a1f"
	grey   = "#808080"

	ink = "#7a7a7a" // text and axes of a still picture, which knows no theme

	faint = "0.22" // opacity of grid lines and frames over ink
)

var seriesColors = []string{blue, orange, green, purple, pink, teal, olive, grey}

func seriesColor(i int) string { return seriesColors[i%len(seriesColors)] }

var roleColors = [gpu.NumRoles]string{
	gpu.Temporary:      grey,
	gpu.Parameter:      blue,
	gpu.Gradient:       orange,
	gpu.OptimizerState: green,
	gpu.Activation:     purple,
	gpu.Data:           teal,
	gpu.Generator:      olive,
	gpu.Replaying:      pink,
}

// Fonts that the front ends and operating systems have.
const (
	sans = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
	mono = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
)
