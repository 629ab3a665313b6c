package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"gradbook/kernel/magic"
	"gradbook/kernel/wire"
	"gradbook/viz/display"
)

// settle is how long a failed cell waits before it aborts what is queued: the
// requests of a "run all" may still be on their way. Nobody waits for it but
// the client of a cell that failed.
const settle = 5 * time.Millisecond

// execute serves an execute_request.
func (k *Kernel) execute(ch wire.Channel, m *wire.Message, req executeRequest, from *origin) {
	started := time.Now()
	from.silent = req.Silent
	store := !req.Silent && (req.StoreHistory == nil || *req.StoreHistory)
	empty := strings.TrimSpace(req.Code) == ""
	n := k.count + 1
	if store && !empty {
		k.count = n
	}
	if !req.Silent {
		k.out.publish(from, "execute_input", map[string]any{"code": req.Code, "execution_count": n})
	}
	k.cells.begin(n, from)
	k.stdin.discard()

	ctx, cancel := context.WithCancelCause(context.Background())
	k.setRunning(&running{ctx: ctx, cancel: cancel, req: m, stdin: req.AllowStdin})
	var out Outcome
	expressions, payload := map[string]any{}, []any{}
	switch {
	case empty:
	case k.asksToLeave(req.Code):
		payload = append(payload, map[string]any{"source": "ask_exit", "keepkernel": false})
	default:
		out = k.runCell(ctx, n, req.Code, from)
	}
	if out.Err == nil {
		for _, name := range slices.Sorted(maps.Keys(req.UserExpressions)) {
			expressions[name] = k.userExpression(ctx, n, req.UserExpressions[name])
		}
	}
	k.setRunning(nil)
	cancel(nil)

	for _, w := range out.Warnings {
		k.out.print(from, "stderr", []byte(strings.TrimSuffix(w, "\n")+"\n"))
	}
	result := ""
	if out.Err == nil && out.Bundle != nil {
		result = out.Bundle.Plain()
		if !req.Silent {
			content := bundle(*out.Bundle)
			content.ExecutionCount = n
			k.out.publish(from, "execute_result", content)
		}
	}
	if store && !empty {
		if err := k.hist.Add(n, req.Code, result); err != nil {
			k.log.Printf("history: cell %d is not kept: %v", n, err)
		}
	}
	reply := executeReply{Status: "ok", ExecutionCount: n, UserExpressions: expressions, Payload: payload}
	if out.Err != nil {
		reply.Status = "error"
		reply.errorContent = failure(out.Err)
		if req.StopOnError == nil || *req.StopOnError {
			time.Sleep(settle)
			k.shell.abort()
		}
		if !req.Silent {
			k.out.publish(from, "error", reply.errorContent)
		}
	}
	k.out.sync()
	k.replyWith(ch, m, reply, map[string]any{
		"started": started.UTC().Format("2006-01-02T15:04:05.000000Z"),
		"status":  reply.Status,
	})
}

// asksToLeave recognizes what people type to leave a console; the console
// waits for the kernel to say that it may go. A variable of that name is shown
// like any other.
func (k *Kernel) asksToLeave(code string) bool {
	name := strings.TrimSpace(code)
	if name != "exit" && name != "quit" {
		return false
	}
	eval, err := k.evaluator()
	return err == nil && !slices.ContainsFunc(eval.Globals(), func(g Global) bool { return g.Name == name })
}

func (k *Kernel) setRunning(r *running) {
	k.mu.Lock()
	k.running = r
	k.mu.Unlock()
}

func failure(e *Error) *errorContent {
	trace := e.Traceback
	if len(trace) == 0 {
		trace = []string{e.Name + ": " + e.Message}
	}
	return &errorContent{Name: e.Name, Message: e.Message, Traceback: trace}
}

