package viz

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// svg builds a still picture of w by h pixels.
type svg struct {
	w, h float64
	body strings.Builder
}

func newSVG(w, h float64) *svg { return &svg{w: w, h: h} }

// num writes a coordinate with a tenth of a pixel.
func num(v float64) string {
	s := fmt.Sprintf("%.1f", v)
	return strings.TrimSuffix(s, ".0")
}

func (s *svg) line(x1, y1, x2, y2 float64, color, opacity string) {
	fmt.Fprintf(&s.body, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-opacity="%s"/>`, num(x1), num(y1), num(x2), num(y2), color, opacity)
}

func (s *svg) rect(x, y, w, h float64, attrs string) {
	fmt.Fprintf(&s.body, `<rect x="%s" y="%s" width="%s" height="%s" %s/>`, num(x), num(y), num(max(0, w)), num(max(0, h)), attrs)
}

type point struct{ x, y float64 }

// polyline draws points that follow each other; a NaN starts a new run.
func (s *svg) polyline(ps []point, color string, width float64, opacity string) {
	var d strings.Builder
	pen := "M"
	for i, p := range ps {
		if math.IsNaN(p.x + p.y) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&d, "%s%s %s", pen, num(p.x), num(p.y))
		// A point alone between gaps would not be seen.
		if pen == "M" && (i+1 == len(ps) || math.IsNaN(ps[i+1].x+ps[i+1].y)) {
			d.WriteString("h.01")
		}
		pen = "L"
	}
	fmt.Fprintf(&s.body, `<path d="%s" fill="none" stroke="%s" stroke-width="%s" stroke-opacity="%s" stroke-linejoin="round" stroke-linecap="round"/>`, d.String(), color, num(width), opacity)
}

// style is how text looks: anchor is start, middle or end.
type style struct {
	size   float64
	anchor string
	color  string
	font   string
	weight string
}

func (s *svg) text(x, y float64, text string, st style) {
	if st.color == "" {
		st.color = ink
	}
	fmt.Fprintf(&s.body, `<text x="%s" y="%s" font-size="%s" fill="%s"`, num(x), num(y), num(st.size), st.color)
	if st.anchor != "" && st.anchor != "start" {
		fmt.Fprintf(&s.body, ` text-anchor="%s"`, st.anchor)
	}
	if st.font != "" {
		fmt.Fprintf(&s.body, ` font-family="%s"`, st.font)
	}
	if st.weight != "" {
		fmt.Fprintf(&s.body, ` font-weight="%s"`, st.weight)
	}
	fmt.Fprintf(&s.body, `>%s</text>`, html.EscapeString(text))
}

// finish returns the picture; title is what screen readers say.
func (s *svg) finish(title string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" font-family="%s"><title>%s</title>%s</svg>`,
		num(s.w), num(s.h), num(s.w), num(s.h), sans, html.EscapeString(title), s.body.String())
}

// textWidth is about how wide text of that size is, in pixels: no font is at
// hand to measure it.
func textWidth(text string, size float64) float64 {
	w := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("iljtfr.,:;|!'[]() ", r):
			w += 0.37
		case r >= 'A' && r <= 'Z' || strings.ContainsRune("mwMW%", r):
			w += 0.75
		default:
			w += 0.61
		}
	}
	return w * size
}

// clip shortens text with an ellipsis until it fits; "" when nothing would.
func clip(text string, size, width float64) string {
	if textWidth(text, size) <= width {
		return text
	}
	rs := []rune(text)
	for n := len(rs) - 1; n >= 2; n-- {
		if t := string(rs[:n]) + "…"; textWidth(t, size) <= width {
			return t
		}
	}
	return ""
}

// clipPath shortens a path such as model.layers[0].W from its start: its end
// tells more.
func clipPath(text string, size, width float64) string {
	if textWidth(text, size) <= width {
		return text
	}
	rs := []rune(text)
	for n := 1; n <= len(rs)-2; n++ {
		if t := "…" + strings.TrimLeft(string(rs[n:]), ".]"); textWidth(t, size) <= width {
			return t
		}
	}
	return ""
}

// mono writes text whose runs of spaces count.
func (s *svg) mono(x, y float64, text string, st style) {
	s.text(x, y, strings.ReplaceAll(text, " ", "\u00a0"), st)
}
