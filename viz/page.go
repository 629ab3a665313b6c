package viz

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"strings"

	"gradbook/viz/display"
)

// picture is one thing to show, in the making.
type picture struct {
	text   string
	svg    string // in the page too
	still  string // only beside the page, when that needs no picture
	alt    string
	width  float64        // of the picture, in pixels
	height float64        // of the chart that replaces it
	option map[string]any // of that chart; nil for none
	kind   string         // what the script adds to the option: see chart.js
	more   string         // HTML below
}

//go:embed chart.js
var chartScript string

// kernelspec is the name of the folder that the Jupyter server hands the chart
// library out from. An installed kernel whose folder has another name says so
// in the environment.
func kernelspec() string {
	if name := os.Getenv("GRADBOOK_KERNELSPEC"); name != "" {
		return name
	}
	return "gradbook"
}

// bundle puts the three forms together. An untrusted page keeps no svg element
// and no script, but an img whose source is the picture itself.
func (p picture) bundle() display.Bundle {
	var b strings.Builder
	b.WriteString("<div>")
	if p.svg != "" {
		fmt.Fprintf(&b, `<div style="width:100%%;max-width:%spx"><img alt="%s" style="width:100%%" src="data:image/svg+xml;base64,%s"></div>`,
			num(p.width), html.EscapeString(p.alt), base64.StdEncoding.EncodeToString([]byte(p.svg)))
	}
	if p.option != nil {
		// encoding/json escapes <, > and &, so no data can end the script.
		option, err := json.Marshal(p.option)
		if err != nil {
			panic(fmt.Errorf("viz: chart option: %w", err))
		}
		r := strings.NewReplacer("__OPTION__", string(option), "__HEIGHT__", num(p.height), "__KIND__", p.kind,
			"__KERNELSPEC__", url.PathEscape(kernelspec()))
		b.WriteString("<script>" + r.Replace(chartScript) + "</script>")
	}
	b.WriteString(p.more + "</div>")
	data := map[string]any{display.MIMEText: p.text, display.MIMEHTML: b.String()}
	if still := p.svg + p.still; still != "" {
		data[display.MIMESVG] = still
	}
	return display.Bundle{Data: data}
}
