package viz

import (
	"gradbook/gpu"
	"gradbook/session"
	"gradbook/viz/display"
)

// Snapshots show themselves: a cell that ends in session.State() draws the map.
func init() {
	display.Draw(func(v any) (display.Bundle, bool) {
		switch v := v.(type) {
		case session.Snapshot:
			return ResidencyMap(v), true
		case gpu.Snapshot:
			return drawMap([]gpu.Snapshot{v}), true
		case []session.Entry:
			return Ledger(v), true
		case *session.Comparison:
			return Comparison(v), true
		case session.Entry:
			return Ledger([]session.Entry{v}), true
		}
		return display.Bundle{}, false
	})
}
