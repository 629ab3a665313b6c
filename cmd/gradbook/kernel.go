package main

import (
	"context"

	"gradbook/kernel"
	"gradbook/kernel/live"
	"gradbook/kernel/wire"
)

type kernelCmd struct {
	Connection string `arg:"" help:"Connection file, as Jupyter writes it." type:"path"`
}

func (c kernelCmd) Run(ctx context.Context) error {
	conn, err := wire.ReadConnection(c.Connection)
	if err != nil {
		return err
	}
	logger := kernel.NewLogger()
	cfg := live.Config(version(), logger, deviceNames)
	cfg.History = live.History(logger)
	return kernel.Serve(ctx, conn, cfg)
}
