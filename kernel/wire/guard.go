package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

const (
	greetingBytes  = 64      // ZMTP 3: signature, version, mechanism, filler
	handshakeLimit = 8 << 10 // a READY command carries a socket type and an identity
	maxFrames      = 1 << 12 // of one message

	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

var errFrame = errors.New("frame refused")

// A guard stands between a connection and go-zeromq, which allocates whatever
// size a frame header announces. It follows the frames of the stream and
// replaces the body of a frame that would make its message too large by an
// empty one, so that the stream stays in step and the connection lives.
//
// It also buffers writes: go-zeromq writes each header and each body on its
// own, which would be a system call and a packet each.
type guard struct {
	net.Conn
	r *bufio.Reader
	w *bufio.Writer

	limit    int    // bytes that a message may have
	ready    bool   // the handshake is over
	greeting int    // bytes of the greeting to come
	head     []byte // of a frame header: checked, not yet handed out
	body     uint64 // of a frame body: not yet handed out
	size     uint64 // of the message so far
	frames   int    // of the message so far
	refused  uint64 // bytes that the message lost to the limit
}

func newGuard(c net.Conn) *guard {
	return &guard{
		Conn:     c,
		r:        bufio.NewReaderSize(c, 64<<10),
		w:        bufio.NewWriterSize(c, 64<<10),
		limit:    handshakeLimit,
		greeting: greetingBytes,
	}
}

// established ends the handshake: from here on messages may have limit bytes,
// and what is written waits for Flush.
func (g *guard) established(limit int) { g.limit, g.ready = limit, true }

// takeRefused returns how many bytes of the last message were not read.
func (g *guard) takeRefused() uint64 {
	n := g.refused
	g.refused = 0
	return n
}

func (g *guard) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if g.greeting > 0 {
		n, err := g.r.Read(p[:min(len(p), g.greeting)])
		g.greeting -= n
		return n, err
	}
	if len(g.head) == 0 && g.body == 0 {
		if err := g.nextFrame(); err != nil {
			return 0, err
		}
	}
	if len(g.head) > 0 {
		n := copy(p, g.head)
		g.head = g.head[n:]
		return n, nil
	}
	n, err := g.r.Read(p[:min(uint64(len(p)), g.body)])
	g.body -= uint64(n)
	return n, err
}

// nextFrame reads and judges a frame header. An empty frame is handed out as
// its header alone.
func (g *guard) nextFrame() error {
	var h [9]byte
	if _, err := io.ReadFull(g.r, h[:2]); err != nil {
		return err
	}
	flags, size, n := h[0], uint64(h[1]), 2
	if flags&^(flagMore|flagLong|flagCommand) != 0 || flags&flagCommand != 0 && flags&flagMore != 0 {
		return fmt.Errorf("%w: flags %#x", errFrame, flags)
	}
	if flags&flagLong != 0 {
		if _, err := io.ReadFull(g.r, h[2:]); err != nil {
			return err
		}
		size, n = binary.BigEndian.Uint64(h[1:]), 9
	}
	if g.frames++; g.frames > maxFrames {
		return fmt.Errorf("%w: more than %d frames in a message", errFrame, maxFrames)
	}
	if g.size+size > uint64(g.limit) || size > uint64(g.limit) {
		if !g.ready || size > 1<<40 {
			return fmt.Errorf("%w: %d bytes announced", errFrame, size)
		}
		if _, err := io.CopyN(io.Discard, g.r, int64(size)); err != nil {
			return err
		}
		g.refused += size
		h[0], h[1], n, size = flags&^flagLong, 0, 2, 0
	}
	g.head, g.body = append(g.head[:0], h[:n]...), size
	g.size += size
	if flags&flagMore == 0 {
		g.size, g.frames = 0, 0
	}
	return nil
}

func (g *guard) Write(p []byte) (int, error) {
	n, err := g.w.Write(p)
	if err == nil && !g.ready {
		err = g.w.Flush()
	}
	return n, err
}

// Flush sends what was written since the last Flush.
func (g *guard) Flush() error { return g.w.Flush() }
