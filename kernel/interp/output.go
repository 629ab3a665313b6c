package interp

import (
	"bytes"
	"io"
	"log"
	"os"
	"sync"
)

type stream int

const (
	stdout stream = iota
	stderr
)

// write passes output to the session's sink.
func (s *support) write(cell int, to stream, p []byte) {
	sink := s.options.Stdout
	if to == stderr {
		sink = s.options.Stderr
	}
	if sink == nil || len(p) == 0 {
		return
	}
	s.outMu.Lock()
	defer s.outMu.Unlock()
	sink(cell, p)
}

// streamWriter writes for the cell that the calling goroutine belongs to.
type streamWriter struct {
	s  *support
	to stream
}

func (w streamWriter) Write(p []byte) (int, error) {
	r := w.s.strands.currentRun()
	last := w.s.last.Load()
	if r == nil {
		r = last
	}
	if r == nil {
		w.s.write(0, w.to, p)
		return len(p), nil
	}
	if file := w.s.files[w.to].Load(); file != nil && r == last {
		return file.w.Write(p) // in order with what the cell writes to the file itself
	}
	w.s.write(r.cell, w.to, p)
	return len(p), nil
}

// pipe is the file that os.Stdout or os.Stderr is for cells. There is one for a session: a cell may keep it. What comes through
// it belongs to the cell that was started last.
type pipe struct {
	w    *os.File
	sync chan chan struct{}
	end  []byte // marks that everything before it has been read
}

// file returns the session's os.Stdout or os.Stderr.
func (s *support) file(to stream) *os.File {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	if p := s.files[to].Load(); p != nil {
		return p.w
	}
	rd, wr, err := os.Pipe()
	if err != nil {
		return [2]*os.File{os.Stdout, os.Stderr}[to]
	}
	p := &pipe{w: wr, sync: make(chan chan struct{}, 1), end: []byte("\x00end of cell\x00")}
	s.files[to].Store(p)
	go p.read(rd, func(b []byte) {
		if r := s.last.Load(); r != nil {
			s.write(r.cell, to, b)
		}
	})
	return wr
}

func (p *pipe) read(rd io.ReadCloser, emit func([]byte)) {
	defer rd.Close()
	buf := make([]byte, 64<<10)
	var held []byte
	for {
		n, err := rd.Read(buf)
		held = append(held, buf[:n]...)
		for {
			i := bytes.Index(held, p.end)
			if i < 0 {
				break
			}
			emit(held[:i])
			held = held[i+len(p.end):]
			close(<-p.sync)
		}
		keep := partialSuffix(held, p.end)
		emit(held[:len(held)-keep])
		held = append([]byte(nil), held[len(held)-keep:]...)
		if err != nil {
			emit(held)
			return
		}
	}
}

// partialSuffix is how many bytes at the end of b may be the start of mark.
func partialSuffix(b, mark []byte) int {
	for n := min(len(mark)-1, len(b)); n > 0; n-- {
		if bytes.Equal(b[len(b)-n:], mark[:n]) {
			return n
		}
	}
	return 0
}

// flush waits until all that was written to the files has been passed on.
func (s *support) flush() {
	for i := range s.files {
		p := s.files[i].Load()
		if p == nil {
			continue
		}
		read := make(chan struct{})
		p.sync <- read
		if _, err := p.w.Write(p.end); err == nil {
			<-read
		} else {
			<-p.sync
		}
	}
}

// closeFiles ends the readers of the session's files.
func (s *support) closeFiles() {
	for i := range s.files {
		if p := s.files[i].Swap(nil); p != nil {
			p.w.Close()
		}
	}
}

// Stdout is the variable os.Stdout.
func (s *support) Stdout() *os.File { return s.file(stdout) }

// Stderr is the variable os.Stderr.
func (s *support) Stderr() *os.File { return s.file(stderr) }

// Stdin is the variable os.Stdin where it is needed as a file.
func (s *support) Stdin() *os.File { return s.stdinFile() }

func (s *support) openStdin() *os.File {
	rd, wr, err := os.Pipe()
	if err != nil {
		return os.Stdin
	}
	go func() {
		defer wr.Close()
		_, _ = io.Copy(wr, s.stdin)
	}()
	return rd
}

// logSink is where package log writes while sessions live: to the cell of the goroutine that logs, or to the process's own
// stderr.
type logSink struct {
	mu       sync.Mutex
	sessions []*support
}

var logs logSink

func (l *logSink) add(s *support) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions = append(l.sessions, s)
	log.SetOutput(l)
}

func (l *logSink) remove(s *support) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, x := range l.sessions {
		if x == s {
			l.sessions = append(l.sessions[:i], l.sessions[i+1:]...)
			return
		}
	}
}

func (l *logSink) Write(p []byte) (int, error) {
	l.mu.Lock()
	sessions := l.sessions
	l.mu.Unlock()
	for _, s := range sessions {
		if s.strands.currentRun() != nil {
			return streamWriter{s, stderr}.Write(p)
		}
	}
	return os.Stderr.Write(p)
}
