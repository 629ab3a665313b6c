package cell

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
)

// LibraryCell is the cell number of sites in library source.
const LibraryCell = -1

// Site is a place in a cell that the lowered program can name by number.
type Site struct {
	Cell, Line, Col int
	Func            string // the function as its author knows it; "" for the cell's own statements
}

// Program is a lowered cell.
type Program struct {
	Imports  []string // import specs that the interpreter must have seen before the code
	Code     string   // declarations
	Entry    string   // the function that runs the cell
	Warnings []string

	commit  func() Uses
	abandon func()
}

// Abandon takes back what lowering the cell has changed, if the interpreter refused it.
func (p *Program) Abandon() { p.abandon() }

// Commit makes what the cell declares part of the session. It is called once the interpreter has accepted the code.
// It returns what the cell's names mean now.
func (p *Program) Commit() Uses { return p.commit() }

// Site returns the place that a number stands for.
func (s *Session) Site(id int) (Site, bool) {
	if id <= 0 || id >= len(s.image.sites) {
		return Site{}, false
	}
	return s.image.sites[id], true
}

// Type returns the type that a number stands for in calls of the run-time support.
func (s *Session) Type(id int) types.Type { return s.image.types[id] }

// Source returns the text of a cell, for tracebacks.
func (s *Session) Source(n int) string { return s.image.sources[n] }

// Variable is a variable of the session.
type Variable struct {
	Name    string
	Lowered string // its name in the interpreter
	Type    types.Type
	Cell    int
}

// Vars returns the variables that names mean now, in the order of their declarations.
func (s *Session) Vars() []Variable {
	var list []Variable
	pos := map[string]token.Pos{}
	for name, o := range s.scope {
		if v, ok := o.(*types.Var); ok && s.image.names.at(v) != "" {
			list = append(list, Variable{name, s.image.names.at(v), v.Type(), s.born[v]})
			pos[name] = v.Pos()
		}
	}
	slices.SortFunc(list, func(a, b Variable) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(pos[a.Name], pos[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// TypeName spells a type as cells do.
func TypeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == "main" {
			return ""
		}
		return p.Name()
	})
}
