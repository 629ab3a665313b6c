package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
)

// A Connection is the content of a connection file: where a kernel listens
// and how its messages are signed.
type Connection struct {
	Transport       string `json:"transport"`
	IP              string `json:"ip"`
	ShellPort       int    `json:"shell_port"`
	IOPubPort       int    `json:"iopub_port"`
	StdinPort       int    `json:"stdin_port"`
	ControlPort     int    `json:"control_port"`
	HBPort          int    `json:"hb_port"`
	Key             string `json:"key"`
	SignatureScheme string `json:"signature_scheme"`
	KernelName      string `json:"kernel_name,omitempty"`
}

// ReadConnection reads and checks a connection file.
func ReadConnection(path string) (Connection, error) {
	var c Connection
	data, err := os.ReadFile(path)
	if err != nil {
		reason := err
		var pe *fs.PathError
		if errors.As(err, &pe) {
			reason = pe.Err
		}
		return c, fmt.Errorf("connection file %s cannot be read: %w; Jupyter writes one when it starts a kernel", path, reason)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("connection file %s is not what Jupyter writes: %w", path, err)
	}
	if err := c.check(); err != nil {
		return c, fmt.Errorf("connection file %s: %w", path, err)
	}
	return c, nil
}

func (c Connection) check() error {
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return fmt.Errorf("transport %q is not supported; tcp and ipc are", c.Transport)
	}
	if c.SignatureScheme != "" && c.SignatureScheme != "hmac-sha256" {
		return fmt.Errorf("signature_scheme %q is not supported; hmac-sha256 is", c.SignatureScheme)
	}
	if c.IP == "" {
		return errors.New("ip is missing")
	}
	for name, port := range c.ports() {
		if port < 0 || port > 65535 {
			return fmt.Errorf("%s_port %d is not a port", name, port)
		}
		if port == 0 && c.Transport == "ipc" {
			return fmt.Errorf("%s_port is missing", name)
		}
	}
	return nil
}

func (c Connection) ports() map[string]int {
	return map[string]int{
		"shell": c.ShellPort, "iopub": c.IOPubPort, "stdin": c.StdinPort,
		"control": c.ControlPort, "hb": c.HBPort,
	}
}

// address returns what net.Listen and net.Dial want for a port of c.
func (c Connection) address(port int) (network, addr string) {
	if c.Transport == "ipc" {
		return "unix", c.IP + "-" + strconv.Itoa(port)
	}
	ip := c.IP
	if ip == "*" {
		ip = ""
	}
	return "tcp", net.JoinHostPort(ip, strconv.Itoa(port))
}

// Write writes a connection file that only its owner can read: who has the
// key can run code in the kernel.
func (c Connection) Write(path string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o600)
}
