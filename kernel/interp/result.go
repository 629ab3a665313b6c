package interp

import (
	"fmt"
	"go/types"
	"html"
	"reflect"
	"strings"

	"gradbook/viz/display"
)

// Result takes a value of the cell's last expression, with its static type.
func (s *support) Result(id int, x any) {
	if r := s.strands.currentRun(); r != nil {
		r.mu.Lock()
		r.results = append(r.results, result{s.session.Type(id), x})
		r.mu.Unlock()
	}
}

// bundle shows the results of a cell, nil if it has none.
func (s *support) bundle(list []result) *display.Bundle {
	if len(list) == 0 {
		return nil
	}
	if len(list) == 1 {
		b := s.one(list[0])
		return &b
	}
	var texts, pages []string
	for _, r := range list {
		b := s.one(r)
		texts = append(texts, b.Plain())
		if h, ok := b.Data[display.MIMEHTML].(string); ok {
			pages = append(pages, h)
		} else {
			pages = append(pages, "<pre>"+html.EscapeString(b.Plain())+"</pre>")
		}
	}
	b := display.Text(strings.Join(texts, " "))
	for _, p := range pages {
		if !strings.HasPrefix(p, "<pre>") {
			b = b.With(display.MIMEHTML, strings.Join(pages, "\n"))
			break
		}
	}
	return &b
}

// one shows a value: by what its type implements, as a table, or as text.
func (s *support) one(r result) display.Bundle {
	if r.val == nil {
		return display.Text("<nil>")
	}
	x := unwrap(r.val)
	t, v := s.types.of(reflect.ValueOf(x))
	if t != nil {
		if b, ok := s.rich(t, v); ok {
			return b
		}
	} else if b, ok := compiledRich(x); ok {
		return b
	}
	b := display.Text(s.plain(t, v))
	if h := s.table(t, v); h != "" {
		b = b.With(display.MIMEHTML, h)
	}
	return b
}

func compiledRich(x any) (b display.Bundle, ok bool) {
	if v := reflect.ValueOf(x); v.Kind() == reflect.Pointer && v.IsNil() {
		return b, false
	}
	return display.Rich(x)
}

// plain is fmt's %v of a value of a session type.
func (s *support) plain(t types.Type, v reflect.Value) string {
	return fmt.Sprintf("%v", shown{s, t, v})
}

// richMethods are the small interfaces by which a type of a cell is shown.
var richMethods = []struct {
	name, mime string
	binary     bool
}{
	{"HTML", display.MIMEHTML, false},
	{"Markdown", display.MIMEMarkdown, false},
	{"SVG", display.MIMESVG, false},
	{"LaTeX", display.MIMELaTeX, false},
	{"PNG", display.MIMEPNG, true},
	{"JPEG", display.MIMEJPEG, true},
	{"JSON", display.MIMEJSON, false},
}

// rich asks a value of a session type for the forms that its methods give.
func (s *support) rich(t types.Type, v reflect.Value) (b display.Bundle, ok bool) {
	if t == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return b, false
	}
	if m, has := s.bindIf(t, v, "Bundle"); has {
		if f, is := m.Interface().(func() display.Bundle); is {
			return f(), true
		}
	}
	for _, r := range richMethods {
		m, has := s.bindIf(t, v, r.name)
		if !has {
			continue
		}
		switch f := m.Interface().(type) {
		case func() string:
			if !r.binary {
				b, ok = b.With(r.mime, f()), true
			}
		case func() []byte:
			if r.binary {
				b, ok = merge(b, display.Bundle{}.With(r.mime, display.PNG(f()).Data[display.MIMEPNG])), true
			}
		case func() any:
			b, ok = merge(b, display.JSON(f())), true
		}
	}
	if !ok {
		return b, false
	}
	return b.With(display.MIMEText, s.plain(t, v)), true
}

func merge(a, b display.Bundle) display.Bundle {
	for mime, data := range b.Data {
		a = a.With(mime, data)
	}
	return a
}
