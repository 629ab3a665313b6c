package kernel

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"gradbook/kernel/wire"
)

// linger is how long the last messages have to leave when the kernel ends.
const linger = 200 * time.Millisecond

// Serve runs a kernel on the sockets of a connection until it is told to shut
// down, ctx is cancelled, SIGTERM arrives or the process that started it is
// gone. SIGINT interrupts the running cell. Of cfg, Codec and Send are set by
// Serve.
func Serve(ctx context.Context, conn wire.Connection, cfg Config) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	var id [16]byte
	rand.Read(id[:])
	codec := wire.NewCodec([]byte(conn.Key), hex.EncodeToString(id[:]))

	var k *Kernel
	started := make(chan struct{})
	server, err := wire.Listen(conn, codec, cfg.Log, func(ch wire.Channel, m *wire.Message) {
		<-started
		k.Handle(ch, m)
	})
	if err != nil {
		return err
	}
	defer server.Close(linger)
	cfg.Codec, cfg.Send = codec, server.Send
	k = New(cfg)
	restore, err := k.capture()
	if err != nil {
		return err
	}
	defer restore()
	close(started)

	orphaned := time.NewTicker(time.Second)
	defer orphaned.Stop()
	parent := os.Getppid()
	for {
		select {
		case <-k.Done():
			return nil
		case <-ctx.Done():
			k.Shutdown()
		case s := <-signals:
			if s == os.Interrupt {
				k.Interrupt()
			} else {
				k.Shutdown()
			}
		case <-orphaned.C:
			if startedByJupyter() && os.Getppid() != parent {
				k.log.Printf("the process that started this kernel is gone")
				k.Shutdown()
			}
		}
	}
}

// startedByJupyter reports whether a Jupyter client started this process; it
// says so in the environment, and its kernels are to end with it.
func startedByJupyter() bool {
	pid, err := strconv.Atoi(os.Getenv("JPY_PARENT_PID"))
	return err == nil && pid > 0
}

// capture makes what compiled code prints to os.Stdout and os.Stderr output of
// the cell that runs. The kernel's own log and the traces of the Go run time
// keep the file descriptors of the process.
func (k *Kernel) capture() (restore func(), err error) {
	stdout, stderr := os.Stdout, os.Stderr
	var ends []*os.File
	for name, file := range map[string]**os.File{"stdout": &os.Stdout, "stderr": &os.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		ends = append(ends, w)
		*file = w
		go func() {
			defer r.Close()
			buf := make([]byte, 32<<10)
			for {
				n, err := r.Read(buf)
				k.out.print(k.cells.latest(), name, buf[:n])
				if err != nil {
					return
				}
			}
		}()
	}
	return func() {
		os.Stdout, os.Stderr = stdout, stderr
		for _, w := range ends {
			w.Close()
		}
	}, nil
}

// NewLogger returns a log to the standard error of the process, which Jupyter
// shows in its terminal.
func NewLogger() *log.Logger { return log.New(os.Stderr, "gradbook: ", log.LstdFlags) }
