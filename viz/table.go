package viz

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// table is rows of text under a header. Columns whose header starts with ">"
// are set flush right.
type table struct {
	head []string
	rows [][]string
	// foot is a last row that sums up; nil for none.
	foot []string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) columns() (names []string, right []bool) {
	for _, h := range t.head {
		name, r := strings.CutPrefix(h, ">")
		names, right = append(names, name), append(right, r)
	}
	return names, right
}

// String sets the table in columns of aligned text.
func (t *table) String() string {
	names, right := t.columns()
	all := append([][]string{names}, t.rows...)
	if t.foot != nil {
		all = append(all, t.foot)
	}
	width := make([]int, len(names))
	for _, row := range all {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, row := range all {
		var line strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i > 0 {
				line.WriteString("  ")
			}
			if right[i] {
				line.WriteString(pad + c)
			} else {
				line.WriteString(c + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// HTML sets the table with the front end's own fonts and colours. It has no
// class names and no style sheet: an untrusted notebook keeps its look.
func (t *table) HTML() string {
	names, right := t.columns()
	var b strings.Builder
	b.WriteString(`<table style="border-collapse:collapse;font-size:12px;font-variant-numeric:tabular-nums">`)
	row := func(tag, rule string, cells []string) {
		b.WriteString("<tr>")
		for i, c := range cells {
			align, wrap := "left", "white-space:nowrap"
			if right[i] {
				align = "right"
			} else if i == len(cells)-1 {
				wrap = "min-width:9em"
			}
			fmt.Fprintf(&b, `<%s style="text-align:%s;padding:2px 8px;%s;%s">%s</%s>`, tag, align, wrap, rule, html.EscapeString(c), tag)
		}
		b.WriteString("</tr>")
	}
	b.WriteString("<thead>")
	row("th", "border-bottom:1px solid "+grey, names)
	b.WriteString("</thead><tbody>")
	for _, cells := range t.rows {
		row("td", "", cells)
	}
	b.WriteString("</tbody>")
	if t.foot != nil {
		b.WriteString("<tfoot>")
		row("td", "border-top:1px solid "+grey+";font-weight:600", t.foot)
		b.WriteString("</tfoot>")
	}
	b.WriteString("</table>")
	return b.String()
}

// picture sets the table as a still picture, in a font whose letters are all
// as wide.
func (t *table) picture(title string) string {
	const size, char, line = 12.0, 7.3, 18.0
	lines := strings.Split(strings.TrimRight(t.String(), "\n"), "\n")
	wide := 0
	for _, l := range lines {
		wide = max(wide, utf8.RuneCountInString(l))
	}
	s := newSVG(float64(wide)*char+16, float64(len(lines))*line+14)
	for i, l := range lines {
		st := style{size: size, font: mono}
		if i == 0 || t.foot != nil && i == len(lines)-1 {
			st.weight = "600"
		}
		s.mono(8, float64(i+1)*line, l, st)
	}
	s.line(8, line+5, s.w-8, line+5, ink, "0.5")
	return s.finish(title)
}
