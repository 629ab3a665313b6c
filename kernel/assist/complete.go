package assist

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Completion is what can replace src[Start:End].
type Completion struct {
	Start, End int
	Items      []Item
}

// Item is one candidate. Kind is one of the words that Jupyter front ends have pictures for.
type Item struct {
	Text   string
	Kind   string // "function", "instance", "class", "module", "property", "keyword", "path", "magic"
	Detail string // signature or type
	rank   int
}

// Complete lists what can stand at the cursor, best first.
func Complete(sc Scope, src string, cursor int) Completion {
	p := locate(src, cursor)
	c := Completion{Start: p.start, End: p.end}
	switch p.place {
	case inComment:
		return c
	case inString:
		c.Items = files(p.prefix)
	case inImport:
		for _, path := range sc.Paths {
			c.Items = append(c.Items, Item{Text: path, Kind: "module"})
		}
	default:
		// The identifier behind the cursor is replaced too, as editors expect.
		if ch := check(sc, src, p.start, p.end, ""); ch != nil {
			c.Items = ch.candidates(sc, p)
		}
	}
	c.Items = match(c.Items, p.prefix)
	return c
}

// match keeps the items that begin with prefix, letter case apart, those of the same case and of lower rank first.
func match(items []Item, prefix string) []Item {
	low := strings.ToLower(prefix)
	items = slices.DeleteFunc(items, func(it Item) bool { return !strings.HasPrefix(strings.ToLower(it.Text), low) })
	key := func(it Item) int {
		if strings.HasPrefix(it.Text, prefix) {
			return it.rank
		}
		return it.rank + 100
	}
	sort.SliceStable(items, func(i, j int) bool {
		if a, b := key(items[i]), key(items[j]); a != b {
			return a < b
		}
		return items[i].Text < items[j].Text
	})
	return slices.CompactFunc(items, func(a, b Item) bool { return a.Text == b.Text })
}

// candidates reads them off the marker's place.
func (c *checked) candidates(sc Scope, p position) []Item {
	if len(c.path) > 1 {
		switch parent := c.path[1].(type) {
		case *ast.SelectorExpr:
			if parent.Sel == c.path[0] {
				return c.members(parent.X)
			}
		case *ast.CompositeLit:
			if items := c.fieldKeys(parent); items != nil {
				return append(items, c.inScope(sc)...)
			}
		case *ast.KeyValueExpr:
			if lit, ok := c.path[2].(*ast.CompositeLit); ok && parent.Key == c.path[0] {
				if items := c.fieldKeys(lit); items != nil {
					return items
				}
			}
		}
	}
	if p.selector {
		return nil
	}
	return c.inScope(sc)
}

// members lists what can follow x and a dot.
func (c *checked) members(x ast.Expr) []Item {
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if pn, ok := c.Info.Uses[id].(*types.PkgName); ok {
			var items []Item
			s := pn.Imported().Scope()
			for _, n := range s.Names() {
				if token.IsExported(n) {
					items = append(items, c.item(n, s.Lookup(n)))
				}
			}
			return items
		}
	}
	tv := c.Info.Types[x]
	if tv.Type == nil {
		return nil
	}
	return c.membersOf(tv.Type)
}

func (c *checked) membersOf(t types.Type) []Item {
	var items []Item
	seen := map[string]bool{}
	add := func(o types.Object) {
		if seen[o.Name()] || !o.Exported() && (o.Pkg() == nil || o.Pkg().Path() != c.Pkg.Path()) {
			return
		}
		seen[o.Name()] = true
		items = append(items, c.item(o.Name(), o))
	}
	for _, f := range fields(t) {
		add(f)
	}
	recv := t
	if _, ptr := t.Underlying().(*types.Pointer); !ptr && !types.IsInterface(t) {
		recv = types.NewPointer(t)
	}
	ms := types.NewMethodSet(recv)
	for i := range ms.Len() {
		add(ms.At(i).Obj())
	}
	return items
}

