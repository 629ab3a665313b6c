package runner

import (
	"html"
	"regexp"
	"testing"
)

func TestHighlight(t *testing.T) {
	for src, want := range map[string]string{
		"for i := range 3 { // <go>\n}": `<pre><span class="k">for</span> i := <span class="k">range</span> <span class="n">3</span> { <span class="c">// &lt;go&gt;</span>` + "\n}</pre>",
		"%who\nx := 'a'":                "<pre>%who\nx := <span class=\"s\">&#39;a&#39;</span></pre>",
		"s := `a\r\nb":                  "<pre>s := `a\r\nb</pre>",
		"":                              "<pre></pre>",
	} {
		if got := highlight(src); got != want {
			t.Errorf("%q: %s, want %s", src, got, want)
		}
	}
}

var tag = regexp.MustCompile(`</?(pre|span)[^>]*>`)

// FuzzHighlight checks that no text is lost, whatever it is.
func FuzzHighlight(f *testing.F) {
	for _, src := range []string{"x := `\r\n`", "\"", "/*", "żółć", "%%bash\n$(x)", "\x00\xff"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if got := html.UnescapeString(tag.ReplaceAllString(highlight(src), "")); got != html.UnescapeString(html.EscapeString(src)) {
			t.Errorf("%q became %q", src, got)
		}
	})
}
