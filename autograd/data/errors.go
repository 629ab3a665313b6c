package data

import "fmt"

// FileError tells what is wrong with a file.
type FileError struct {
	Path     string
	Expected string
	Found    string
	Advice   string // may be ""
	Err      error  // what the system said; may be nil
}

func (e *FileError) Error() string {
	s := fmt.Sprintf("%s: expected %s, found %s", e.Path, e.Expected, e.Found)
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}
func (e *FileError) Unwrap() error { return e.Err }
