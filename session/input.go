package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Prompter asks the person at the front end for a line; secret ones are not
// shown while typed.
type Prompter func(prompt string, secret bool) (string, error)

// SetPrompter sets who asks; nil restores the process's standard input.
func (s *Session) SetPrompter(p Prompter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ask = p
}

// Prompt asks for a line and returns it without its end.
func (s *Session) Prompt(prompt string, secret bool) (string, error) {
	s.mu.Lock()
	ask := s.ask
	s.mu.Unlock()
	if ask == nil {
		ask = console
	}
	return ask(prompt, secret)
}

var stdin = bufio.NewReader(os.Stdin)

func console(prompt string, secret bool) (string, error) {
	if secret {
		return "", errors.New("a password needs a front end that can hide what is typed; there is none")
	}
	fmt.Print(prompt)
	line, err := stdin.ReadString('\n')
	if err != nil && !(errors.Is(err, io.EOF) && line != "") {
		return "", fmt.Errorf("input %q: %w", prompt, err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}
