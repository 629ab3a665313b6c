// Command gradbook is a Jupyter kernel for Go, and the tools around it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	_ "gradbook/gpu/cuda"
	_ "gradbook/gpu/host"
	_ "gradbook/gpu/vulkan"
	"gradbook/kernel/runner"
)

type commands struct {
	Kernel    kernelCmd    `cmd:"" help:"Serve the kernel that a connection file describes. Jupyter runs this."`
	Install   installCmd   `cmd:"" help:"Put the kernel where Jupyter finds it."`
	Uninstall uninstallCmd `cmd:"" help:"Remove what install put there."`
	Run       runCmd       `cmd:"" help:"Execute a notebook, without Jupyter."`
	Devices   devicesCmd   `cmd:"" help:"List the devices that tensors can live on."`
	Doctor    doctorCmd    `cmd:"" help:"Say what is found, what is missing, and what to type."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
}

// exitStatus is an error that has been told to the user already.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() {
	var c commands
	parser := kong.Must(&c, kong.Name("gradbook"), kong.UsageOnError(),
		kong.Description("A Jupyter kernel for Go, with tensors, gradients and a GPU session that lives from cell to cell."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	k, err := parser.Parse(arguments(os.Args[1:]))
	parser.FatalIfErrorf(err)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	k.BindTo(ctx, (*context.Context)(nil))
	err = k.Run()
	var status exitStatus
	var cell *runner.CellError
	switch {
	case err == nil:
		return
	case errors.As(err, &status):
		os.Exit(int(status))
	case errors.As(err, &cell):
		fmt.Fprintln(os.Stderr, "gradbook:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, "gradbook:", err)
	os.Exit(1)
}

// arguments reads nothing, "help" and "help run" as people mean them.
func arguments(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(args[1:], "--help")
	}
	return args
}

type versionCmd struct{}

func (versionCmd) Run() error {
	fmt.Println("gradbook", version())
	return nil
}

// version is what the build recorded: the module's version, or the revision
// of the working tree it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = "+changes"
			}
		}
	}
	if revision == "" {
		return "devel"
	}
	return "devel-" + revision[:min(12, len(revision))] + modified
}
