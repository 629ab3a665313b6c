package wire

import (
	"context"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/go-zeromq/zmq4"
)

// A Client is the other end of a Server: what a front end is to a kernel. It
// uses go-zeromq's own sockets. Its methods are for one goroutine, except that
// the three receiving channels can be read by others.
type Client struct {
	Codec   *Codec
	Replies chan *Message // from shell and control
	IOPub   chan *Message
	Stdin   chan *Message // input requests

	sockets [channels]zmq4.Socket
	cancel  context.CancelFunc
	early   map[string]*Message // replies that came before they were asked for
}

// Dial connects a client to the kernel at c and waits until it is subscribed.
func Dial(ctx context.Context, c Connection) (*Client, error) {
	session := fmt.Sprintf("%x", randomID())
	ctx, cancel := context.WithCancel(ctx)
	cl := &Client{
		Codec:   NewCodec([]byte(c.Key), session),
		Replies: make(chan *Message, 1024),
		IOPub:   make(chan *Message, 1<<16),
		Stdin:   make(chan *Message, 16),
		cancel:  cancel,
		early:   make(map[string]*Message),
	}
	opts := []zmq4.Option{
		zmq4.WithID(zmq4.SocketIdentity(session)),
		zmq4.WithLogger(log.New(io.Discard, "", 0)),
		zmq4.WithDialerRetry(5 * time.Millisecond),
		zmq4.WithDialerMaxRetries(-1),
	}
	cl.sockets = [channels]zmq4.Socket{
		zmq4.NewDealer(ctx, opts...), zmq4.NewDealer(ctx, opts...), zmq4.NewDealer(ctx, opts...),
		zmq4.NewSub(ctx, opts...), zmq4.NewReq(ctx, opts...),
	}
	ports := [channels]int{c.ShellPort, c.ControlPort, c.StdinPort, c.IOPubPort, c.HBPort}
	for ch, sock := range cl.sockets {
		network, addr := c.address(ports[ch])
		if network == "unix" {
			network = "ipc"
		}
		if err := sock.Dial(network + "://" + addr); err != nil {
			cl.Close()
			return nil, fmt.Errorf("%s: %w", Channel(ch), err)
		}
	}
	if err := cl.sockets[IOPub].SetOption(zmq4.OptionSubscribe, ""); err != nil {
		cl.Close()
		return nil, err
	}
	for ch, into := range map[Channel]chan *Message{
		Shell: cl.Replies, Control: cl.Replies, Stdin: cl.Stdin, IOPub: cl.IOPub,
	} {
		go cl.receive(ctx, ch, into)
	}
	select {
	case <-cl.IOPub: // iopub_welcome
		return cl, nil
	case <-ctx.Done():
		cl.Close()
		return nil, fmt.Errorf("iopub: no welcome: %w", ctx.Err())
	}
}

func (cl *Client) receive(ctx context.Context, ch Channel, into chan *Message) {
	for ctx.Err() == nil {
		msg, err := cl.sockets[ch].Recv()
		if err != nil {
			return
		}
		m, err := cl.Codec.Decode(msg.Frames)
		if err != nil {
			continue
		}
		select {
		case into <- m:
		case <-ctx.Done():
		}
	}
}

// Send sends a request with that content and returns the id of the message.
func (cl *Client) Send(ch Channel, msgType string, content any) (string, error) {
	return cl.SendMessage(ch, &Message{Header: cl.Codec.NewHeader(msgType), Content: mustJSON(content)})
}

// SendMessage sends m as it is.
func (cl *Client) SendMessage(ch Channel, m *Message) (string, error) {
	frames, err := cl.Codec.Encode(m)
	if err != nil {
		return "", err
	}
	return m.Header.MsgID, cl.SendFrames(ch, frames...)
}

// SendFrames sends frames that need not be a message.
func (cl *Client) SendFrames(ch Channel, frames ...[]byte) error {
	return cl.sockets[ch].SendMulti(zmq4.NewMsgFrom(frames...))
}

// Ping sends data on the heartbeat and returns what comes back.
func (cl *Client) Ping(data []byte) ([]byte, error) {
	if err := cl.sockets[Heartbeat].Send(zmq4.NewMsg(data)); err != nil {
		return nil, err
	}
	msg, err := cl.sockets[Heartbeat].Recv()
	if err != nil {
		return nil, err
	}
	return msg.Bytes(), nil
}

// Reply waits for the reply to the request with that id. Replies to other
// requests are kept for later calls.
func (cl *Client) Reply(ctx context.Context, id string) (*Message, error) {
	if m := cl.early[id]; m != nil {
		delete(cl.early, id)
		return m, nil
	}
	for {
		select {
		case m := <-cl.Replies:
			parent := m.ParentHeader().MsgID
			if parent == id {
				return m, nil
			}
			cl.early[parent] = m
		case <-ctx.Done():
			return nil, fmt.Errorf("no reply to %s: %w", id, ctx.Err())
		}
	}
}

// UntilIdle returns what iopub carried for the request with that id, up to
// and without its idle status.
func (cl *Client) UntilIdle(ctx context.Context, id string) ([]*Message, error) {
	var got []*Message
	for {
		select {
		case m := <-cl.IOPub:
			if m.ParentHeader().MsgID != id {
				continue
			}
			if m.Header.MsgType == "status" {
				var status struct {
					State string `json:"execution_state"`
				}
				if m.Decode(&status) == nil && status.State == "idle" {
					return got, nil
				}
			}
			got = append(got, m)
		case <-ctx.Done():
			return got, fmt.Errorf("%s did not become idle: %w", id, ctx.Err())
		}
	}
}

// Close closes the sockets.
func (cl *Client) Close() {
	cl.cancel()
	for _, s := range cl.sockets {
		if s != nil {
			s.Close()
		}
	}
}
