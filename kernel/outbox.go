package kernel

import (
	"encoding/json"
	"sync"
	"time"
	"unicode/utf8"

	"gradbook/kernel/wire"
)

// Printed text waits for at most streamDelay, so that many small prints
// become one message, or until streamBytes are there.
const (
	streamDelay = 15 * time.Millisecond
	streamBytes = 64 << 10
)

// An origin is the request that a message answers: it becomes the parent
// header, and says whether the request wants to see output at all.
type origin struct {
	parent json.RawMessage
	silent bool
}

// An outbox puts messages on iopub, in the order in which they are given to
// it, with printed text gathered.
type outbox struct {
	codec *wire.Codec
	send  func(wire.Channel, *wire.Message) error
	logf  func(string, ...any)

	mu      sync.Mutex
	pending []chunk
	bytes   int
	timer   *time.Timer
}

// A chunk is text of one stream of one cell.
type chunk struct {
	from *origin
	name string // stdout or stderr
	text []byte
}

// publish sends a message after all text that was printed before it.
func (o *outbox) publish(from *origin, msgType string, content any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush(true)
	o.put(from, msgType, content)
}

// publishWith is publish for messages with metadata and buffers.
func (o *outbox) publishWith(from *origin, m *wire.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush(true)
	o.post(from, m)
}

func (o *outbox) put(from *origin, msgType string, content any) {
	raw, err := json.Marshal(content)
	if err != nil {
		o.logf("iopub: %s lost: %v", msgType, err)
		return
	}
	o.post(from, &wire.Message{Header: o.codec.NewHeader(msgType), Content: raw})
}

func (o *outbox) post(from *origin, m *wire.Message) {
	m.Identities = [][]byte{[]byte(m.Header.MsgType)}
	if from != nil {
		m.Parent = from.parent
	}
	if err := o.send(wire.IOPub, m); err != nil {
		o.logf("iopub: %s lost: %v", m.Header.MsgType, err)
	}
}

// print queues text of a stream.
func (o *outbox) print(from *origin, name string, text []byte) {
	if from != nil && from.silent || len(text) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.pending); n > 0 && o.pending[n-1].from == from && o.pending[n-1].name == name {
		o.pending[n-1].text = append(o.pending[n-1].text, text...)
	} else {
		o.pending = append(o.pending, chunk{from, name, append([]byte(nil), text...)})
	}
	o.bytes += len(text)
	switch {
	case o.bytes >= streamBytes:
		o.flush(false)
	case o.timer == nil:
		o.timer = time.AfterFunc(streamDelay, func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.flush(false)
		})
	}
}

// flush sends what was printed. Unless all of it must go, a character whose
// last bytes have not been printed yet stays.
func (o *outbox) flush(all bool) {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	pending := o.pending
	o.pending, o.bytes = nil, 0
	for i, c := range pending {
		if !all && i == len(pending)-1 {
			if n := incomplete(c.text); n > 0 {
				cut := len(c.text) - n
				o.pending = []chunk{{c.from, c.name, append([]byte(nil), c.text[cut:]...)}}
				o.bytes = n
				c.text = c.text[:cut]
			}
		}
		if len(c.text) > 0 {
			o.put(c.from, "stream", streamContent{Name: c.name, Text: string(c.text)})
		}
	}
}

// incomplete returns the length of the beginning of a character that ends p.
func incomplete(p []byte) int {
	for n := 1; n <= min(len(p), utf8.UTFMax-1); n++ {
		if b := p[len(p)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// sync sends what was printed so far.
func (o *outbox) sync() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush(true)
}
