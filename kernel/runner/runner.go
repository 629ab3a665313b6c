package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"gradbook/kernel"
	"gradbook/kernel/notebook"
	"gradbook/kernel/wire"
)

// Options say how a notebook is executed.
type Options struct {
	// Kernel is the configuration of the kernel; Codec and Send are set by Run.
	Kernel kernel.Config
	// AllowErrors goes on after a cell that failed.
	AllowErrors bool
	// Timeout limits each cell; 0 means no limit.
	Timeout time.Duration
	// Console takes the text of the outputs as they come; nil for none.
	Console Console
}

// A Console shows what happens to someone who waits.
type Console interface {
	io.Writer
	// Begin is called before cell i of n, counted from 0, and End after the
	// last one.
	Begin(i, n int, source string)
	End()
}

// A CellError is a cell that failed, and that the run ended at.
type CellError struct {
	Cell      int // position in the notebook, from 1
	Name      string
	Message   string
	Traceback []string
}

func (e *CellError) Error() string {
	return fmt.Sprintf("cell %d failed: %s: %s", e.Cell, e.Name, e.Message)
}

// Run executes the code cells of nb in their order and stores their outputs
// in it. After a cell that fails, is interrupted by ctx or takes too long, nb
// holds what was done so far.
func Run(ctx context.Context, nb *notebook.Notebook, o Options) error {
	if lang := nb.Language(); lang != "" && !strings.EqualFold(lang, "go") {
		return fmt.Errorf("the notebook is written in %s; this kernel runs Go", lang)
	}
	r := &run{o: o, codec: wire.NewCodec(nil, "runner"), shown: make(map[string][]notebook.Output)}
	if r.o.Console == nil {
		r.o.Console = silence{}
	}
	cfg := o.Kernel
	cfg.Codec, cfg.Send = wire.NewCodec(nil, "kernel"), r.receive
	k := kernel.New(cfg)
	defer k.Shutdown()
	r.kernel = k

	for _, c := range nb.Cells {
		if c.Type() == "code" {
			c.SetOutputs(nil, 0)
		}
	}
	defer r.o.Console.End()
	for i, c := range nb.Cells {
		if c.Type() != "code" || strings.TrimSpace(c.Source()) == "" || c.HasTag("skip-execution") {
			continue
		}
		r.o.Console.Begin(i, len(nb.Cells), c.Source())
		if err := r.cell(ctx, i, c); err != nil {
			return err
		}
	}
	nb.SetMetadata("language_info", r.languageInfo())
	return nil
}

// run is a notebook being executed.
type run struct {
	o      Options
	codec  *wire.Codec
	kernel *kernel.Kernel

	mu      sync.Mutex
	current *cellRun
	shown   map[string][]notebook.Output // by display id
	info    chan json.RawMessage         // awaits a kernel_info_reply
}

// cellRun is a cell that runs. Its fields are guarded by the mutex of run.
type cellRun struct {
	id      string
	outputs []notebook.Output
	count   int
	clear   bool // before the next output
	failed  *CellError
	updated []string // ids of displays that changed after they were shown, in order
	replied bool
	idle    bool
	done    chan struct{}
}

func (r *run) request(msgType string, content any) (*wire.Message, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	m := &wire.Message{Header: r.codec.NewHeader(msgType), Content: raw}
	if m.RawHeader, err = json.Marshal(m.Header); err != nil {
		return nil, err
	}
	return m, nil
}

