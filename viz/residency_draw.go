package viz

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"gradbook/gpu"
)

const (
	mapWidth   = 720.0
	panelGap   = 16.0
	panelWidth = (mapWidth - panelGap) / 2
	panelHigh  = 220.0
	titleHigh  = 24.0
	headHigh   = 22.0 // a panel's title
	mapNote    = 22.0
	mapHigh    = titleHigh + headHigh + panelHigh + mapNote

	striped    = "striped: the same bytes in both memories"
	scaled     = "area is bytes, within one memory"
	drawnBoxes = 60 // of a panel: smaller owners share one box
)

// panel is one memory: a device's, or the host's part of its values.
type panel struct {
	place  string
	other  string // the memory that striped boxes have their copy in
	pool   int64  // bytes there that nobody owns
	bytes  func(block) int64
	blocks []block
	total  int64
}

// panels are the memories in which o has bytes, the device first.
func (o *ownership) panels() []panel {
	device := panel{place: "on the device", other: "host memory", pool: o.snap.PoolBytes, bytes: func(b block) int64 { return b.device }}
	host := panel{place: "in host memory", other: "the device", bytes: func(b block) int64 { return b.host }}
	var out []panel
	for _, p := range []panel{device, host} {
		for _, b := range o.blocks {
			if p.bytes(b) > 0 {
				p.blocks = append(p.blocks, b)
			}
		}
		for _, b := range p.blocks {
			p.total += p.bytes(b)
		}
		p.blocks = p.fewer()
		if p.total > 0 {
			out = append(out, p)
		}
	}
	return out
}

// title tells of the pool only in words: it may be many times what is owned,
// and the picture is about owners.
func (p *panel) title() string {
	t := p.place + ": " + size(p.total)
	if p.pool > 0 {
		t += " owned, " + size(p.pool) + " free in the pool"
	}
	return t
}

// fewer sums up the smallest blocks of each kind when there are too many to be
// seen.
func (p *panel) fewer() []block {
	if len(p.blocks) <= drawnBoxes {
		return p.blocks
	}
	by := slices.Clone(p.blocks)
	slices.SortStableFunc(by, func(a, b block) int { return cmp.Compare(p.bytes(b), p.bytes(a)) })
	out := by[:drawnBoxes:drawnBoxes]
	rest, small := map[kind]int{}, map[kind]int{} // index in out, number of storages
	for _, b := range by[drawnBoxes:] {
		k := kindOf(b.owner)
		i, ok := rest[k]
		if !ok {
			i = len(out)
			rest[k] = i
			out = append(out, block{owner: gpu.Owner{Role: b.owner.Role, Name: b.owner.Name}})
		}
		small[k] += b.count
		out[i].device += b.device
		out[i].host += b.host
		out[i].name = plural(int64(small[k]), "smaller one")
	}
	return out
}

// group is the blocks of one kind in a panel.
type group struct {
	kind   kind
	blocks []block
	bytes  int64
}

func (p *panel) groups() []group {
	var gs []group
	for _, b := range p.blocks {
		k := kindOf(b.owner)
		i := slices.IndexFunc(gs, func(g group) bool { return g.kind == k })
		if i < 0 {
			i = len(gs)
			gs = append(gs, group{kind: k})
		}
		gs[i].blocks = append(gs[i].blocks, b)
		gs[i].bytes += p.bytes(b)
	}
	for _, g := range gs {
		slices.SortStableFunc(g.blocks, func(a, b block) int { return cmp.Compare(p.bytes(b), p.bytes(a)) })
	}
	slices.SortStableFunc(gs, func(a, b group) int { return cmp.Compare(b.bytes, a.bytes) })
	return gs
}

