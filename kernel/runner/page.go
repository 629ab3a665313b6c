package runner

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"gradbook/kernel/notebook"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// WritePage writes a notebook as one HTML file that needs nothing else: the
// styles are in it, and where they are used the chart library charts and one
// that draws formulas.
func WritePage(path string, nb *notebook.Notebook, charts string) error {
	page, err := Page(nb, charts)
	if err != nil {
		return err
	}
	return os.WriteFile(path, page, 0o644)
}

type pageCell struct {
	Count   string
	Code    template.HTML
	Text    template.HTML
	Outputs []template.HTML
}

// Page returns a notebook as a self-contained HTML page.
func Page(nb *notebook.Notebook, charts string) ([]byte, error) {
	data := struct {
		Title  string
		Script template.JS
		Math   template.JS
		Cells  []pageCell
	}{Title: nb.Title()}
	if data.Title == "" {
		data.Title = "Notebook"
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	for _, c := range nb.Cells {
		var cell pageCell
		var buf bytes.Buffer
		switch c.Type() {
		case "code":
			cell.Code, cell.Count = template.HTML(highlight(c.Source())), c.ExecutionCount()
			for _, o := range c.Outputs() {
				part := output(o, markdown)
				if strings.Contains(part, "echarts") {
					data.Script = template.JS(charts)
				}
				if strings.Contains(part, mathMark) {
					data.Math = template.JS(katexScript)
				}
				cell.Outputs = append(cell.Outputs, template.HTML(part))
			}
		case "markdown":
			held, restore := holdMath(c.Source())
			if err := markdown.Convert([]byte(held), &buf); err != nil {
				return nil, err
			}
			text := restore(buf.String())
			if strings.Contains(text, mathMark) {
				data.Math = template.JS(katexScript)
			}
			cell.Text = template.HTML(text)
		default:
			cell.Text = template.HTML(pre("", c.Source()))
		}
		data.Cells = append(data.Cells, cell)
	}
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, data)
	return page.Bytes(), err
}

// output renders an output in the richest form that a page can show.
func output(o notebook.Output, markdown goldmark.Markdown) string {
	switch o["output_type"] {
	case "stream":
		return pre(fmt.Sprint(o["name"]), redrawn(notebook.Text(o["text"])))
	case "error":
		return pre("error", strings.TrimSuffix(strings.ReplaceAll(joinLines(o["traceback"]), "\r", ""), "\n"))
	}
	data, _ := o["data"].(map[string]any)
	if s := notebook.Text(data["text/html"]); s != "" {
		return s
	}
	if s := notebook.Text(data["image/svg+xml"]); s != "" {
		return s
	}
	for _, mime := range []string{"image/png", "image/jpeg"} {
		if s := notebook.Text(data[mime]); s != "" {
			return fmt.Sprintf(`<img alt="output" src="data:%s;base64,%s">`, mime, template.HTMLEscapeString(strings.Join(strings.Fields(s), "")))
		}
	}
	if s := notebook.Text(data["text/latex"]); s != "" {
		return latex(s)
	}
	if s := notebook.Text(data["text/markdown"]); s != "" {
		var buf bytes.Buffer
		if markdown.Convert([]byte(s), &buf) == nil {
			return buf.String()
		}
	}
	return pre("", notebook.Text(data["text/plain"]))
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

func pre(class, text string) string {
	return fmt.Sprintf(`<pre class="%s">%s</pre>`, class, template.HTMLEscapeString(ansi.ReplaceAllString(text, "")))
}

// redrawn drops what carriage returns have overwritten.
func redrawn(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = drawn(line)
	}
	return strings.Join(lines, "\n")
}

func joinLines(v any) string {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, "\n")
	case []any:
		var lines []string
		for _, line := range v {
			lines = append(lines, fmt.Sprint(line))
		}
		return strings.Join(lines, "\n")
	}
	return ""
}
