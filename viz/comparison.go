package viz

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"gradbook/session"
	"gradbook/viz/display"
)

// Comparison shows the same training on several devices: a table, and the time
// of a step as bars with the range in which half of the steps lie.
func Comparison(c *session.Comparison) display.Bundle {
	t := comparisonTable(c)
	notes := comparisonNotes(c)
	p := picture{
		text:  strings.TrimRight(t.String(), "\n") + "\n\n" + strings.Join(notes, "\n"),
		alt:   "time of a step by device",
		width: curveWidth,
		kind:  "bars",
		more:  `<div style="overflow-x:auto">` + t.HTML() + `</div>` + small(notes),
	}
	if bars := barsOf(c); len(bars) > 0 {
		p.svg, p.height = barPicture(bars)
		p.option = barOption(bars)
	}
	return p.bundle()
}

func comparisonTable(c *session.Comparison) *table {
	t := &table{head: []string{"device", ">step", ">middle half", ">first step", ">device time", ">launches", ">up", ">down", ">peak", ">loss differs", ">weights differ"}}
	for _, r := range c.Rows {
		if r.Err != "" {
			t.add(r.Device, "–", "–", "–", "–", "–", "–", "–", "–", "–", "–")
			continue
		}
		t.add(r.Device, duration(r.Median), duration(r.Low)+" – "+duration(r.High), duration(r.First), durationOrDash(r.DeviceTime),
			perStep(r.Launches), bytesOrDash(int64(r.BytesUp)), bytesOrDash(int64(r.BytesDown)), size(r.Peak), differs(r.LossDiff), differs(r.WeightDiff))
	}
	return t
}

func comparisonNotes(c *session.Comparison) []string {
	p := c.Plan
	notes := []string{fmt.Sprintf("%s after %s, seed %d; step is the median, up and down are bytes a step", plural(int64(p.Steps), "step"), plural(int64(p.Warmup), "warm-up step"), p.Seed)}
	if c.Reference != "" {
		notes = append(notes, fmt.Sprintf("differences from %s: the largest of all losses, and of all weights after the last step", c.Reference))
	}
	for _, r := range c.Rows {
		switch {
		case r.Err != "":
			notes = append(notes, r.Device+": "+r.Err)
		case r.Fallbacks > 0:
			notes = append(notes, fmt.Sprintf("%s: %s ran on the host", r.Device, plural(r.Fallbacks, "launch")))
		}
	}
	return notes
}

// perStep writes a mean of counts: whole where it is.
func perStep(n float64) string {
	if n == math.Trunc(n) {
		return count(int64(n))
	}
	return value(n)
}

func differs(d float64) string {
	switch {
	case math.IsNaN(d):
		return "–"
	case d == 0:
		return "0"
	}
	return fmt.Sprintf("%.1e", d)
}

// bar is the step time of a device, in milliseconds.
type bar struct {
	label        string
	lo, mid, hi  float64
	text, detail string
}

func barsOf(c *session.Comparison) (bars []bar) {
	for _, r := range c.Rows {
		if r.Err == "" {
			bars = append(bars, bar{r.Device, ms(r.Low), ms(r.Median), ms(r.High), duration(r.Median), deviceName(r.Info)})
		}
	}
	return bars
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

const barHigh = 30.0

// barLabels is how wide the labels are.
func barLabels(bars []bar) float64 {
	left := 60.0
	for _, b := range bars {
		left = max(left, textWidth(b.label, 12)+16)
	}
	return left
}

func barPicture(bars []bar) (string, float64) {
	left, most := barLabels(bars), 0.0
	for _, b := range bars {
		most = max(most, b.hi)
	}
	const top, bottom, right = 8, 40, 80
	s := newSVG(curveWidth, top+barHigh*float64(len(bars))+bottom)
	x := linearAxis(0, most, left, curveWidth-right, 6, true)
	floor := s.h - bottom
	for _, t := range x.ticks {
		s.line(x.at(t), top, x.at(t), floor, ink, faint)
		s.text(x.at(t), floor+16, x.label(t), style{size: 12, anchor: "middle"})
	}
	s.text((left+curveWidth-right)/2, s.h-6, "ms per step: median, and the range of the middle half", style{size: 12, anchor: "middle"})
	for i, b := range bars {
		y := top + barHigh*float64(i)
		s.text(left-8, y+barHigh/2+4, b.label, style{size: 12, anchor: "end"})
		s.rect(left, y+6, x.at(b.mid)-left, barHigh-12, `rx="2" fill="`+seriesColor(i)+`"`)
		mid := y + barHigh/2
		s.line(x.at(b.lo), mid, x.at(b.hi), mid, ink, "1")
		for _, end := range []float64{b.lo, b.hi} {
			s.line(x.at(end), mid-4, x.at(end), mid+4, ink, "1")
		}
		s.text(x.at(b.hi)+8, mid+4, b.text, style{size: 12})
	}
	return s.finish("time of a step by device"), s.h
}

func barOption(bars []bar) map[string]any {
	chart := charts.NewBar()
	yes := opts.Bool(true)
	var labels []string
	var data []map[string]any
	for i, b := range bars {
		labels = append(labels, b.label)
		data = append(data, map[string]any{"value": b.mid, "itemStyle": map[string]any{"color": seriesColor(i)},
			"tip": tip(b.label, b.detail, fmt.Sprintf("median %s", b.text), fmt.Sprintf("half of the steps between %s and %s ms", value(b.lo), value(b.hi)))})
	}
	chart.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithTooltipOpts(opts.Tooltip{Show: yes}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: "ms per step, median", NameLocation: "middle", NameGap: 26}),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: labels, Inverse: yes}),
		charts.WithGridOpts(opts.Grid{Left: num(barLabels(bars)), Right: "40", Top: "6", Bottom: "46"}),
	)
	chart.AddSeries("step", nil, charts.WithBarChartOpts(opts.BarChart{BarWidth: "18"}))
	chart.MultiSeries[0].Data = data
	chart.Validate()
	return chart.JSON()
}
