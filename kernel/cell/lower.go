package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// lowerer rewrites one checked cell. What it adds to the session's image is rolled back if it fails.
type lowerer struct {
	s  *Session
	im *image
	c  *Checked

	imports, typeDecls, vars, funcs []string
	defs                            []string // calls that tell the run-time support of new types and methods
	starts                          []string // calls that set the variables of packages from syntax
	queue                           []func() // types and instances still to be written
	warnings                        []string
	scope                           map[string]types.Object // what the cell adds to the session
	decls                           map[types.Object]decl
	ntmp                            int

	*fn // the function being written
}

// unsupported is the panic value of fail.
type unsupported struct {
	pos token.Pos
	msg string
}

// fail gives up on a cell that Go accepts but that cannot be lowered.
func (l *lowerer) fail(n ast.Node, format string, args ...any) {
	p := token.NoPos
	if n != nil {
		p = n.Pos()
	}
	panic(unsupported{p, fmt.Sprintf(format, args...)})
}

// tmp makes a name that no other variable of the program has.
func (l *lowerer) tmp(p string) string {
	l.ntmp++
	return fmt.Sprintf("k_%s%d", p, l.ntmp)
}

// Lower rewrites a checked cell. The session's image changes only if it succeeds; its names change at Commit. An error is
// an *Errors.
func (s *Session) Lower(c *Checked) (prog *Program, err error) {
	l := &lowerer{s: s, im: s.image, c: c, scope: map[string]types.Object{}, decls: map[types.Object]decl{}}
	s.image.begin()
	back := map[types.Object]decl{} // of methods that the cell redefines
	for _, m := range c.late {
		if d, ok := s.decls[m.method]; ok {
			back[m.method] = d
		}
	}
	s.own[c.pkg] = true
	defer func() {
		if r := recover(); r != nil {
			l.undo(back)
			u, ok := r.(unsupported)
			if !ok {
				panic(r)
			}
			errs := &Errors{Cell: c.n, Src: c.src}
			errs.add(s.fset.Position(u.pos), u.msg)
			prog, err = nil, errs
		}
	}()
	for _, path := range c.paths {
		l.needPackage(path)
	}
	s.image.sources[c.n] = c.src
	for _, b := range c.bases {
		s.image.files[b] = c.n
	}
	l.declare()
	entry := l.entry()
	for len(l.queue) > 0 {
		f := l.queue[0]
		l.queue = l.queue[1:]
		f()
	}
	code := "package main\n" + strings.Join(slices.Concat(l.typeDecls, l.vars, l.funcs), "\n") + "\n" + l.entryText(entry)
	return &Program{Imports: l.imports, Code: code, Entry: entry.name, Warnings: append(c.Warnings, l.warnings...), commit: l.commit, abandon: func() { l.undo(back) }}, nil
}

// undo takes back what a cell has added to the image.
func (l *lowerer) undo(back map[types.Object]decl) {
	l.im.rollback()
	for o := range l.decls {
		delete(l.s.decls, o)
	}
	for _, m := range l.c.late {
		if d, ok := back[m.method]; ok {
			l.s.decls[m.method] = d
		} else {
			l.s.dead[m.method] = true
		}
	}
}

// declare gives lowered names to what the cell declares and writes its functions.
func (l *lowerer) declare() {
	recordDecls(l.decls, l.c.file, l.c.info)
	for _, m := range l.c.late {
		delete(l.decls, l.c.info.Defs[m.stand.Name])
		l.decls[m.method] = decl{m.decl, l.c.info}
	}
	maps.Copy(l.s.decls, l.decls)
	for name, o := range l.c.olds {
		if v := l.c.pkg.Scope().Lookup(name); v != nil {
			l.im.names.set(v, l.im.names.at(o))
		}
	}
	var stale []types.Object
	var fresh []*types.Func
	for _, name := range l.c.pkg.Scope().Names() {
		o := l.c.pkg.Scope().Lookup(name)
		if o.Pkg() != l.c.pkg || name == cellFunc || strings.HasPrefix(name, "method·") || strings.HasPrefix(name, "tmp·") || strings.HasSuffix(name, oldSuffix) {
			continue
		}
		switch o := o.(type) {
		case *types.Var:
			l.declareVar(name, o)
		case *types.Func:
			l.im.names.set(o, l.im.fresh(name))
			if o.Signature().TypeParams().Len() == 0 {
				fresh = append(fresh, o)
				stale = l.supersede(name, o, stale)
			}
			if !strings.Contains(name, "·") {
				l.scope[name] = o
			}
		case *types.TypeName:
			if !o.IsAlias() {
				l.im.names.set(o, l.im.fresh(name))
			}
			l.scope[name] = o
		default:
			l.scope[name] = o
		}
	}
	l.declareVarTypes()
	for _, name := range sortedKeys(l.scope) {
		if tn, ok := l.scope[name].(*types.TypeName); ok && !tn.IsAlias() {
			l.needNamed(tn)
		}
	}
	done := map[types.Object]bool{}
	for _, m := range l.c.late {
		l.im.names.set(m.method, "") // a new version
		l.needMethod(m.method)
		stale = append(stale, m.method)
		done[m.method] = true
	}
	for _, f := range fresh {
		l.writeFunc(l.im.names.at(f), f, l.decls[f], nil)
		done[f] = true
	}
	l.recompile(stale, done)
}

