package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gradbook/install"
	"gradbook/kernel"
	"gradbook/kernel/live"
	"gradbook/kernel/notebook"
	"gradbook/kernel/runner"
	"gradbook/session"
)

type runCmd struct {
	Notebook    string            `arg:"" help:"Notebook to execute."`
	Out         string            `short:"o" placeholder:"FILE" help:"Where the executed notebook goes; default NAME.executed.ipynb beside it."`
	HTML        string            `placeholder:"FILE" help:"Write a self-contained page, too."`
	AllowErrors bool              `help:"Go on after a cell that fails."`
	Timeout     time.Duration     `placeholder:"DURATION" help:"Stop when a cell takes longer, such as 90s."`
	Param       map[string]string `short:"p" mapsep:"none" placeholder:"NAME=VALUE" help:"Parameter of the notebook, read as a number, true, false or null if it is one."`
	Raw         map[string]string `short:"r" mapsep:"none" placeholder:"NAME=TEXT" help:"Parameter that is text whatever it looks like."`
	Device      string            `placeholder:"NAME" help:"Device that new values go to."`
}

func (c runCmd) Run(ctx context.Context) error {
	nb, err := notebook.Read(c.Notebook)
	if err != nil {
		return err
	}
	undeclared, err := runner.Parameterize(nb, c.parameters())
	if err != nil {
		return err
	}
	for _, name := range undeclared {
		fmt.Fprintf(os.Stderr, "gradbook: the notebook's parameters cell does not declare %s\n", name)
	}
	if c.Device != "" {
		if _, err := session.Current().Use(c.Device); err != nil {
			return err
		}
	}
	out := c.Out
	if out == "" {
		out = strings.TrimSuffix(c.Notebook, ".ipynb") + ".executed.ipynb"
	}
	// The notebook runs in its own folder, as under Jupyter.
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	page := c.HTML
	if page != "" {
		if page, err = filepath.Abs(page); err != nil {
			return err
		}
	}
	if err := os.Chdir(filepath.Dir(c.Notebook)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		<-interrupts
		cancel(errors.New("interrupted"))
		signal.Stop(interrupts) // a second one ends the program
	}()
	failed := runner.Run(ctx, nb, runner.Options{
		Kernel:      live.Config(version(), kernel.NewLogger(), deviceNames),
		AllowErrors: c.AllowErrors,
		Timeout:     c.Timeout,
		Console:     runner.NewConsole(os.Stdout, filepath.Base(c.Notebook)),
	})
	if err := nb.Write(out); err != nil {
		return errors.Join(failed, err)
	}
	fmt.Println("wrote", out)
	if page != "" {
		if err := runner.WritePage(page, nb, install.ECharts()); err != nil {
			return errors.Join(failed, err)
		}
		fmt.Println("wrote", page)
	}
	return failed
}

func (c runCmd) parameters() []runner.Parameter {
	var params []runner.Parameter
	for name, text := range c.Param {
		params = append(params, runner.Parameter{Name: name, Text: text})
	}
	for name, text := range c.Raw {
		params = append(params, runner.Parameter{Name: name, Text: text, Raw: true})
	}
	slices.SortFunc(params, func(a, b runner.Parameter) int { return strings.Compare(a.Name, b.Name) })
	return params
}
