package interp

import (
	"fmt"
	"strings"

	"gradbook/kernel/cell"
)

// trace is the chain of sites that a goroutine is being unwound through, innermost first.
type trace struct {
	sites   []int
	dropped int
}

// kept is how many sites of a chain are kept at its inner end; as many again at the outer.
const kept = 24

// Note is called as a lowered function is left. A function that leaves normally has set its site to 0; otherwise it is being
// unwound, and its site joins the trace.
func (s *support) Note(site *int) { s.note(site, 0) }

// NoteDeep is Note for a function whose calls add to the depth.
func (s *support) NoteDeep(site *int, weight int) { s.note(site, weight) }

func (s *support) note(site *int, weight int) bool {
	if *site == 0 {
		return false
	}
	*s.depthVar -= weight
	st := s.strands.current()
	if st == nil {
		return true
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.trace.add(*site)
	return true
}

func (t *trace) add(site int) {
	if len(t.sites) < 2*kept {
		t.sites = append(t.sites, site)
		return
	}
	copy(t.sites[kept:], t.sites[kept+1:]) // the outer half is a window on the last
	t.sites[2*kept-1] = site
	t.dropped++
}

// takeTrace returns the calling goroutine's trace and forgets it.
func (s *support) takeTrace() *trace {
	st := s.strands.current()
	if st == nil {
		return &trace{}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	t := st.trace
	st.trace = trace{}
	return &t
}

// lines writes a trace as a front end prints it.
func (s *support) lines(t *trace) (lines []string) {
	last := ""
	repeated := 0
	flush := func() {
		if repeated > 0 {
			lines = append(lines, fmt.Sprintf("    ... %d more like this", repeated))
		}
		repeated = 0
	}
	for i, id := range t.sites {
		if i == kept && t.dropped > 0 {
			flush()
			lines = append(lines, fmt.Sprintf("    ... %d calls left out", t.dropped))
		}
		at, ok := s.session.Site(id)
		if !ok || at.Cell == cell.LibraryCell {
			continue
		}
		text := s.frame(at)
		if text == last {
			repeated++
			continue
		}
		flush()
		last = text
		lines = append(lines, strings.Split(text, "\n")...)
	}
	flush()
	return lines
}

// frame writes one site: where it is, and its source line.
func (s *support) frame(at cell.Site) string {
	where := fmt.Sprintf("cell [%d], line %d", at.Cell, at.Line)
	if at.Func != "" {
		where += ", in " + at.Func
	}
	src := strings.Split(s.session.Source(at.Cell), "\n")
	if at.Line < 1 || at.Line > len(src) {
		return where
	}
	return where + "\n    " + strings.TrimSpace(src[at.Line-1])
}

// TooDeep ends a cell whose calls are nested too deep: the Go stack's own limit would end the process.
func (s *support) TooDeep() {
	s.abort(&Error{Name: "StackOverflow", Message: "stack overflow: calls are nested too deep"})
}

// panicError describes the panic that ends the calling goroutine.
func (s *support) panicError(p any) *Error {
	val := s.recovered(p)
	e := &Error{Name: "Panic", Message: s.panicText(val), Value: val}
	if i, ok := val.(interface{ Interrupted() bool }); ok && i.Interrupted() {
		e.Name = "Interrupted"
	}
	head := "panic: " + e.Message
	if e.Name == "Interrupted" {
		head = e.Message
	}
	e.Traceback = append([]string{head}, s.lines(s.takeTrace())...)
	return e
}

// panicText words a panic's value as Go prints it.
func (s *support) panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	p = unwrap(p)
	switch p := p.(type) {
	case error:
		return p.Error()
	case fmt.Stringer:
		return p.String()
	case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr, float32, float64, complex64, complex128:
		return fmt.Sprintf("%T(%v)", p, p)
	}
	if s.can(p, errorType) {
		v, _ := s.to(p, errorType)
		return v.Interface().(error).Error()
	}
	return fmt.Sprintf("%v", s.Shown(p))
}
