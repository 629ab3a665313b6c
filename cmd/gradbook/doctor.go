package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"

	"gradbook/install"
	"gradbook/kernel/wire"
)

type doctorCmd struct{}

func (doctorCmd) Run(ctx context.Context) error {
	binary, err := program()
	if err != nil {
		return err
	}
	findings := append(install.Examine(binary), kernelStarts(ctx, binary))
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	trouble := 0
	for _, f := range findings {
		fmt.Fprintf(w, "%v\t%s\t%s\n", f.Level, f.What, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(w, "\t\t-> %s\n", f.Fix)
		}
		if f.Level == install.Trouble {
			trouble++
		}
	}
	w.Flush()
	if trouble > 0 {
		return exitStatus(1)
	}
	return nil
}

// kernelStarts starts this program as a kernel and asks it who it is.
func kernelStarts(ctx context.Context, binary string) install.Finding {
	f := install.Finding{What: "kernel"}
	took, err := tryKernel(ctx, binary)
	if err != nil {
		f.Level, f.Detail = install.Trouble, "does not start: "+err.Error()
		f.Fix = binary + " kernel FILE, with a connection file of Jupyter, shows why"
		return f
	}
	f.Detail = fmt.Sprintf("starts, and answers after %d ms", took.Milliseconds())
	return f
}

func tryKernel(ctx context.Context, binary string) (time.Duration, error) {
	dir, err := os.MkdirTemp("", "gradbook-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	conn := wire.Connection{Transport: "ipc", IP: filepath.Join(dir, "s"), Key: "doctor", SignatureScheme: "hmac-sha256",
		ShellPort: 1, IOPubPort: 2, StdinPort: 3, ControlPort: 4, HBPort: 5}
	file := filepath.Join(dir, "connection.json")
	if err := conn.Write(file); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "kernel", file)
	cmd.Env = append(os.Environ(), "GRADBOOK_HISTORY="+filepath.Join(dir, "history"))
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	client, err := wire.Dial(ctx, conn)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	id, err := client.Send(wire.Shell, "kernel_info_request", struct{}{})
	if err != nil {
		return 0, err
	}
	_, err = client.Reply(ctx, id)
	return time.Since(start), err
}
