package viz

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"gradbook/viz/display"
)

const (
	curveWidth, curveHeight = 720.0, 300.0
	drawnPoints             = 600 // of a series in a picture
	sparkWidth              = 48  // characters
)

func (c *Curve) bundle() display.Bundle {
	c.fetch()
	notes := c.notes()
	names := make([]string, len(c.series))
	for i, s := range c.series {
		names[i] = s.name
	}
	return picture{
		text:   c.text(notes),
		svg:    c.picture(notes),
		alt:    "curve of " + strings.Join(names, ", "),
		width:  curveWidth,
		height: curveHeight,
		option: c.option(),
		kind:   "curve",
		more:   small(notes),
	}.bundle()
}

// notes tell what a reader could take wrongly.
func (c *Curve) notes() (notes []string) {
	for _, s := range c.series {
		if i := firstBad(s.values); i >= 0 && c.failed == nil {
			notes = append(notes, fmt.Sprintf("%s is %s at %s %s", s.name, value(s.values[i]), c.xLabel, count(int64(s.steps[i]))))
		}
		if c.log {
			n := 0
			for _, v := range s.values {
				if v <= 0 {
					n++
				}
			}
			if n > 0 {
				notes = append(notes, fmt.Sprintf("%s of %s not positive, not on the log axis", plural(int64(n), "value"), s.name))
			}
		}
		if s.skipped > 0 {
			notes = append(notes, fmt.Sprintf("%s of %s %ss of %s kept: more would slow the loop", count(int64(s.seen-s.skipped)), count(int64(s.seen)), c.xLabel, s.name))
		}
		if s.merged {
			notes = append(notes, s.name+": least and largest of neighbouring older values")
		}
	}
	if c.failed != nil {
		notes = append(notes, "values lost on the device: "+c.failed.Error())
	}
	return notes
}

func firstBad(vs []float64) int {
	for i, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return i
		}
	}
	return -1
}

func small(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	escaped := make([]string, len(notes))
	for i, n := range notes {
		escaped[i] = htmlEscape(n)
	}
	return `<div style="font-size:12px;color:` + grey + `">` + strings.Join(escaped, "<br>") + `</div>`
}

