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

// write passes output to the session's sink. If the run has a pipe, because the cell uses os.Stdout itself, all its output goes
// through the pipe, so that it stays in order.
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
	if r == nil {
		w.s.write(w.s.lastCell(), w.to, p)
		return len(p), nil
	}
	r.mu.Lock()
	pipe := r.pipes[w.to]
	r.mu.Unlock()
	if pipe != nil {
		return pipe.w.Write(p)
	}
	w.s.write(r.cell, w.to, p)
	return len(p), nil
}

func (s *support) lastCell() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.runs {
		n = max(n, r.cell)
	}
	return n
}

// pipe is the file that os.Stdout or os.Stderr is for a run.
type pipe struct {
	w    *os.File
	sync chan chan struct{}
	end  []byte // marks that everything before it has been read
}

// file returns the run's os.Stdout or os.Stderr.
func (s *support) file(to stream) *os.File {
	r := s.strands.currentRun()
	real := [2]*os.File{os.Stdout, os.Stderr}[to]
	if r == nil {
		return real
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pipes[to] == nil {
		rd, wr, err := os.Pipe()
		if err != nil {
			return real
		}
		p := &pipe{w: wr, sync: make(chan chan struct{}, 1), end: []byte("\x00end of cell\x00")}
		r.pipes[to] = p
		go p.read(rd, func(b []byte) { s.write(r.cell, to, b) })
	}
	return r.pipes[to].w
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

// flush waits until all that was written to the run's files has been passed on.
func (s *support) flush(r *run) {
	r.mu.Lock()
	pipes := r.pipes
	r.mu.Unlock()
	for _, p := range pipes {
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

// Stdout is the variable os.Stdout.
func (s *support) Stdout() *os.File { return s.file(stdout) }

// Stderr is the variable os.Stderr.
func (s *support) Stderr() *os.File { return s.file(stderr) }

// Stdin is the variable os.Stdin: a file with what the session's input holds.
func (s *support) Stdin() *os.File {
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

// StdinReader is os.Stdin where any reader will do: what it holds is asked for when it is read, and not before.
func (s *support) StdinReader() io.Reader { return s.stdin }

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