func mapPicture(books []ownership) (string, float64) {
	const legend = 40
	s := newSVG(mapWidth, mapHigh*float64(len(books))+legend)
	s.body.WriteString(`<defs><pattern id="both" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="3" height="8" fill="#fff" fill-opacity="0.28"/></pattern></defs>`)
	var kinds []kind
	for i := range books {
		o := &books[i]
		y := float64(i) * mapHigh
		sum := o.sum()
		s.text(0, y+15, clip(deviceName(o.snap.Info), 13.5, mapWidth-textWidth(sum, 12)), style{size: 13, weight: "600"})
		s.text(mapWidth, y+15, sum, style{size: 12, anchor: "end"})
		panels := o.panels()
		for j, p := range panels {
			b := box{0, y + titleHigh + headHigh, mapWidth, panelHigh}
			if len(panels) == 2 {
				b.w = panelWidth
				b.x = float64(j) * (panelWidth + panelGap)
			}
			s.text(b.x, y+titleHigh+14, p.title(), style{size: 12})
			s.panel(p, b)
		}
		if len(panels) == 0 {
			s.text(0, y+titleHigh+14, "nothing is held", style{size: 12})
		}
		kinds = append(kinds, o.kindsInUse()...)
	}
	slices.Sort(kinds)
	s.mapLegend(slices.Compact(kinds), books, s.h-legend+8)
	return s.finish("residency map: " + books[0].title()), s.h - legend
}

func (s *svg) panel(p panel, b box) {
	gs := p.groups()
	weights := make([]float64, len(gs))
	for i, g := range gs {
		weights[i] = float64(g.bytes)
	}
	for i, gb := range squarify(weights, b) {
		inner := make([]float64, len(gs[i].blocks))
		for j, bl := range gs[i].blocks {
			inner[j] = float64(p.bytes(bl))
		}
		for j, bb := range squarify(inner, gb.inset(1)) {
			s.tile(p, gs[i].blocks[j], bb.inset(0.5))
		}
	}
}

// tile draws one block: filled where it has bytes, striped where the other
// memory has the same, framed where they are stale.
func (s *svg) tile(p panel, bl block, b box) {
	text := "#fff"
	switch {
	case bl.stale && p.place == "on the device":
		s.rect(b.x+0.5, b.y+0.5, b.w-1, b.h-1, fmt.Sprintf(`rx="2" fill="none" stroke="%s" stroke-dasharray="2 2"`, tileColors[kindOf(bl.owner)]))
		text = ink
	default:
		s.rect(b.x, b.y, b.w, b.h, `rx="2" fill="`+tileColors[kindOf(bl.owner)]+`"`)
		if bl.both() {
			s.rect(b.x, b.y, b.w, b.h, `rx="2" fill="url(#both)"`)
		}
	}
	if b.h < 16 {
		return
	}
	if name := clipPath(bl.label(), 11, b.w-10); name != "" {
		s.text(b.x+5, b.y+14, name, style{size: 11, color: text})
		if bytes := size(p.bytes(bl)); b.h >= 30 && textWidth(bytes, 11) <= b.w-10 {
			s.text(b.x+5, b.y+27, bytes, style{size: 11, color: text})
		}
	}
}

func anyBlock(books []ownership, is func(block) bool) bool {
	return slices.ContainsFunc(books, func(o ownership) bool { return slices.ContainsFunc(o.blocks, is) })
}

func (s *svg) mapLegend(kinds []kind, books []ownership, y float64) {
	x := 0.0
	key := func(label string, draw func(x, y float64)) {
		draw(x, y)
		s.text(x+17, y+10, label, style{size: 11})
		x += 17 + textWidth(label, 11) + 14
	}
	for _, k := range kinds {
		key(k.String(), func(x, y float64) { s.rect(x, y, 12, 12, `rx="2" fill="`+tileColors[k]+`"`) })
	}
	x, y = 0, y+18
	if anyBlock(books, block.both) {
		key(striped, func(x, y float64) {
			s.rect(x, y, 12, 12, `rx="2" fill="`+tileColors[temporary]+`"`)
			s.rect(x, y, 12, 12, `rx="2" fill="url(#both)"`)
		})
	}
	if anyBlock(books, func(b block) bool { return b.stale }) {
		key("dashed: older than the host's", func(x, y float64) {
			s.rect(x+0.5, y+0.5, 11, 11, `rx="2" fill="none" stroke="`+ink+`" stroke-dasharray="2 2"`)
		})
	}
	s.text(x, y+10, scaled, style{size: 11})
}

