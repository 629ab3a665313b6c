package runner

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gradbook/kernel/notebook"
)

// Tags of papermill: the cell that holds the defaults, and the one that is
// put after it.
const (
	tagParameters = "parameters"
	tagInjected   = "injected-parameters"
)

// A Parameter is a value that replaces a default of the notebook. Text is
// read as papermill reads it: an integer, a number, true, false or null,
// else, and always with Raw, a string.
type Parameter struct {
	Name, Text string
	Raw        bool
}

var goName = regexp.MustCompile(`^[\pL_][\pL\pN_]*$`)

// Parameterize puts a cell that assigns the parameters after the cell that is
// tagged "parameters", or first where there is none; a cell that an earlier
// run put there is replaced. It returns the names that the tagged cell does
// not declare: they may be misspelt.
func Parameterize(nb *notebook.Notebook, params []Parameter) (undeclared []string, err error) {
	if len(params) == 0 {
		return nil, nil
	}
	nb.Cells = slices.DeleteFunc(nb.Cells, func(c *notebook.Cell) bool { return c.HasTag(tagInjected) })
	at, defaults := 0, ""
	for i, c := range nb.Cells {
		if c.Type() == "code" && c.HasTag(tagParameters) {
			at, defaults = i+1, c.Source()
			break
		}
	}
	var src strings.Builder
	src.WriteString("// Parameters\n")
	for _, p := range params {
		if !goName.MatchString(p.Name) {
			return nil, fmt.Errorf("parameter %q: not a name in Go", p.Name)
		}
		kind, declared := declaration(defaults, p.Name)
		if !declared {
			undeclared = append(undeclared, p.Name)
		}
		fmt.Fprintf(&src, "%s := %s\n", p.Name, p.literal(kind))
	}
	cell := notebook.NewCode("injected-parameters", strings.TrimSuffix(src.String(), "\n"), tagInjected)
	nb.Cells = slices.Insert(nb.Cells, at, cell)
	return undeclared, nil
}

// literal writes the value in Go. A whole number for a floating-point default
// stays one, and a number for a string default is text.
func (p Parameter) literal(kind string) string {
	if p.Raw || kind == "string" {
		return strconv.Quote(p.Text)
	}
	switch p.Text {
	case "true", "false":
		return p.Text
	case "null", "None":
		return "any(nil)"
	case "nan", "NaN":
		return "math.NaN()"
	case "inf", "Inf":
		return "math.Inf(1)"
	case "-inf", "-Inf":
		return "math.Inf(-1)"
	}
	if n, err := strconv.ParseInt(p.Text, 10, 64); err == nil {
		if kind == "float64" {
			return strconv.FormatInt(n, 10) + ".0"
		}
		return strconv.FormatInt(n, 10)
	}
	if x, err := strconv.ParseFloat(p.Text, 64); err == nil && !math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.Quote(p.Text)
}

// declaration looks for the declaration of a name in the cell of defaults and
// returns the kind of its value where that shows: "string" or "float64".
func declaration(src, name string) (kind string, ok bool) {
	re := regexp.MustCompile(`(?m)^\s*(?:var\s+)?` + regexp.QuoteMeta(name) + `(?:\s+(\w+))?\s*(?::?=\s*([^\n]*))?$`)
	m := re.FindStringSubmatch(src)
	if m == nil {
		return "", false
	}
	value := strings.TrimSpace(m[2])
	switch {
	case m[1] != "":
		return m[1], true
	case strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "`"):
		return "string", true
	case floatLiteral.MatchString(value):
		return "float64", true
	}
	return "", true
}

var floatLiteral = regexp.MustCompile(`^[-+]?\d[\d_]*(\.\d*(e[-+]?\d+)?|e[-+]?\d+)\b`)
