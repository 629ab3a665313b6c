package assist

import (
	"fmt"
	"html"
	"strings"

	"gradbook/viz/display"
)

// Bundle lays an inspection out for a front end, as text and as a page. With source, the declaration in the cell is part of
// it (Jupyter's second level of detail).
func (ins Inspection) Bundle(source bool) display.Bundle {
	var text, page strings.Builder
	add := func(part, open, end string) {
		if part == "" {
			return
		}
		if text.Len() > 0 {
			text.WriteString("\n\n")
		}
		text.WriteString(part)
		page.WriteString(open + html.EscapeString(part) + end)
	}
	const pre = `<pre style="margin:0 0 .6em;white-space:pre-wrap">`
	add(ins.Signature, pre+"<b>", "</b></pre>")
	add(ins.Value, pre, "</pre>")
	add(ins.Doc, pre, "</pre>")
	if source {
		add(ins.Source, pre, "</pre>")
	}
	if ins.Cell > 0 {
		add(fmt.Sprintf("declared in cell [%d]", ins.Cell), "<i>", "</i>")
	}
	return display.Bundle{Data: map[string]any{"text/plain": text.String(), "text/html": page.String()}}
}
