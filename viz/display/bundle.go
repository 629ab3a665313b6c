package display

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
)

// MIME types of the forms that front ends know.
const (
	MIMEText       = "text/plain"
	MIMEHTML       = "text/html"
	MIMEMarkdown   = "text/markdown"
	MIMELaTeX      = "text/latex"
	MIMEJavaScript = "application/javascript"
	MIMEJSON       = "application/json"
	MIMEPDF        = "application/pdf"
	MIMESVG        = "image/svg+xml"
	MIMEPNG        = "image/png"
	MIMEJPEG       = "image/jpeg"
)

// A Bundle is one thing to show in one or more forms.
//
// Data maps a MIME type to the form: a string (text as it is, binary data in
// base64) or, for JSON types, any value that encoding/json can encode.
// Metadata maps a MIME type to what the front end should know about that form,
// such as a width; it may be nil.
type Bundle struct {
	Data     map[string]any
	Metadata map[string]any
}

// A Displayer is a value that knows how it wants to be shown.
type Displayer interface {
	Bundle() Bundle
}

// With returns a copy of b that also carries data under the MIME type.
func (b Bundle) With(mime string, data any) Bundle {
	out := Bundle{Data: make(map[string]any, len(b.Data)+1), Metadata: b.Metadata}
	for k, v := range b.Data {
		out.Data[k] = v
	}
	out.Data[mime] = data
	return out
}

// Bundle makes a Bundle its own Displayer.
func (b Bundle) Bundle() Bundle { return b }

// Plain returns the text/plain form, or a note naming the forms there are.
func (b Bundle) Plain() string {
	if s, ok := b.Data[MIMEText].(string); ok {
		return s
	}
	for _, mime := range []string{MIMEMarkdown, MIMELaTeX} {
		if s, ok := b.Data[mime].(string); ok {
			return s
		}
	}
	for _, mime := range []string{MIMEHTML, MIMESVG, MIMEPNG, MIMEJPEG, MIMEJSON, MIMEPDF, MIMEJavaScript} {
		if _, ok := b.Data[mime]; ok {
			return "<" + mime + ">"
		}
	}
	return ""
}

// Any returns a bundle of one form. A []byte is encoded in base64.
func Any(mime string, data any) Bundle {
	if raw, ok := data.([]byte); ok {
		data = base64.StdEncoding.EncodeToString(raw)
	}
	return Bundle{Data: map[string]any{mime: data}}
}

// Text returns s as plain text.
func Text(s string) Bundle { return Any(MIMEText, s) }

// HTML returns s as HTML.
func HTML(s string) Bundle { return Any(MIMEHTML, s) }

// Markdown returns s as Markdown.
func Markdown(s string) Bundle { return Any(MIMEMarkdown, s) }

// LaTeX returns s as LaTeX, delimiters included.
func LaTeX(s string) Bundle { return Any(MIMELaTeX, s) }

// Math returns the formula s as LaTeX, set on a line of its own.
func Math(s string) Bundle { return LaTeX("$$" + s + "$$") }

// JavaScript returns s as a script that the front end runs.
func JavaScript(s string) Bundle { return Any(MIMEJavaScript, s) }

// SVG returns s, an <svg> element, as an image.
func SVG(s string) Bundle { return Any(MIMESVG, s) }

// PNG returns data, an encoded PNG file, as an image.
func PNG(data []byte) Bundle { return Any(MIMEPNG, data) }

// JPEG returns data, an encoded JPEG file, as an image.
func JPEG(data []byte) Bundle { return Any(MIMEJPEG, data) }

// PDF returns data, an encoded PDF file.
func PDF(data []byte) Bundle { return Any(MIMEPDF, data) }

// JSON returns v as a tree that front ends can fold; its plain form is the
// indented encoding. It panics when v cannot be encoded.
func JSON(v any) Bundle {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(fmt.Errorf("display.JSON: %T cannot be encoded: %w", v, err))
	}
	return Bundle{Data: map[string]any{MIMEJSON: json.RawMessage(text), MIMEText: string(text)}}
}

// Image returns img as a PNG. It panics when img cannot be encoded, which
// happens only for images with a side of zero.
func Image(img image.Image) Bundle {
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		panic(fmt.Errorf("display.Image: %v: %w", img.Bounds(), err))
	}
	size := img.Bounds().Size()
	b := PNG(buf.Bytes()).With(MIMEText, fmt.Sprintf("<image %d x %d>", size.X, size.Y))
	b.Metadata = map[string]any{MIMEPNG: map[string]any{"width": size.X, "height": size.Y}}
	return b
}

// Rich returns the bundle of a value that has a rich form: a [Displayer], an
// image.Image, one that a function given to [Draw] draws, or a value with one of the methods HTML, Markdown, SVG, LaTeX
// (all of them func() string). It reports false for every other value.
func Rich(v any) (Bundle, bool) {
	switch v := v.(type) {
	case nil:
		return Bundle{}, false
	case Displayer:
		return v.Bundle(), true
	case image.Image:
		return Image(v), true
	}
	if b, ok := drawn(v); ok {
		return b, true
	}
	var b Bundle
	if r, ok := v.(interface{ HTML() string }); ok {
		b = b.With(MIMEHTML, r.HTML())
	}
	if r, ok := v.(interface{ Markdown() string }); ok {
		b = b.With(MIMEMarkdown, r.Markdown())
	}
	if r, ok := v.(interface{ SVG() string }); ok {
		b = b.With(MIMESVG, r.SVG())
	}
	if r, ok := v.(interface{ LaTeX() string }); ok {
		b = b.With(MIMELaTeX, r.LaTeX())
	}
	if len(b.Data) == 0 {
		return Bundle{}, false
	}
	return b.With(MIMEText, fmt.Sprint(v)), true
}

// Of returns the rich form of v, or its fmt.Sprint as plain text.
func Of(v any) Bundle {
	if b, ok := Rich(v); ok {
		return b
	}
	return Text(fmt.Sprint(v))
}