// runCell runs the parts of a cell in their order. A panic of the evaluator
// itself is an error of the cell, not the end of the kernel.
func (k *Kernel) runCell(ctx context.Context, n int, code string, from *origin) (out Outcome) {
	defer func() {
		if e := recover(); e != nil {
			k.log.Printf("cell %d: panic: %v\n%s", n, e, debug.Stack())
			out.Err = &Error{Name: "InternalError", Message: fmt.Sprint(e)}
		}
	}()
	parts := magic.Split(code)
	if err := k.lines.Check(parts); err != nil {
		return Outcome{Err: lineError(err)}
	}
	eval, err := k.evaluator()
	if err != nil {
		return Outcome{Err: &Error{Name: "StartError", Message: err.Error()}}
	}
	if s := k.cfg.Session; s != nil {
		s.BeginCell(n)
		defer func() {
			if err := s.EndCell(End{eval.Globals(), eval.Background(), out.Err}); err != nil && out.Err == nil {
				out = Outcome{Err: &Error{Name: "DeviceError", Message: err.Error()}, Warnings: out.Warnings}
			}
		}()
	}
	var warnings []string
	for i, p := range parts {
		if ctx.Err() != nil {
			out.Err = interrupted()
			break
		}
		out = k.runPart(ctx, eval, n, p, from)
		warnings = append(warnings, out.Warnings...)
		if out.Err != nil {
			break
		}
		if i < len(parts)-1 {
			out.Bundle = nil // a cell has one result, that of its end
		}
	}
	out.Warnings = warnings
	return out
}

// runPart runs Go code, or a line that is not Go.
func (k *Kernel) runPart(ctx context.Context, eval Evaluator, n int, p magic.Part, from *origin) Outcome {
	if p.Kind == magic.Go {
		return eval.Run(ctx, n, p.Text)
	}
	var inner Outcome // of the Go code that a line runs
	c := &magic.Context{
		Context: ctx,
		Stdout:  printer{k, from, "stdout"},
		Stderr:  printer{k, from, "stderr"},
		Show:    func(b display.Bundle) { display.Show(b) },
		Run: func(src string) error {
			inner = eval.Run(ctx, n, src)
			if inner.Err != nil {
				return magic.ErrFailed
			}
			return nil
		},
		Names: func() []magic.Name {
			var names []magic.Name
			for _, g := range eval.Globals() {
				names = append(names, magic.Name{Name: g.Name, Type: g.Type, Cell: g.Cell})
			}
			return names
		},
		Reset: eval.Reset,
		Get:   func(module string) error { return eval.Get(ctx, module) },
	}
	if err := k.lines.Run(c, p); err != nil && inner.Err == nil {
		if ctx.Err() != nil {
			inner.Err = interrupted()
		} else {
			inner.Err = lineError(err)
		}
	}
	return inner
}

// userExpression evaluates one of the user_expressions of a request.
func (k *Kernel) userExpression(ctx context.Context, n int, expr string) any {
	eval, err := k.evaluator()
	if err != nil {
		return errorReply{Status: "error", errorContent: errorContent{Name: "StartError", Message: err.Error(), Traceback: []string{}}}
	}
	out := eval.Run(ctx, n, expr)
	if out.Err != nil {
		return errorReply{Status: "error", errorContent: *failure(out.Err)}
	}
	content := bundle(display.Bundle{})
	if out.Bundle != nil {
		content = bundle(*out.Bundle)
	}
	return struct {
		Status string `json:"status"`
		bundleContent
	}{"ok", content}
}

func interrupted() *Error {
	return &Error{Name: "Interrupted", Message: "the cell was interrupted"}
}

func lineError(err error) *Error {
	var usage *magic.UsageError
	if errors.As(err, &usage) {
		return &Error{Name: "UsageError", Message: usage.Text}
	}
	return &Error{Name: "LineError", Message: err.Error()}
}

// printer is a stream of a cell as an io.Writer.
type printer struct {
	k    *Kernel
	from *origin
	name string
}

func (p printer) Write(b []byte) (int, error) {
	p.k.out.print(p.from, p.name, b)
	return len(b), nil
}

// abort answers a request that was queued behind a cell that failed.
func (k *Kernel) abort(ch wire.Channel, m *wire.Message) {
	from := &origin{parent: m.RawHeader}
	k.out.publish(from, "status", statusContent{"busy"})
	k.replyWith(ch, m, map[string]any{"status": "aborted", "execution_count": k.count},
		map[string]any{"status": "aborted"})
	k.out.publish(from, "status", statusContent{"idle"})
}