// node is a box of the interactive map.
type node struct {
	Name     string         `json:"name"`
	Value    int64          `json:"value"`
	Tip      string         `json:"tip"`
	Size     string         `json:"size"`
	Style    map[string]any `json:"itemStyle"`
	Children []node         `json:"children,omitempty"`
}

func mapOption(books []ownership) map[string]any {
	chart := charts.NewTreeMap()
	chart.SetGlobalOptions(charts.WithAnimation(false), charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true)}), charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}))
	var titles []map[string]any
	write := func(text, side, at string, top, size float64) {
		titles = append(titles, map[string]any{"text": text, side: at, "top": top, "padding": 0,
			"textStyle": map[string]any{"fontSize": size, "fontWeight": "normal"}})
	}
	for i := range books {
		o := &books[i]
		y := float64(i) * mapHigh
		write(deviceName(o.snap.Info), "left", "0", y+3, 13)
		write(o.sum(), "right", "0", y+4, 12)
		panels := o.panels()
		for j, p := range panels {
			left, right := "0", "0"
			if len(panels) == 2 {
				left, right = []string{"0", "51%"}[j], []string{"51%", "0"}[j]
			}
			write(p.title(), "left", left, y+titleHigh+3, 12)
			chart.AddSeries(p.place, nil, charts.WithTreeMapOpts(opts.TreeMapChart{
				Roam: opts.Bool(false), Left: left, Right: right, Top: num(y + titleHigh + headHigh), Bottom: num(mapHigh*float64(len(books)-1-i) + mapNote),
				Levels: &[]opts.TreeMapLevel{{UpperLabel: &opts.UpperLabel{Show: opts.Bool(false)}}, {}, {}},
			}))
			chart.MultiSeries[len(chart.MultiSeries)-1].Data = p.nodes()
		}
	}
	note := scaled
	if anyBlock(books, block.both) {
		note = striped + "; " + note
	}
	write(note, "left", "0", mapHigh*float64(len(books))-mapNote+6, 11)
	chart.Validate()
	option := chart.JSON()
	option["title"] = titles
	return option
}

func (p panel) nodes() []node {
	var out []node
	for _, g := range p.groups() {
		style := map[string]any{"color": tileColors[g.kind], "borderColor": tileColors[g.kind], "gapWidth": 1}
		n := node{Name: g.kind.String(), Value: g.bytes, Style: style, Tip: tip(g.kind.String(), size(g.bytes), p.place), Size: size(g.bytes)}
		for _, b := range g.blocks {
			s := map[string]any{"color": style["color"]}
			if b.both() {
				s["decal"] = map[string]any{"symbol": "rect", "color": "rgba(255,255,255,0.28)", "dashArrayX": []int{1, 0}, "dashArrayY": []int{3, 5}, "rotation": 0.785}
			}
			n.Children = append(n.Children, node{Name: b.label(), Value: p.bytes(b), Style: s, Tip: b.tip(p), Size: size(p.bytes(b))})
		}
		out = append(out, n)
	}
	return out
}

func tip(name string, lines ...string) string {
	escaped := make([]string, len(lines))
	for i, l := range lines {
		escaped[i] = htmlEscape(l)
	}
	return "<b>" + htmlEscape(name) + "</b><br>" + strings.Join(escaped, "<br>")
}

func (b block) tip(p panel) string {
	lines := []string{kindOf(b.owner).String() + ", " + size(p.bytes(b))}
	if b.both() {
		lines = append(lines, "the same bytes in "+p.other)
	}
	if b.stale {
		lines = append(lines, "the host has newer bytes")
	}
	if b.owner.Op != "" {
		lines = append(lines, "made by "+b.owner.Op)
	}
	if b.owner.Cell > 0 {
		lines = append(lines, "in cell "+b.birth())
	}
	return tip(b.label(), lines...)
}
