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

// kind is what a storage is to the reader of a map: its role, but for results,
// which are variables when a name leads to them.
type kind uint8

// The kinds, in the order in which maps list them.
const (
	parameter kind = iota
	gradient
	optimizerState
	activation
	data
	variable
	generator
	replaying
	temporary
	numKinds
)

func kindOf(o gpu.Owner) kind {
	switch o.Role {
	case gpu.Parameter:
		return parameter
	case gpu.Gradient:
		return gradient
	case gpu.OptimizerState:
		return optimizerState
	case gpu.Activation:
		return activation
	case gpu.Data:
		return data
	case gpu.Generator:
		return generator
	case gpu.Replaying:
		return replaying
	}
	if o.Name != "" {
		return variable
	}
	return temporary
}

func (k kind) String() string {
	return [...]string{"parameter", "gradient", "optimizer state", "activation", "data", "variable", "generator", "recording", "temporary"}[k]
}

// tileColors are dark enough for white text, with a contrast of 4.5 or more,
// and light enough to stand out on a dark page.
var tileColors = [numKinds]string{
	parameter:      "#2f6da6",
	gradient:       "#b0560a",
	optimizerState: "#1f7a51",
	activation:     "#8a4fb0",
	data:           "#0f7683",
	variable:       "#566f94",
	generator:      "#776514",
	replaying:      "#c22a61",
	temporary:      "#6b6b6b",
}

// Fonts that the front ends and operating systems have.
const (
	sans = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
	mono = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
)
