package runner

import (
	"bytes"
	"strings"
	"testing"

	"gradbook/kernel/notebook"
)

func TestHoldMath(t *testing.T) {
	for text, want := range map[string]string{
		"a $x_1*y$, $x$.":          "a [x_1*y], [x].",
		"$$\na<b\n$$":              "{\na&lt;b\n}",
		"$5 and $6":                "$5 and $6",
		"it costs $5, not $ 7 $":   "it costs $5, not $ 7 $",
		"`$x$` and\n```\n$y$\n```": "`$x$` and\n```\n$y$\n```",
		"$\\alpha$":                "[\\alpha]",
	} {
		held, restore := holdMath(text)
		got := strings.NewReplacer(`<span class="math" data-display="false">`, "[", `<span class="math" data-display="true">`, "{", "</span>", "]").Replace(restore(held))
		if strings.Contains(want, "{") {
			got = strings.ReplaceAll(got, "]", "}")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLatexOutput(t *testing.T) {
	for text, want := range map[string]string{
		"$$x<y$$": `<span class="math" data-display="true">x&lt;y</span>`,
		" $x$\n":  `<span class="math" data-display="false">x</span>`,
	} {
		got := output(notebook.Output{"output_type": "display_data", "data": map[string]any{"text/latex": text}}, nil)
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestPageWithMath(t *testing.T) {
	nb, err := notebook.Parse([]byte(`{"nbformat":4,"cells":[{"cell_type":"markdown","source":"so $a_1 * b_1$ *is*"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	page, err := Page(nb, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<span class="math" data-display="false">a_1 * b_1</span> <em>is</em>`, "katex.render", katexScript[:100]} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