// declareVar gives a variable a slot: the one it had, where the type is the same, so that older functions see the new value.
func (l *lowerer) declareVar(name string, o *types.Var) {
	if old, ok := l.s.scope[name].(*types.Var); ok && l.im.names.at(old) != "" && types.Identical(old.Type(), o.Type()) {
		l.im.names.set(o, l.im.names.at(old))
	} else {
		l.im.names.set(o, l.im.fresh(name))
	}
	l.scope[name] = o
}

// declareVarTypes writes the declarations of variables that are new to the interpreter.
func (l *lowerer) declareVarTypes() {
	for _, name := range l.c.pkg.Scope().Names() {
		v, ok := l.c.pkg.Scope().Lookup(name).(*types.Var)
		if !ok || v.Pkg() != l.c.pkg || l.im.names.at(v) == "" || l.im.emitted.at(l.im.names.at(v)) || strings.HasSuffix(name, oldSuffix) {
			continue
		}
		l.im.emitted.set(l.im.names.at(v), true)
		l.vars = append(l.vars, "var "+l.im.names.at(v)+" "+l.typeStr(v.Type()))
	}
}

// supersede notes that a function replaces an earlier one of the same type: its callers are to follow.
func (l *lowerer) supersede(name string, o *types.Func, stale []types.Object) []types.Object {
	old, ok := l.s.scope[name].(*types.Func)
	if !ok || l.im.names.at(old) == "" {
		return stale
	}
	if !types.Identical(old.Type(), o.Type()) {
		if len(l.callers(old)) > 0 {
			l.warnings = append(l.warnings, fmt.Sprintf("%s has a new type; functions of earlier cells still call the earlier one", name))
		}
		return stale
	}
	l.im.names.set(old, l.im.names.at(o))
	return append(stale, old)
}

func (l *lowerer) callers(o types.Object) (list []types.Object) {
	for g, deps := range l.im.deps.m {
		if deps[o] {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b types.Object) int { return strings.Compare(l.im.names.at(a), l.im.names.at(b)) })
	return list
}

// recompile writes again the functions and methods that name what has a new version, and their callers in turn.
func (l *lowerer) recompile(stale []types.Object, done map[types.Object]bool) {
	for len(stale) > 0 {
		o := stale[0]
		stale = stale[1:]
		for _, g := range l.callers(o) {
			f, ok := g.(*types.Func)
			d, has := l.s.decls[g]
			if !ok || !has || done[g] || l.im.names.at(g) == "" {
				continue
			}
			done[g] = true
			if f.Signature().Recv() != nil {
				l.im.names.set(g, "")
				l.needMethod(f)
			} else {
				if l.s.scope[f.Name()] != g {
					continue // no name leads to it any more
				}
				l.im.names.set(g, l.im.fresh(f.Name()))
				l.writeFunc(l.im.names.at(g), f, d, nil)
			}
			stale = append(stale, g)
		}
	}
}

// commit makes the cell's names the session's.
func (l *lowerer) commit() Uses {
	s := l.s
	for name, path := range l.c.imports {
		s.imports[name] = path
		delete(s.scope, name)
	}
	for _, path := range l.c.dots {
		p, _ := s.lib.Import(path)
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				s.scope[name] = o
			}
		}
	}
	for name, o := range l.scope {
		if old := s.scope[name]; old != nil && old != o {
			delete(s.specs, old)
		}
		s.scope[name] = o
		s.born[o] = l.c.n
	}
	for name, spec := range l.c.types {
		o := s.scope[name]
		if d, ok := s.decls[o]; ok {
			spec.uses = map[string]types.Object{}
			ast.Inspect(d.node, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if u := d.info.Uses[id]; u != nil && (u.Pkg() == nil || u.Parent() == u.Pkg().Scope()) {
						spec.uses[id.Name] = u
					}
				}
				return true
			})
			s.specs[o] = spec
		}
	}
	return l.uses()
}

// recordDecls notes the syntax of each function, method and type of a file.
func recordDecls(m map[types.Object]decl, f *ast.File, info *types.Info) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if o := info.Defs[d.Name]; o != nil && d.Name.Name != cellFunc {
				m[o] = decl{d, info}
			}
		case *ast.GenDecl:
			for _, sp := range d.Specs {
				if ts, ok := sp.(*ast.TypeSpec); ok && info.Defs[ts.Name] != nil {
					m[info.Defs[ts.Name]] = decl{ts, info}
				}
			}
		}
	}
}
