package cell

import (
	"go/types"
	"testing"

	"gradbook/kernel/symbols"
)

// testLibrary is the embedded packages; every exported name counts as compiled.
type testLibrary struct{ *symbols.Importer }

func (testLibrary) Has(path, name string) bool                   { return true }
func (testLibrary) Source(path string) (map[string][]byte, bool) { return symbols.Source(path) }
func (testLibrary) Syntax(path string) *Syntax                   { return nil }
func (l testLibrary) Import(path string) (*types.Package, error) { return l.Importer.Import(path) }
func newTestSession(prelude ...string) *Session {
	return NewSession(testLibrary{symbols.NewImporter()}, prelude)
}

// run checks, lowers and commits a cell.
func run(t *testing.T, s *Session, n int, src string) *Program {
	t.Helper()
	c, err := s.Check(n, src)
	if err != nil {
		t.Fatalf("cell %d: %v", n, err)
	}
	p, err := s.Lower(c)
	if err != nil {
		t.Fatalf("cell %d: %v", n, err)
	}
	p.Commit()
	return p
}