// fields lists a struct's fields, then those of its embedded structs, level by level.
func fields(t types.Type) []*types.Var {
	var all []*types.Var
	seen := map[types.Type]bool{}
	for level := []types.Type{t}; len(level) > 0; {
		var next []types.Type
		for _, t := range level {
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t = p.Elem()
			}
			s, ok := t.Underlying().(*types.Struct)
			if !ok || seen[t] {
				continue
			}
			seen[t] = true
			for i := range s.NumFields() {
				all = append(all, s.Field(i))
				if s.Field(i).Embedded() {
					next = append(next, s.Field(i).Type())
				}
			}
		}
		level = next
	}
	return all
}

// fieldKeys lists the fields of a struct literal that it does not set yet; nil if its elements are not keys.
func (c *checked) fieldKeys(lit *ast.CompositeLit) []Item {
	t := c.Info.TypeOf(lit)
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	set := map[string]bool{}
	for _, e := range lit.Elts {
		switch e := e.(type) {
		case *ast.KeyValueExpr:
			if id, ok := e.Key.(*ast.Ident); ok {
				set[id.Name] = true
			}
		case *ast.Ident:
			if e != c.path[0] {
				return nil
			}
		default:
			return nil
		}
	}
	var items []Item
	for i := range s.NumFields() {
		f := s.Field(i)
		if !set[f.Name()] && (f.Exported() || f.Pkg().Path() == c.Pkg.Path()) {
			it := c.item(f.Name(), f)
			it.Text += ": "
			items = append(items, it)
		}
	}
	return items
}

// inScope lists every name that the marker's place can see, nearest first.
func (c *checked) inScope(sc Scope) []Item {
	var items []Item
	seen := map[string]bool{marker: true, "_": true}
	add := func(n string, o types.Object, rank int) {
		// The checker's own names have a dot that no identifier of a cell has.
		if !seen[n] && !strings.Contains(n, "·") {
			seen[n] = true
			it := c.item(n, o)
			it.rank = rank
			items = append(items, it)
		}
	}
	at := c.path[0].Pos()
	for _, s := range c.scopes() {
		for _, n := range s.Names() {
			o := s.Lookup(n)
			if s != c.Pkg.Scope() && o.Pos() > at {
				continue // declared further down
			}
			add(n, o, 0)
		}
	}
	for n, o := range sc.Names() {
		add(n, o, 0)
	}
	for n, path := range sc.Imports() {
		if p, err := sc.Import(path); err == nil {
			add(n, types.NewPkgName(token.NoPos, c.Pkg, n, p), 1)
		}
	}
	for _, n := range types.Universe.Names() {
		add(n, types.Universe.Lookup(n), 2)
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		items = append(items, Item{Text: t.String(), Kind: "keyword", rank: 3})
	}
	return items
}

func (c *checked) item(name string, o types.Object) Item {
	return Item{Text: name, Kind: kind(o), Detail: detail(o)}
}

func kind(o types.Object) string {
	switch o := o.(type) {
	case *types.Func, *types.Builtin:
		return "function"
	case *types.TypeName:
		return "class"
	case *types.PkgName:
		return "module"
	case *types.Var:
		if o.IsField() {
			return "property"
		}
	}
	return "instance"
}

// detail is a candidate's signature or type.
func detail(o types.Object) string {
	switch o := o.(type) {
	case *types.PkgName:
		return o.Imported().Path()
	case *types.TypeName:
		return strings.TrimPrefix(types.ObjectString(o, byName), "type "+o.Name()+" ")
	case *types.Builtin, *types.Nil:
		return ""
	}
	return types.TypeString(o.Type(), byName)
}

// byName spells a package as cells do, and leaves out the session's own.
func byName(p *types.Package) string {
	if p.Path() == "main" {
		return ""
	}
	return p.Name()
}

// files lists the files that a string can name, folders with a slash.
func files(prefix string) []Item {
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(filepath.Join(".", filepath.FromSlash(dir)))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	var items []Item
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".") {
			continue
		}
		name := dir + e.Name()
		if e.IsDir() {
			name += "/"
		}
		items = append(items, Item{Text: name, Kind: "path"})
	}
	return items
}