func (r *run) cell(ctx context.Context, index int, c *notebook.Cell) error {
	stop := !r.o.AllowErrors && !c.HasTag("raises-exception")
	m, err := r.request("execute_request", map[string]any{
		"code": c.Source(), "silent": false, "store_history": true,
		"user_expressions": map[string]string{}, "allow_stdin": false, "stop_on_error": stop,
	})
	if err != nil {
		return err
	}
	run := &cellRun{id: m.Header.MsgID, done: make(chan struct{})}
	r.mu.Lock()
	r.current = run
	r.mu.Unlock()
	started := time.Now()
	r.kernel.Handle(wire.Shell, m)

	var timeout <-chan time.Time
	if r.o.Timeout > 0 {
		timer := time.NewTimer(r.o.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	var stopped error
	select {
	case <-run.done:
	case <-timeout:
		stopped = fmt.Errorf("cell %d took longer than %v", index+1, r.o.Timeout)
	case <-ctx.Done():
		stopped = context.Cause(ctx)
	}
	if stopped != nil {
		r.kernel.Interrupt()
		select {
		case <-run.done:
		case <-time.After(5 * time.Second):
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// The console cannot change what it has printed: what was updated is printed once more as it is at the end.
	for _, id := range run.updated {
		if outs := r.shown[id]; len(outs) > 0 {
			r.print(outs[len(outs)-1]["data"].(map[string]any))
		}
	}
	c.SetOutputs(run.outputs, run.count)
	const layout = "2006-01-02T15:04:05.000000Z"
	c.SetMetadata("execution", map[string]string{
		"iopub.execute_input": started.UTC().Format(layout),
		"shell.execute_reply": time.Now().UTC().Format(layout),
	})
	switch {
	case stopped != nil:
		return stopped
	case run.failed != nil && stop:
		run.failed.Cell = index + 1
		return run.failed
	}
	return nil
}

func (r *run) languageInfo() any {
	r.mu.Lock()
	r.info = make(chan json.RawMessage, 1)
	r.mu.Unlock()
	m, err := r.request("kernel_info_request", struct{}{})
	if err != nil {
		return nil
	}
	r.kernel.Handle(wire.Shell, m)
	var reply struct {
		Info map[string]any `json:"language_info"`
	}
	if err := json.Unmarshal(<-r.info, &reply); err != nil {
		return nil
	}
	return reply.Info
}

// receive takes the messages of the kernel.
func (r *run) receive(ch wire.Channel, m *wire.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case m.Header.MsgType == "kernel_info_reply":
		r.info <- m.Content
		return nil
	case r.current == nil:
		return nil
	case ch == wire.Shell && m.ParentHeader().MsgID == r.current.id:
		r.current.replied = true
	case ch == wire.IOPub:
		if err := r.output(m); err != nil {
			return err
		}
	}
	if c := r.current; c.replied && c.idle {
		select {
		case <-c.done:
		default:
			close(c.done)
		}
	}
	return nil
}

// output adds a message to the outputs of the cell that runs. What a
// goroutine of an earlier cell prints joins them: the earlier cell's are
// written already.
func (r *run) output(m *wire.Message) error {
	c := r.current
	var f struct {
		Count     int    `json:"execution_count"`
		State     string `json:"execution_state"`
		Wait      bool
		Name      string
		Text      string
		Data      map[string]any
		Metadata  map[string]any
		Transient struct {
			ID string `json:"display_id"`
		}
		EName     string
		EValue    string
		Traceback []string
	}
	if err := m.Decode(&f); err != nil {
		return err
	}
	switch m.Header.MsgType {
	case "status":
		c.idle = c.idle || f.State == "idle" && m.ParentHeader().MsgID == c.id
	case "execute_input":
		c.count = f.Count
	case "clear_output":
		if c.clear = f.Wait; !f.Wait {
			c.outputs = nil
		}
	case "stream":
		io.WriteString(r.o.Console, f.Text)
		c.cleared()
		if n := len(c.outputs); n > 0 && c.outputs[n-1]["name"] == f.Name {
			c.outputs[n-1]["text"] = c.outputs[n-1]["text"].(string) + f.Text
			return nil
		}
		c.outputs = append(c.outputs, notebook.Output{"output_type": "stream", "name": f.Name, "text": f.Text})
	case "display_data", "execute_result":
		r.print(f.Data)
		c.cleared()
		out := notebook.Output{"output_type": m.Header.MsgType, "data": f.Data, "metadata": f.Metadata}
		if m.Header.MsgType == "execute_result" {
			out["execution_count"] = f.Count
		}
		c.outputs = append(c.outputs, out)
		if f.Transient.ID != "" {
			r.shown[f.Transient.ID] = append(r.shown[f.Transient.ID], out)
		}
	case "update_display_data":
		for _, out := range r.shown[f.Transient.ID] {
			out["data"], out["metadata"] = f.Data, f.Metadata
		}
		if !slices.Contains(c.updated, f.Transient.ID) {
			c.updated = append(c.updated, f.Transient.ID)
		}
	case "error":
		c.cleared()
		c.failed = &CellError{Name: f.EName, Message: f.EValue, Traceback: f.Traceback}
		fmt.Fprintln(r.o.Console, strings.Join(f.Traceback, "\n"))
		c.outputs = append(c.outputs, notebook.Output{
			"output_type": "error", "ename": f.EName, "evalue": f.EValue, "traceback": f.Traceback,
		})
	}
	return nil
}

func (c *cellRun) cleared() {
	if c.clear {
		c.outputs, c.clear = nil, false
	}
}

// print shows the plain form of a bundle.
func (r *run) print(data map[string]any) {
	if text, ok := data["text/plain"].(string); ok {
		fmt.Fprintln(r.o.Console, strings.TrimSuffix(text, "\n"))
	}
}

type silence struct{}

func (silence) Write(p []byte) (int, error) { return len(p), nil }
func (silence) Begin(int, int, string)      {}
func (silence) End()                        {}
