package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// ProtocolVersion is the version of the Jupyter messaging protocol spoken here.
const ProtocolVersion = "5.5"

// A Header says what a message is and who sent it.
type Header struct {
	MsgID    string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date,omitempty"`
	MsgType  string `json:"msg_type"`
	Version  string `json:"version,omitempty"`
	// SubshellID names the subshell that a shell message is for (JEP 91).
	SubshellID *string `json:"subshell_id,omitempty"`
}

// A Message is one Jupyter message.
type Message struct {
	Identities [][]byte // where it came from, or where to send it; on iopub the topic
	Header     Header
	RawHeader  json.RawMessage // of a received message, to be the parent header of answers
	Parent     json.RawMessage // parent header; nil for none
	Metadata   map[string]any
	Content    json.RawMessage
	Buffers    [][]byte
}

// ParentHeader decodes the parent header; it is zero where there is none.
func (m *Message) ParentHeader() Header {
	var h Header
	_ = json.Unmarshal(m.Parent, &h) // checked when the message was received
	return h
}

// Decode decodes the content into v. Unlike json.Unmarshal it also refuses a
// content that lacks one of the named fields.
func (m *Message) Decode(v any, required ...string) error {
	if len(required) > 0 {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(m.Content, &fields); err != nil {
			return fmt.Errorf("%s: content: %w", m.Header.MsgType, err)
		}
		for _, name := range required {
			if raw, ok := fields[name]; !ok || string(raw) == "null" {
				return fmt.Errorf("%s: content lacks %q", m.Header.MsgType, name)
			}
		}
	}
	if err := json.Unmarshal(m.Content, v); err != nil {
		return fmt.Errorf("%s: content: %w", m.Header.MsgType, err)
	}
	return nil
}

var delimiter = []byte("<IDS|MSG>")

// Reasons for which a received message is ignored.
var (
	ErrNoDelimiter = errors.New("no <IDS|MSG> delimiter")
	ErrTruncated   = errors.New("truncated: fewer than 5 frames after the delimiter")
	ErrUnsigned    = errors.New("not signed")
	ErrSignature   = errors.New("wrong signature")
	ErrReplayed    = errors.New("replayed: a message with this signature came before")
	ErrMalformed   = errors.New("malformed")
)

// remembered is how many signatures are kept to recognize replays by; it is
// what jupyter_client keeps.
const remembered = 1 << 16

// A Codec turns messages into signed frames and back. It may be used by
// several goroutines.
type Codec struct {
	key      []byte
	session  string
	username string
	count    atomic.Uint64

	mu   sync.Mutex
	seen map[[sha256.Size]byte]struct{}
	ring [][sha256.Size]byte
	next int
}

// NewCodec returns a codec that signs with HMAC-SHA256 and key; with an empty
// key messages are neither signed nor checked. The session names the sender
// in the headers of what it encodes.
func NewCodec(key []byte, session string) *Codec {
	c := &Codec{key: key, session: session, username: "kernel", seen: make(map[[sha256.Size]byte]struct{})}
	if u, err := user.Current(); err == nil && u.Username != "" {
		c.username = u.Username
	}
	return c
}

// NewHeader returns the header of a new message of that type.
func (c *Codec) NewHeader(msgType string) Header {
	return Header{
		MsgID:    c.session + "_" + strconv.FormatUint(c.count.Add(1), 10),
		Session:  c.session,
		Username: c.username,
		Date:     time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
		MsgType:  msgType,
		Version:  ProtocolVersion,
	}
}

var emptyObject = json.RawMessage("{}")

// Encode returns the frames of m: identities, delimiter, signature, header,
// parent header, metadata, content, buffers.
func (c *Codec) Encode(m *Message) ([][]byte, error) {
	header, err := json.Marshal(m.Header)
	if err != nil {
		return nil, fmt.Errorf("%s: header: %w", m.Header.MsgType, err)
	}
	metadata := []byte(emptyObject)
	if len(m.Metadata) > 0 {
		if metadata, err = json.Marshal(m.Metadata); err != nil {
			return nil, fmt.Errorf("%s: metadata: %w", m.Header.MsgType, err)
		}
	}
	parent, content := m.Parent, m.Content
	if len(parent) == 0 {
		parent = emptyObject
	}
	if len(content) == 0 {
		content = emptyObject
	}
	frames := make([][]byte, 0, len(m.Identities)+6+len(m.Buffers))
	frames = append(frames, m.Identities...)
	frames = append(frames, delimiter, c.sign(header, parent, metadata, content), header, parent, metadata, content)
	return append(frames, m.Buffers...), nil
}

// Decode checks the frames of a received message: their number, signature,
// novelty and shape. Every error wraps one of the Err variables.
func (c *Codec) Decode(frames [][]byte) (*Message, error) {
	at := 0
	for at < len(frames) && !bytes.Equal(frames[at], delimiter) {
		at++
	}
	if at == len(frames) {
		return nil, ErrNoDelimiter
	}
	body := frames[at+1:]
	if len(body) < 5 {
		return nil, fmt.Errorf("%w (%d)", ErrTruncated, len(body))
	}
	if err := c.check(body[0], body[1:5]); err != nil {
		return nil, err
	}
	m := &Message{
		Identities: frames[:at:at],
		RawHeader:  body[1],
		Content:    body[4],
		Buffers:    body[5:],
	}
	if err := decodeObject("header", body[1], &m.Header); err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"msg_id": m.Header.MsgID, "msg_type": m.Header.MsgType, "session": m.Header.Session,
	} {
		if value == "" {
			return nil, fmt.Errorf("%w: header lacks %q", ErrMalformed, name)
		}
	}
	var parent Header
	if err := decodeObject("parent header", body[2], &parent); err != nil {
		return nil, err
	}
	if parent.MsgID != "" {
		m.Parent = body[2]
	}
	if err := decodeObject("metadata", body[3], &m.Metadata); err != nil {
		return nil, err
	}
	var content map[string]json.RawMessage
	if err := decodeObject("content", body[4], &content); err != nil {
		return nil, err
	}
	return m, nil
}

func decodeObject(part string, raw []byte, v any) error {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return fmt.Errorf("%w: %s is not a JSON object", ErrMalformed, part)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%w: %s: %v", ErrMalformed, part, err)
	}
	return nil
}

// sign returns the signature of the four signed frames in hexadecimal.
func (c *Codec) sign(parts ...[]byte) []byte {
	if len(c.key) == 0 {
		return []byte{}
	}
	mac := hmac.New(sha256.New, c.key)
	for _, p := range parts {
		mac.Write(p)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}

func (c *Codec) check(signature []byte, parts [][]byte) error {
	if len(c.key) == 0 {
		return nil
	}
	if len(signature) == 0 {
		return ErrUnsigned
	}
	if !hmac.Equal(signature, c.sign(parts...)) {
		return ErrSignature
	}
	var digest [sha256.Size]byte
	hex.Decode(digest[:], signature) // it equals what sign wrote
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.seen[digest]; ok {
		return ErrReplayed
	}
	c.seen[digest] = struct{}{}
	if len(c.ring) < remembered {
		c.ring = append(c.ring, digest)
		return nil
	}
	delete(c.seen, c.ring[c.next])
	c.ring[c.next] = digest
	c.next = (c.next + 1) % remembered
	return nil
}
