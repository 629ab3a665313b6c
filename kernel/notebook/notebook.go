package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Notebook is a list of cells and metadata.
type Notebook struct {
	Cells []*Cell
	raw   map[string]any
}

// A Cell is one cell of a notebook.
type Cell struct{ raw map[string]any }

// An Output is one output of a code cell, with the fields of the format:
// output_type, and what belongs to that type.
type Output = map[string]any

// Read reads a notebook file.
func Read(path string) (*Notebook, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	nb, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not a notebook: %w", path, err)
	}
	return nb, nil
}

// Parse decodes a notebook.
func Parse(data []byte) (*Notebook, error) {
	nb := &Notebook{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&nb.raw); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
			return nil, fmt.Errorf("line %d is not JSON: %w", line, err)
		}
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if version := fmt.Sprint(nb.raw["nbformat"]); version != "4" {
		if nb.raw["nbformat"] == nil {
			return nil, errors.New("nbformat is missing")
		}
		return nil, fmt.Errorf("nbformat %s; version 4 is what Jupyter has written since 2015: open it there and save it", version)
	}
	cells, ok := nb.raw["cells"].([]any)
	if !ok {
		return nil, errors.New("cells are missing")
	}
	for i, c := range cells {
		raw, ok := c.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("cell %d is not an object", i+1)
		}
		cell := &Cell{raw}
		if _, err := joined(raw["source"]); err != nil {
			return nil, fmt.Errorf("cell %d: source: %w", i+1, err)
		}
		nb.Cells = append(nb.Cells, cell)
	}
	return nb, nil
}

// Language returns the language of the notebook's kernel, "" if it names none.
func (nb *Notebook) Language() string {
	meta, _ := nb.raw["metadata"].(map[string]any)
	spec, _ := meta["kernelspec"].(map[string]any)
	if lang, ok := spec["language"].(string); ok {
		return lang
	}
	info, _ := meta["language_info"].(map[string]any)
	lang, _ := info["name"].(string)
	return lang
}

// SetMetadata sets one entry of the notebook's metadata.
func (nb *Notebook) SetMetadata(name string, value any) {
	meta, ok := nb.raw["metadata"].(map[string]any)
	if !ok {
		meta = make(map[string]any)
		nb.raw["metadata"] = meta
	}
	meta[name] = value
}

// Title returns the first heading of the notebook, "" if there is none.
func (nb *Notebook) Title() string {
	for _, c := range nb.Cells {
		if c.Type() != "markdown" {
			continue
		}
		for line := range strings.SplitSeq(c.Source(), "\n") {
			if title, ok := strings.CutPrefix(line, "# "); ok {
				return strings.TrimSpace(title)
			}
		}
	}
	return ""
}

// Write writes the notebook to a file, by way of a new file beside it, so
// that nobody sees half of it.
func (nb *Notebook) Write(path string) error {
	data, err := nb.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Chmod(tmp.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Encode encodes the notebook as Jupyter does: keys in order, an indent of
// one space.
func (nb *Notebook) Encode() ([]byte, error) {
	cells := make([]any, len(nb.Cells))
	for i, c := range nb.Cells {
		cells[i] = c.raw
		for _, o := range c.Outputs() {
			splitText(o)
		}
	}
	nb.raw["cells"] = cells
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(nb.raw); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// NewCode returns a code cell.
func NewCode(id, source string, tags ...string) *Cell {
	meta := map[string]any{}
	if len(tags) > 0 {
		meta["tags"] = tags
	}
	return &Cell{map[string]any{
		"cell_type": "code", "id": id, "metadata": meta, "source": lines(source),
		"outputs": []any{}, "execution_count": nil,
	}}
}

// Type returns "code", "markdown" or "raw".
func (c *Cell) Type() string {
	t, _ := c.raw["cell_type"].(string)
	return t
}

// Source returns the text of the cell.
func (c *Cell) Source() string {
	s, _ := joined(c.raw["source"]) // checked by Parse
	return s
}

// HasTag reports whether the cell's metadata has that tag.
func (c *Cell) HasTag(tag string) bool {
	switch tags := c.metadata()["tags"].(type) {
	case []any:
		return slices.Contains(tags, any(tag))
	case []string:
		return slices.Contains(tags, tag)
	}
	return false
}

func (c *Cell) metadata() map[string]any {
	meta, ok := c.raw["metadata"].(map[string]any)
	if !ok {
		meta = make(map[string]any)
		c.raw["metadata"] = meta
	}
	return meta
}

// SetMetadata sets one entry of the cell's metadata.
func (c *Cell) SetMetadata(name string, value any) { c.metadata()[name] = value }

// Outputs returns the outputs of a code cell.
func (c *Cell) Outputs() []Output {
	var out []Output
	switch list := c.raw["outputs"].(type) {
	case []Output:
		return list
	case []any:
		for _, o := range list {
			if m, ok := o.(Output); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

// SetOutputs replaces the outputs and the execution count; a count of 0 means
// that the cell has not run.
func (c *Cell) SetOutputs(outputs []Output, count int) {
	if outputs == nil {
		outputs = []Output{}
	}
	c.raw["outputs"] = outputs
	c.raw["execution_count"] = nil
	if count > 0 {
		c.raw["execution_count"] = count
	}
}

// ExecutionCount returns the number of the cell, "" if it has not run.
func (c *Cell) ExecutionCount() string {
	if n := c.raw["execution_count"]; n != nil {
		return fmt.Sprint(n)
	}
	return ""
}

// splitText stores long texts of an output as lists of lines, as Jupyter
// does.
func splitText(o Output) {
	if text, ok := o["text"].(string); ok {
		o["text"] = lines(text)
	}
	data, ok := o["data"].(map[string]any)
	if !ok {
		return
	}
	split := make(map[string]any, len(data))
	for mime, v := range data {
		if text, ok := v.(string); ok && !strings.HasPrefix(mime, "image/") || ok && mime == "image/svg+xml" {
			v = lines(text)
		}
		split[mime] = v
	}
	o["data"] = split
}

func lines(s string) []string {
	if s == "" {
		return []string{}
	}
	parts := strings.SplitAfter(s, "\n")
	if parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// Text returns a text field of the format: a string, or a list of lines.
func Text(v any) string {
	s, _ := joined(v)
	return s
}

func joined(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []string:
		return strings.Join(v, ""), nil
	case []any:
		var b strings.Builder
		for _, line := range v {
			s, ok := line.(string)
			if !ok {
				return "", errors.New("a line is not a string")
			}
			b.WriteString(s)
		}
		return b.String(), nil
	}
	return "", fmt.Errorf("neither a string nor a list of lines")
}
