package magic

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Blank returns src with all that is not Go replaced by spaces, so that offsets
// keep their meaning.
func (s *Set) Blank(src string) string {
	if !strings.ContainsAny(src, "%!") {
		return src
	}
	lines := strings.SplitAfter(src, "\n")
	for _, p := range Split(src) {
		row := p.Row - 1
		cmd, _ := s.find(p)
		switch {
		case p.Kind == Go:
		case p.Kind == Line && cmd.Go:
			arg := len(lines[row]) - len(strings.TrimLeft(strings.TrimLeft(lines[row], " \t")[1+len(p.Name):], " \t"))
			lines[row] = strings.Repeat(" ", arg) + lines[row][arg:]
		case p.Kind == Whole && !cmd.Go:
			for i := row; i < len(lines); i++ {
				lines[i] = blankLine(lines[i])
			}
		default:
			lines[row] = blankLine(lines[row])
		}
	}
	return strings.Join(lines, "")
}

func blankLine(line string) string {
	body := strings.TrimRight(line, "\n")
	return strings.Repeat(" ", len(body)) + line[len(body):]
}

// Complete returns what may stand for src[start:cursor], where that is not Go.
// It reports false where it is.
func (s *Set) Complete(src string, cursor int) (start int, matches []string, ok bool) {
	before := src[:cursor]
	parts := Split(before)
	p := parts[len(parts)-1]
	lineStart := strings.LastIndexByte(before, '\n') + 1
	onFirstLine := p.Row == 1+strings.Count(before, "\n")
	cmd, _ := s.find(p)
	line := strings.TrimLeft(before[lineStart:], " \t")
	word := cursor - len(line) + strings.LastIndexAny(line, " \t") + 1
	switch {
	case p.Kind == Go:
		return 0, nil, false
	case !onFirstLine:
		return cursor, nil, !(p.Kind == Whole && cmd.Go)
	case p.Kind == Shell:
		word = max(word, cursor-len(line)+1) // after the !
		return word, paths(src[word:cursor]), true
	case !strings.ContainsAny(line, " \t"):
		return cursor - len(line), s.names(line), true
	case cmd.Go && p.Kind == Line:
		return 0, nil, false
	case cmd.Paths:
		return word, paths(src[word:cursor]), true
	case cmd.Choices != nil:
		for _, choice := range cmd.Choices() {
			if strings.HasPrefix(choice, src[word:cursor]) {
				matches = append(matches, choice)
			}
		}
	}
	return word, matches, true
}

// names lists the commands that begin like what was typed, marks included.
func (s *Set) names(typed string) (matches []string) {
	for _, cmd := range s.commands {
		if strings.HasPrefix(cmd.mark(), typed) && cmd.Whole == strings.HasPrefix(cmd.mark(), "%%") {
			matches = append(matches, cmd.mark())
		}
	}
	return matches
}

// paths lists the files whose names begin like word; a folder ends in /.
func paths(word string) []string {
	dir, base := filepath.Split(word)
	entries, err := os.ReadDir(expand(filepath.Clean(dir + ".")))
	if err != nil {
		return nil
	}
	var matches []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || strings.HasPrefix(name, ".") && base == "" {
			continue
		}
		if info, err := os.Stat(filepath.Join(expand(filepath.Clean(dir+".")), name)); err == nil && info.IsDir() {
			name += "/"
		}
		matches = append(matches, dir+name)
	}
	slices.Sort(matches)
	return matches
}

// Inspect returns how a command is used, for a % line with the cursor in it.
func (s *Set) Inspect(line string) (string, bool) {
	name, _ := cutName(strings.TrimLeft(line, " \t"))
	for _, cmd := range s.commands {
		if cmd.mark() == name {
			return strings.TrimSpace(cmd.mark()+" "+cmd.Args) + "\n\n" + cmd.Help, true
		}
	}
	return "", false
}
