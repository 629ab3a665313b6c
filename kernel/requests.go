package kernel

import (
	"errors"
	"fmt"
	"strings"

	"gradbook/kernel/history"
	"gradbook/kernel/magic"
	"gradbook/kernel/wire"
)

// handler returns what serves a request. A request whose content is not what
// the protocol says is an error, and is ignored as a whole.
func (k *Kernel) handler(ch wire.Channel, m *wire.Message) (func(from *origin), error) {
	if id := m.Header.SubshellID; id != nil && *id != "" {
		return k.refuse(ch, m, "SubshellNotFound", "this kernel has no subshells"), nil
	}
	switch m.Header.MsgType {
	case "execute_request":
		if ch != wire.Shell {
			return k.refuse(ch, m, "WrongChannel", "cells are run on the shell channel"), nil
		}
		var req executeRequest
		if err := m.Decode(&req, "code"); err != nil {
			return nil, err
		}
		return func(from *origin) { k.execute(ch, m, req, from) }, nil
	case "kernel_info_request":
		return func(*origin) { k.reply(ch, m, k.info()) }, nil
	case "complete_request", "inspect_request":
		var req cursorRequest
		if err := m.Decode(&req, "code", "cursor_pos"); err != nil {
			return nil, err
		}
		if m.Header.MsgType == "complete_request" {
			return func(*origin) { k.reply(ch, m, k.complete(req)) }, nil
		}
		return func(*origin) { k.reply(ch, m, k.inspect(req)) }, nil
	case "is_complete_request":
		var req cursorRequest
		if err := m.Decode(&req, "code"); err != nil {
			return nil, err
		}
		return func(*origin) { k.reply(ch, m, k.isComplete(req.Code)) }, nil
	case "history_request":
		var req historyRequest
		if err := m.Decode(&req, "hist_access_type"); err != nil {
			return nil, err
		}
		return func(*origin) { k.reply(ch, m, k.history(req)) }, nil
	case "comm_info_request":
		var req struct {
			Target string `json:"target_name"`
		}
		if err := m.Decode(&req); err != nil {
			return nil, err
		}
		return func(*origin) {
			k.reply(ch, m, map[string]any{"status": "ok", "comms": k.commInfo(req.Target)})
		}, nil
	case "comm_open", "comm_msg", "comm_close":
		var content commContent
		required := []string{"comm_id"}
		if m.Header.MsgType == "comm_open" {
			required = append(required, "target_name")
		}
		if err := m.Decode(&content, required...); err != nil {
			return nil, err
		}
		return func(from *origin) { k.handleComm(from, m, content) }, nil
	case "interrupt_request":
		return func(*origin) {
			k.Interrupt()
			k.reply(ch, m, map[string]string{"status": "ok"})
		}, nil
	case "shutdown_request":
		var req shutdownContent
		if err := m.Decode(&req); err != nil {
			return nil, err
		}
		return func(from *origin) {
			reply := shutdownContent{Status: "ok", Restart: req.Restart}
			k.reply(ch, m, reply)
			k.out.publish(from, "shutdown_reply", reply)
		}, nil
	}
	if strings.HasSuffix(m.Header.MsgType, "_request") {
		return k.refuse(ch, m, "UnsupportedRequest", "this kernel does not serve "+m.Header.MsgType), nil
	}
	return nil, fmt.Errorf("unknown message type %q", m.Header.MsgType)
}

// replyType returns the type of the reply to a request.
func replyType(request string) string {
	return strings.TrimSuffix(request, "_request") + "_reply"
}

// refuse answers a request with an error, so that its client does not wait.
func (k *Kernel) refuse(ch wire.Channel, m *wire.Message, name, text string) func(*origin) {
	return func(*origin) {
		k.reply(ch, m, errorReply{Status: "error", errorContent: errorContent{name, text, []string{}}})
	}
}

func (k *Kernel) info() kernelInfoReply {
	return kernelInfoReply{
		Status:                "ok",
		ProtocolVersion:       wire.ProtocolVersion,
		Implementation:        "gradbook",
		ImplementationVersion: k.cfg.Version,
		LanguageInfo: languageInfo{
			Name:           "go",
			Version:        languageVersion,
			MimeType:       "text/x-go",
			FileExtension:  ".go",
			PygmentsLexer:  "go",
			CodemirrorMode: "go",
			Exporter:       "script",
		},
		Banner: "gradbook " + k.cfg.Version + ": Go with tensors and gradients. %help lists what a cell may hold beside Go.",
		HelpLinks: []helpLink{
			{"Go", "https://go.dev/doc/"},
			{"Go packages", "https://pkg.go.dev/std"},
		},
		SupportedFeatures: []string{},
	}
}

