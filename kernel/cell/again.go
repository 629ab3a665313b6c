package cell

import (
	"go/ast"
	"go/types"
	"maps"
)

// Uses is what the names that a cell uses and declares meant when it was compiled.
type Uses struct {
	names   map[string]types.Object // what the cell names, and what it declares
	lowered map[types.Object]string
	imports map[string]string
}

// uses notes the meaning of a cell's names once it is part of the session.
func (l *lowerer) uses() Uses {
	u := Uses{map[string]types.Object{}, map[types.Object]string{}, map[string]string{}}
	ast.Inspect(l.c.file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch o := l.c.info.Uses[id].(type) {
		case nil:
		case *types.PkgName:
			u.imports[id.Name] = o.Imported().Path()
		default:
			if o.Pkg() != nil && l.s.own[o.Pkg()] && l.im.names.at(o) != "" {
				u.lowered[o] = l.im.names.at(o)
				if o.Parent() == o.Pkg().Scope() && l.c.olds[id.Name] == nil {
					u.names[id.Name] = o
				}
			}
		}
		return true
	})
	maps.Copy(u.imports, l.c.imports)
	maps.Copy(u.names, l.scope)
	for _, o := range l.scope {
		u.lowered[o] = l.im.names.at(o)
	}
	return u
}

// Same says whether all names still mean what they meant.
func (s *Session) Same(u Uses) bool {
	for name, o := range u.names {
		if s.scope[name] != o {
			return false
		}
	}
	for o, lowered := range u.lowered {
		if s.image.names.at(o) != lowered {
			return false
		}
	}
	for name, path := range u.imports {
		if s.imports[name] != path || s.scope[name] != nil {
			return false
		}
	}
	return true
}

// Again notes that a compiled cell runs once more, as cell n: its sites now lead there.
func (s *Session) Again(c *Checked, n int) {
	for i := range s.image.sites {
		if s.image.sites[i].Cell == c.n && i > 0 {
			s.image.sites[i].Cell = n
		}
	}
	s.image.sources[n] = c.src
	for _, b := range c.bases {
		s.image.files[b] = n
	}
	c.n = n
}
