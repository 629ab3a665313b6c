package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"gradbook/kernel/wire"
)

// ErrNoStdin is what reading from a front end that cannot ask its user gives.
var ErrNoStdin = errors.New("stdin: this front end does not answer input requests; run the cell in a notebook or a console")

// connectTime is how long a client has to connect its stdin socket.
const connectTime = 5 * time.Second

// stdin is os.Stdin of the cells: reading from it asks the front end for a
// line.
type stdin struct {
	k       *Kernel
	answers chan string

	mu      sync.Mutex // one question at a time
	pending []byte
}

func (s *stdin) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		line, err := s.ask("", false)
		if err != nil {
			return 0, err
		}
		s.pending = append([]byte(line), '\n')
	}
	n := copy(p, s.pending)
	s.pending = s.pending[n:]
	return n, nil
}

// Input asks the user of the running cell for a line, and hides what is typed
// for a password. It fails when no cell runs, when the cell is interrupted,
// and with ErrNoStdin.
func (k *Kernel) Input(prompt string, password bool) (string, error) {
	k.stdin.mu.Lock()
	defer k.stdin.mu.Unlock()
	return k.stdin.ask(prompt, password)
}

func (s *stdin) ask(prompt string, password bool) (string, error) {
	s.k.mu.Lock()
	run := s.k.running
	s.k.mu.Unlock()
	if run == nil {
		return "", errors.New("stdin: no cell is running that could ask for input")
	}
	if !run.stdin {
		return "", ErrNoStdin
	}
	select { // an answer that came too late for the last question
	case <-s.answers:
	default:
	}
	s.k.out.sync()
	content, err := json.Marshal(map[string]any{"prompt": prompt, "password": password})
	if err != nil {
		return "", err
	}
	request := &wire.Message{
		Identities: run.req.Identities,
		Header:     s.k.cfg.Codec.NewHeader("input_request"),
		Parent:     run.req.RawHeader,
		Content:    content,
	}
	// A client connects its sockets one by one: a cell that it sends at once may
	// ask before the last of them is there.
	deadline := time.Now().Add(connectTime)
	for err = s.k.cfg.Send(wire.Stdin, request); errors.Is(err, wire.ErrNoClient) && time.Now().Before(deadline) && run.ctx.Err() == nil; {
		time.Sleep(5 * time.Millisecond)
		err = s.k.cfg.Send(wire.Stdin, request)
	}
	if err != nil {
		return "", err
	}
	select {
	case line := <-s.answers:
		return line, nil
	case <-run.ctx.Done():
		return "", context.Cause(run.ctx)
	case <-s.k.done:
		return "", context.Canceled
	}
}

// answer takes an input_reply; one that nobody waits for is dropped later.
func (s *stdin) answer(m *wire.Message) {
	var reply struct {
		Value string `json:"value"`
	}
	if m.Header.MsgType != "input_reply" {
		s.k.log.Printf("stdin: message ignored: %s", m.Header.MsgType)
		return
	}
	if err := m.Decode(&reply, "value"); err != nil {
		s.k.log.Printf("stdin: message ignored: %v", err)
		return
	}
	select {
	case s.answers <- reply.Value:
	default:
	}
}

// discard drops what was typed for an earlier cell.
func (s *stdin) discard() {
	s.mu.Lock()
	s.pending = nil
	s.mu.Unlock()
}
