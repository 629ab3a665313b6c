package viz

// box is a rectangle in pixels.
type box struct{ x, y, w, h float64 }

func (b box) inset(d float64) box {
	return box{b.x + d, b.y + d, max(0, b.w-2*d), max(0, b.h-2*d)}
}

// squarify divides b into boxes whose areas are as weights, which are positive
// and in falling order, and whose sides are as equal as that allows.
//
// Source: Bruls, Huizing, van Wijk: Squarified Treemaps, 2000.
func squarify(weights []float64, b box) []box {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	boxes := make([]box, 0, len(weights))
	for len(weights) > 0 {
		side := min(b.w, b.h)
		scale := b.w * b.h / sum // pixels² a weight
		n, row := 1, weights[0]
		for n < len(weights) {
			next := row + weights[n]
			if worst(weights[:n+1], next, scale, side) > worst(weights[:n], row, scale, side) {
				break
			}
			n, row = n+1, next
		}
		thick := 0.0
		if side > 0 {
			thick = row * scale / side
		}
		at := 0.0
		for _, w := range weights[:n] {
			long := side * w / row
			if b.w < b.h {
				boxes = append(boxes, box{b.x + at, b.y, long, thick})
			} else {
				boxes = append(boxes, box{b.x, b.y + at, thick, long})
			}
			at += long
		}
		if b.w < b.h {
			b.y, b.h = b.y+thick, max(0, b.h-thick)
		} else {
			b.x, b.w = b.x+thick, max(0, b.w-thick)
		}
		weights, sum = weights[n:], sum-row
	}
	return boxes
}

// worst is the largest ratio of sides in a row of boxes along side.
func worst(row []float64, sum, scale, side float64) float64 {
	area, s2 := sum*scale, side*side
	largest, smallest := row[0]*scale, row[len(row)-1]*scale
	return max(s2*largest/(area*area), area*area/(s2*smallest))
}
