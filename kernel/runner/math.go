package runner

import (
	_ "embed"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// katexScript is dist/katex.min.js of the npm package katex 0.16.22 (MIT License,
// beside it). It turns TeX into MathML, which browsers draw without fonts or
// styles of ours.
//
//go:embed katex/katex.min.js
var katexScript string

// formula finds TeX in Markdown: between $$ and $$, or between $ and $ where
// the inside does not begin or end with a space and no digit follows, so that
// prices stay prices. Code is matched first, to be left alone.
var formula = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`|\\$\\$(.+?)\\$\\$|\\$([^\\s$](?:[^$\n]*[^\\s$\\\\])?)\\$(\\D|$)")

// mathMark is in every page that needs the script.
const mathMark = `<span class="math"`

// mathSpan returns the element that the page's script draws a formula in.
func mathSpan(tex string, display bool) string {
	return fmt.Sprintf(mathMark+` data-display="%t">%s</span>`, display, html.EscapeString(tex))
}

// latex renders a text/latex output: a formula between dollars.
func latex(text string) string {
	tex := strings.TrimSpace(text)
	inner := strings.TrimSuffix(strings.TrimPrefix(tex, "$"), "$")
	return mathSpan(strings.Trim(inner, "$"), strings.HasPrefix(tex, "$$"))
}

// holdMath replaces the formulas of a Markdown text by words that Markdown
// leaves alone. The function that it returns puts them back into the page.
func holdMath(text string) (held string, restore func(page string) string) {
	var formulas []string
	hold := func(tex string, display bool) string {
		word := fmt.Sprintf("MATH%dHTAM", len(formulas))
		formulas = append(formulas, word, mathSpan(tex, display))
		return word
	}
	held = formula.ReplaceAllStringFunc(text, func(match string) string {
		m := formula.FindStringSubmatch(match)
		switch {
		case m[1] != "":
			return hold(m[1], true)
		case m[2] != "":
			return hold(m[2], false) + m[3]
		}
		return match
	})
	return held, func(page string) string { return strings.NewReplacer(formulas...).Replace(page) }
}
