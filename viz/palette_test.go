package viz

import (
	"math"
	"strconv"
	"testing"
)

// luminance is the relative luminance of WCAG 2.
func luminance(hex string) float64 {
	l := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(err)
		}
		c := float64(n) / 255
		if c <= 0.03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		l += weight * c
	}
	return l
}

func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

const white, darkPage = "#ffffff", "#111111"

func TestColoursServeBothThemes(t *testing.T) {
	for _, c := range append([]string{ink}, seriesColors...) {
		if a, b := contrast(c, white), contrast(c, darkPage); a < 3 || b < 3 {
			t.Errorf("%s: contrast %.2f on white, %.2f on the dark page, want 3", c, a, b)
		}
	}
	for k, c := range tileColors {
		if a, b := contrast(c, white), contrast(c, darkPage); a < 4.5 || b < 2.9 {
			t.Errorf("tile of %v, %s: contrast %.2f with its text, %.2f with the dark page", kind(k), c, a, b)
		}
	}
	if a := contrast(ink, white); a < 4 {
		t.Errorf("text on white: %.2f", a)
	}
	if a := contrast(ink, darkPage); a < 4 {
		t.Errorf("text on the dark page: %.2f", a)
	}
}
