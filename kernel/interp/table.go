package interp

import (
	"fmt"
	"go/types"
	"html"
	"reflect"
	"strings"
)

// maxRows is how many rows of a table are shown.
const maxRows = 100

// table shows a slice of structs, or a map, as an HTML table; "" for other values.
func (s *support) table(t types.Type, v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Slice && v.Len() > 0:
		elem := elemOf(t)
		fields, ok := s.fields(elem, v.Type().Elem())
		if !ok || elem != nil && (lookup(elem, "String") != nil || lookup(elem, "Error") != nil) {
			return ""
		}
		return s.rows(append([]string{""}, names(fields)...), v.Len(), func(i int) []string {
			return s.structCells([]string{fmt.Sprint(i)}, fields, v.Index(i))
		})
	case v.Kind() == reflect.Map && v.Len() > 0:
		var kt, et types.Type
		if m, ok := underlying(t).(*types.Map); ok {
			kt, et = m.Key(), m.Elem()
		}
		keys := sortedMapKeys(v)
		fields, isStruct := s.fields(et, v.Type().Elem())
		head := []string{"key", "value"}
		if isStruct {
			head = append([]string{"key"}, names(fields)...)
		}
		return s.rows(head, len(keys), func(i int) []string {
			row := []string{s.plain(kt, keys[i])}
			e := v.MapIndex(keys[i])
			if !isStruct {
				return append(row, s.plain(et, e))
			}
			return s.structCells(row, fields, e)
		})
	}
	return ""
}

// structCells appends the fields of a struct, or of the one that e points to, to a row.
func (s *support) structCells(row []string, fields []column, e reflect.Value) []string {
	for e.Kind() == reflect.Pointer {
		if e.IsNil() {
			return append(row, "<nil>")
		}
		e = e.Elem()
	}
	for j, f := range fields {
		row = append(row, s.plain(f.typ, e.Field(j)))
	}
	return row
}

func underlying(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

type column struct {
	name string
	typ  types.Type
}

func names(list []column) (out []string) {
	for _, c := range list {
		out = append(out, c.name)
	}
	return out
}

// fields lists the columns of a struct, or of one that is pointed to.
func (s *support) fields(t types.Type, rt reflect.Type) (list []column, ok bool) {
	if rt.Kind() == reflect.Pointer {
		rt = rt.Elem()
		t = elemOf(t)
	}
	if rt.Kind() != reflect.Struct || rt.NumField() == 0 {
		return nil, false
	}
	if t == nil {
		s.types.mu.RLock()
		if k, has := s.types.dynamic[rt]; has && !k.box {
			t = k.typ
		}
		s.types.mu.RUnlock()
	}
	st, _ := underlying(t).(*types.Struct)
	if st == nil {
		if rt.Name() != "" && !allExported(rt) {
			return nil, false
		}
		for i := range rt.NumField() {
			list = append(list, column{rt.Field(i).Name, nil})
		}
		return list, true
	}
	for i := range st.NumFields() {
		if rt.Name() != "" && !rt.Field(i).IsExported() {
			return nil, false
		}
		list = append(list, column{st.Field(i).Name(), st.Field(i).Type()})
	}
	return list, len(list) > 0
}

func allExported(t reflect.Type) bool {
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return false
		}
	}
	return true
}

func (s *support) rows(head []string, n int, row func(i int) []string) string {
	var b strings.Builder
	b.WriteString("<table>\n<thead><tr>")
	for _, h := range head {
		b.WriteString("<th>" + html.EscapeString(h) + "</th>")
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for i := range min(n, maxRows) {
		b.WriteString("<tr>")
		for _, c := range row(i) {
			b.WriteString("<td>" + html.EscapeString(c) + "</td>")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table>")
	if n > maxRows {
		fmt.Fprintf(&b, "\n<p>%d of %d rows</p>", maxRows, n)
	}
	return b.String()
}
