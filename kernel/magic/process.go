package magic

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// After an interrupt a process has this long to end before it is killed.
const grace = 500 * time.Millisecond

// shell runs one command line; its exit status is told on stderr.
func shell(c *Context, command string) error {
	return process(c, exec.Command("sh", "-c", command))
}

func bash(c *Context, arg, body string) error {
	path, err := exec.LookPath("bash")
	if err != nil {
		return fmt.Errorf("%%%%bash: bash is not installed or not in PATH: %w", err)
	}
	args := append([]string{"-c", strings.TrimLeft(body, "\n"), "bash"}, strings.Fields(arg)...)
	return process(c, exec.Command(path, args...))
}

// process runs cmd in a process group of its own and shows its output as it
// comes. An interrupt reaches the whole group.
func process(c *Context, cmd *exec.Cmd) error {
	cmd.Stdout, cmd.Stderr = c.Stdout, c.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A background process that keeps the output open must not hold the cell.
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ended:
			return
		case <-c.Done():
		}
		syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		select {
		case <-ended:
		case <-time.After(grace):
		}
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}()
	err := cmd.Wait()
	close(ended)
	<-stopped
	if c.Err() != nil {
		return context.Cause(c)
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		return nil
	case errors.As(err, &exit):
		fmt.Fprintf(c.Stderr, "%v\n", exit)
		return fmt.Errorf("%w: %v", ErrFailed, exit)
	}
	return err
}

// cpuTime returns what the process has used so far.
func cpuTime() (user, system time.Duration) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}
