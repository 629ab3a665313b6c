package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// An Entry is one cell that was run.
type Entry struct {
	Session int    `json:"session"`
	Line    int    `json:"line"` // execution count; 0 begins the session
	Input   string `json:"input,omitempty"`
	Output  string `json:"output,omitempty"` // plain text of the result
}

// tailBytes is how much of the file is read: the latest cells.
const tailBytes = 8 << 20

// A Log is the history as one session sees it. Its methods may be called
// from several goroutines.
type Log struct {
	mu      sync.Mutex
	file    *os.File // nil: kept in memory only
	entries []Entry  // by session and line
	session int
}

// InMemory returns a log that is forgotten when the program ends.
func InMemory() *Log { return &Log{session: 1} }

// DefaultPath returns where the history of the user is kept.
func DefaultPath() (string, error) {
	dir := os.Getenv("XDG_DATA_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(dir, "gradbook", "history.jsonl"), nil
}

// Open opens or creates the history file and begins a session.
func Open(path string) (*Log, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	l := &Log{file: f, session: 1}
	if err := l.begin(); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// begin reads what is there and takes the next session number, with the file
// locked so that two kernels do not take the same one.
func (l *Log) begin() error {
	fd := int(l.file.Fd())
	if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil {
		return err
	}
	defer syscall.Flock(fd, syscall.LOCK_UN)
	size, err := l.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	from := max(0, size-tailBytes)
	data, err := io.ReadAll(io.NewSectionReader(l.file, from, size-from))
	if err != nil {
		return err
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		var e Entry
		// A line cut at the start of the tail, or by a full disk, is skipped.
		if json.Unmarshal(line, &e) != nil || e.Session < 1 {
			continue
		}
		l.session = max(l.session, e.Session+1)
		if e.Line > 0 {
			l.entries = append(l.entries, e)
		}
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		if _, err := l.file.WriteString("\n"); err != nil {
			return err
		}
	}
	return l.write(Entry{Session: l.session})
}

func (l *Log) write(e Entry) error {
	if l.file == nil {
		return nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return err
	}
	_, err := l.file.Write(buf.Bytes()) // one write, so that lines of kernels do not mix
	return err
}

// Session returns the number of the current session.
func (l *Log) Session() int { return l.session }

// Add records a cell of the current session.
func (l *Log) Add(line int, input, output string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := Entry{Session: l.session, Line: line, Input: input, Output: output}
	l.entries = append(l.entries, e)
	return l.write(e)
}

// Tail returns the last n cells before now, oldest first.
func (l *Log) Tail(n int) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return last(l.entries, n)
}

func last(all []Entry, n int) []Entry {
	if n < 0 || n > len(all) {
		n = len(all)
	}
	return append([]Entry(nil), all[len(all)-n:]...)
}

// Range returns the cells of a session with start <= line < stop. A session
// of 0 or less counts back from the current one; a stop below 0 means no end.
func (l *Log) Range(session, start, stop int) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if session <= 0 {
		session += l.session
	}
	var out []Entry
	for _, e := range l.entries {
		if e.Session == session && e.Line >= start && (stop < 0 || e.Line < stop) {
			out = append(out, e)
		}
	}
	return out
}

// Search returns the last n cells whose whole input matches a pattern, in
// which * stands for any text and ? for any character; n < 0 means all. With
// unique only the latest of equal inputs is kept.
func (l *Log) Search(pattern string, n int, unique bool) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Entry
	for _, e := range l.entries {
		if match([]rune(pattern), []rune(e.Input)) {
			out = append(out, e)
		}
	}
	if unique {
		newest := make(map[string]int, len(out))
		for i, e := range out {
			newest[e.Input] = i
		}
		kept := out[:0]
		for i, e := range out {
			if newest[e.Input] == i {
				kept = append(kept, e)
			}
		}
		out = kept
	}
	return last(out, n)
}

// match is glob matching in which * also stands for newlines and slashes. It
// runs in time len(pattern) x len(text) at worst.
func match(pattern, text []rune) bool {
	p, t := 0, 0
	star, mark := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(string(pattern[p:]), "*") == ""
}

// Close closes the file; what was added is in it.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