// text is a line for each series: a sparkline, first and last value, least and
// largest.
func (c *Curve) text(notes []string) string {
	wide := 0
	for _, s := range c.series {
		wide = max(wide, utf8.RuneCountInString(s.name))
	}
	var b strings.Builder
	for _, s := range c.series {
		pad := strings.Repeat(" ", wide-utf8.RuneCountInString(s.name))
		if len(s.values) == 0 {
			fmt.Fprintf(&b, "%s%s  no values yet\n", s.name, pad)
			continue
		}
		lo, hi := bounds(s.values, false)
		fmt.Fprintf(&b, "%s%s  %s  %s → %s  (%s to %s, %s)\n", s.name, pad, spark(s.values, sparkWidth, c.log),
			value(s.values[0]), value(s.values[len(s.values)-1]), value(lo), value(hi), plural(int64(s.seen), c.xLabel))
	}
	for _, n := range notes {
		b.WriteString(n + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// bounds are the least and the largest finite value, positive ones only when
// asked for; NaN when there is none.
func bounds(vs []float64, positive bool) (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) || positive && v <= 0 {
			continue
		}
		if !(v >= lo) {
			lo = v
		}
		if !(v <= hi) {
			hi = v
		}
	}
	return lo, hi
}

func (c *Curve) picture(notes []string) string {
	s := newSVG(curveWidth, curveHeight)
	const top, bottom, left, right = 34, 44, 62, 16
	var xs []float64
	for _, line := range c.series {
		if n := len(line.steps); n > 0 {
			xs = append(xs, float64(line.steps[0]), float64(line.steps[n-1]))
		}
	}
	lo, hi := c.span()
	xlo, xhi := bounds(xs, false)
	if math.IsNaN(lo) || math.IsNaN(xlo) {
		s.text(curveWidth/2, curveHeight/2, "no values to draw yet", style{size: 13, anchor: "middle"})
		return s.finish("empty curve")
	}
	x := linearAxis(xlo, xhi, left, curveWidth-right, 7, false)
	y := linearAxis(lo, hi, curveHeight-bottom, top, 5, true)
	if c.log {
		y = logAxis(lo, hi, curveHeight-bottom, top)
	}
	for _, t := range y.ticks {
		s.line(left, y.at(t), curveWidth-right, y.at(t), ink, faint)
		s.text(left-8, y.at(t)+4, y.label(t), style{size: 12, anchor: "end"})
	}
	s.line(left, curveHeight-bottom, curveWidth-right, curveHeight-bottom, ink, "0.7")
	for _, t := range x.ticks {
		if t != math.Trunc(t) {
			continue
		}
		s.line(x.at(t), curveHeight-bottom, x.at(t), curveHeight-bottom+4, ink, "0.7")
		s.text(x.at(t), curveHeight-bottom+18, x.label(t), style{size: 12, anchor: "middle"})
	}
	s.text((left+curveWidth-right)/2, curveHeight-8, c.xLabel, style{size: 12, anchor: "middle"})
	c.legend(s, left)
	for _, line := range c.series {
		if line.smooths(c.smooth) {
			s.polyline(line.points(line.values, x, y), line.color, 1, "0.35")
			s.polyline(line.points(average(line.values, c.smooth), x, y), line.color, 2, "1")
		} else {
			s.polyline(line.points(line.values, x, y), line.color, 1.6, "1")
		}
	}
	return s.finish(strings.ReplaceAll(c.text(notes), "\n", "; "))
}

// span is the least and the largest value of all series that the axis can
// show; NaN when there is none.
func (c *Curve) span() (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	for _, s := range c.series {
		l, h := bounds(s.values, c.log)
		lo, hi = least(lo, l), largest(hi, h)
	}
	return lo, hi
}

func least(a, b float64) float64 {
	if !(b >= a) && !math.IsNaN(b) {
		return b
	}
	return a
}

func largest(a, b float64) float64 {
	if !(b <= a) && !math.IsNaN(b) {
		return b
	}
	return a
}

// smooths reports whether a moving average tells something: over a few points
// it would only lag.
func (s *series) smooths(weight float64) bool {
	return weight > 0 && float64(len(s.values)) > 2/(1-weight)
}

// legend names the series above the chart, with the last value of each.
func (c *Curve) legend(s *svg, left float64) {
	at := left
	for _, line := range c.series {
		if len(line.values) == 0 {
			continue
		}
		label := line.name + " " + value(line.values[len(line.values)-1])
		s.rect(at, 14, 14, 4, `rx="2" fill="`+line.color+`"`)
		s.text(at+20, 21, label, style{size: 13})
		at += 20 + textWidth(label, 13) + 22
	}
}

// points are where the series' values lie, thinned to what can be seen.
func (s *series) points(values []float64, x, y axis) []point {
	keep := envelope(values, drawnPoints)
	ps := make([]point, len(keep))
	for i, k := range keep {
		ps[i] = point{x.at(float64(s.steps[k])), y.at(values[k])}
	}
	return ps
}

// option is the interactive chart.
func (c *Curve) option() map[string]any {
	line := charts.NewLine()
	y := opts.YAxis{Type: "value", Scale: opts.Bool(true)}
	if lo, hi := c.span(); c.log && lo > 0 {
		y = opts.YAxis{Type: "log", Min: math.Pow(10, math.Floor(math.Log10(lo))), Max: math.Pow(10, math.Ceil(math.Log10(hi)))}
	}
	yes := opts.Bool(true)
	line.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: c.xLabel, NameLocation: "middle", NameGap: 28, Min: "dataMin", Max: "dataMax", SplitLine: &opts.SplitLine{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(y),
		charts.WithTooltipOpts(opts.Tooltip{Show: yes, Trigger: "axis"}),
		charts.WithLegendOpts(opts.Legend{Show: yes, Left: "62", Top: "4", Icon: "roundRect"}),
		charts.WithGridOpts(opts.Grid{Left: "62", Right: "24", Top: "38", Bottom: "44"}),
		charts.WithToolboxOpts(opts.Toolbox{Show: yes, Right: "20", Feature: &opts.ToolBoxFeature{
			DataZoom: &opts.ToolBoxFeatureDataZoom{Show: yes, Icon: map[string]string{}, Title: map[string]string{"zoom": "zoom", "back": "zoom back"}}}}),
	)
	for _, s := range c.series {
		if s.smooths(c.smooth) {
			line.AddSeries(s.name, s.data(s.values, c.log), lineStyle(s.color, 1, 0.35)...)
			line.AddSeries(s.name+" smoothed", s.data(average(s.values, c.smooth), c.log), lineStyle(s.color, 2, 1)...)
		} else {
			line.AddSeries(s.name, s.data(s.values, c.log), lineStyle(s.color, 1.6, 1)...)
		}
	}
	line.Validate()
	return line.JSON()
}

func lineStyle(color string, width, opacity float32) []charts.SeriesOpts {
	return []charts.SeriesOpts{
		charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false)}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: color, Width: width, Opacity: opts.Float(opacity)}),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: color}),
	}
}

// data are pairs of step and value; null where there is nothing to draw.
func (s *series) data(values []float64, log bool) []opts.LineData {
	keep := envelope(values, drawnPoints)
	out := make([]opts.LineData, len(keep))
	for i, k := range keep {
		var v any = values[k]
		if f := values[k]; math.IsNaN(f) || math.IsInf(f, 0) || log && f <= 0 {
			v = nil
		}
		out[i] = opts.LineData{Value: []any{s.steps[k], v}}
	}
	return out
}