// languageVersion is the Go version whose language cells are written in.
const languageVersion = "1.26"

func (k *Kernel) complete(req cursorRequest) completeReply {
	reply := completeReply{Status: "ok", Matches: []string{}, CursorStart: req.CursorPos, CursorEnd: req.CursorPos, Metadata: map[string]any{}}
	cursor := byteOffset(req.Code, req.CursorPos)
	var c Completion
	if start, matches, ok := k.lines.Complete(req.Code, cursor); ok {
		c = Completion{Start: start, End: cursor}
		for _, text := range matches {
			c.Matches = append(c.Matches, Match{Text: text, Kind: "magic"})
		}
	} else if eval, err := k.evaluator(); err == nil {
		c = eval.Complete(k.lines.Blank(req.Code), cursor)
	}
	if len(c.Matches) == 0 {
		return reply
	}
	reply.CursorStart, reply.CursorEnd = codePoints(req.Code, c.Start), codePoints(req.Code, c.End)
	var types []map[string]any
	for _, match := range c.Matches {
		reply.Matches = append(reply.Matches, match.Text)
		types = append(types, map[string]any{
			"text": match.Text, "type": match.Kind, "signature": match.Signature,
			"start": reply.CursorStart, "end": reply.CursorEnd,
		})
	}
	// What JupyterLab reads to draw an icon beside each match.
	reply.Metadata["_jupyter_types_experimental"] = types
	return reply
}

func (k *Kernel) inspect(req cursorRequest) inspectReply {
	reply := inspectReply{Status: "ok", Data: map[string]any{}, Metadata: map[string]any{}}
	cursor := byteOffset(req.Code, req.CursorPos)
	if text, ok := k.lines.Inspect(lineAround(req.Code, cursor)); ok {
		reply.Found, reply.Data["text/plain"] = true, text
		return reply
	}
	eval, err := k.evaluator()
	if err != nil {
		return reply
	}
	b, ok := eval.Inspect(k.lines.Blank(req.Code), cursor, req.DetailLevel)
	if !ok {
		return reply
	}
	reply.Found = true
	content := bundle(b)
	reply.Data, reply.Metadata = content.Data, content.Metadata
	return reply
}

func (k *Kernel) isComplete(code string) isCompleteReply {
	parts := magic.Split(code)
	last := parts[len(parts)-1]
	switch last.Kind {
	case magic.Whole: // an empty line ends it, as in every console
		if strings.HasSuffix(code, "\n\n") {
			return isCompleteReply{Status: "complete"}
		}
		indent := ""
		return isCompleteReply{Status: "incomplete", Indent: &indent}
	case magic.Line, magic.Shell:
		return isCompleteReply{Status: "complete"}
	}
	eval, err := k.evaluator()
	if err != nil {
		return isCompleteReply{Status: "unknown"}
	}
	status, indent := eval.IsComplete(k.lines.Blank(code))
	if status != "incomplete" {
		return isCompleteReply{Status: status}
	}
	return isCompleteReply{Status: status, Indent: &indent}
}

func (k *Kernel) history(req historyRequest) any {
	var entries []history.Entry
	switch req.AccessType {
	case "tail":
		entries = k.hist.Tail(req.N)
	case "range":
		stop := -1
		if req.Stop != nil {
			stop = *req.Stop
		}
		entries = k.hist.Range(req.Session, req.Start, stop)
	case "search":
		n := req.N
		if n == 0 {
			n = -1
		}
		pattern := req.Pattern
		if pattern == "" {
			pattern = "*"
		}
		entries = k.hist.Search(pattern, n, req.Unique)
	default:
		err := errors.New("hist_access_type must be tail, range or search, not " + req.AccessType)
		return errorReply{Status: "error", errorContent: errorContent{"ValueError", err.Error(), []string{}}}
	}
	reply := historyReply{Status: "ok", History: [][3]any{}}
	for _, e := range entries {
		item := [3]any{e.Session, e.Line, e.Input}
		if req.Output {
			var output any
			if e.Output != "" {
				output = e.Output
			}
			item[2] = [2]any{e.Input, output}
		}
		reply.History = append(reply.History, item)
	}
	return reply
}
