package kernel

import (
	"encoding/json"
	"sync"

	"gradbook/kernel/wire"
)

// comms are the open comms of a kernel: pairs of objects, one here and one in
// the front end, that send each other messages.
type comms struct {
	mu      sync.Mutex
	targets map[string]CommTarget
	open    map[string]*Comm
}

// A CommTarget takes a comm that a front end opens. It returns what receives
// the messages of the comm.
type CommTarget func(c *Comm, data json.RawMessage) (receive func(data json.RawMessage, buffers [][]byte))

// A Comm is the kernel's end of an open comm.
type Comm struct {
	ID, Target string

	k       *Kernel
	receive func(json.RawMessage, [][]byte)
}

// Send sends data, which must encode as a JSON object, to the front end.
func (c *Comm) Send(data any, buffers ...[]byte) error {
	return c.k.sendComm("comm_msg", c, data, buffers)
}

// Close closes both ends.
func (c *Comm) Close() error {
	c.k.comms.remove(c.ID)
	return c.k.sendComm("comm_close", c, struct{}{}, nil)
}

// RegisterComm makes target the one that takes comms of that name.
func (k *Kernel) RegisterComm(name string, target CommTarget) {
	k.comms.mu.Lock()
	defer k.comms.mu.Unlock()
	if k.comms.targets == nil {
		k.comms.targets = make(map[string]CommTarget)
	}
	k.comms.targets[name] = target
}

func (k *Kernel) sendComm(msgType string, c *Comm, data any, buffers [][]byte) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	content, err := json.Marshal(commContent{ID: c.ID, Data: raw})
	if err != nil {
		return err
	}
	k.out.publishWith(k.cells.latest(), &wire.Message{
		Header: k.cfg.Codec.NewHeader(msgType), Content: content, Buffers: buffers,
	})
	return nil
}

func (cs *comms) remove(id string) *Comm {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.open[id]
	delete(cs.open, id)
	return c
}

func (cs *comms) find(id string) *Comm {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.open[id]
}

// handleComm serves the messages that a front end sends to comms. A comm for
// a target that nobody registered is closed at once.
func (k *Kernel) handleComm(from *origin, m *wire.Message, content commContent) {
	switch m.Header.MsgType {
	case "comm_open":
		c := &Comm{ID: content.ID, Target: content.Target, k: k}
		k.comms.mu.Lock()
		target := k.comms.targets[content.Target]
		if target != nil {
			if k.comms.open == nil {
				k.comms.open = make(map[string]*Comm)
			}
			k.comms.open[c.ID] = c
		}
		k.comms.mu.Unlock()
		if target == nil {
			k.log.Printf("comm_open: no target %q", content.Target)
			k.out.publish(from, "comm_close", commContent{ID: c.ID, Data: json.RawMessage("{}")})
			return
		}
		c.receive = target(c, content.Data)
	case "comm_msg":
		if c := k.comms.find(content.ID); c != nil && c.receive != nil {
			c.receive(content.Data, m.Buffers)
		}
	case "comm_close":
		k.comms.remove(content.ID)
	}
}

// commInfo lists the open comms of a target, or of all with an empty name.
func (k *Kernel) commInfo(target string) map[string]any {
	k.comms.mu.Lock()
	defer k.comms.mu.Unlock()
	out := make(map[string]any)
	for id, c := range k.comms.open {
		if target == "" || c.Target == target {
			out[id] = map[string]string{"target_name": c.Target}
		}
	}
	return out
}
