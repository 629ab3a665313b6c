package live

import (
	"fmt"
	"strconv"
	"strings"

	"gradbook/kernel/magic"
	"gradbook/session"
	"gradbook/viz"
)

// lines are the % lines about the session; devices lists what can be opened.
func lines(s *session.Session, devices func() []string) []magic.Command {
	return []magic.Command{
		{Name: "device", Args: "[NAME [strict|permissive]]", Choices: devices,
			Help: "Shows the device that new values go to, or changes it: host, vulkan, cuda:0. A permissive one runs on the host what it cannot.",
			Run: func(c *magic.Context, arg, _ string) error {
				if err := useDevice(s, strings.Fields(arg)); err != nil {
					return err
				}
				d, err := s.Device()
				if err != nil {
					return err
				}
				i := d.Info()
				fmt.Fprintf(c.Stdout, "%s: %s\n", d, i.Name)
				return nil
			}},
		{Name: "residency", Help: "Draws who owns every byte, on the devices and in host memory.",
			Run: func(c *magic.Context, _, _ string) error {
				c.Show(viz.ResidencyMap(s.Snapshot()))
				return nil
			}},
		{Name: "ledger", Args: "[CELLS]", Help: "Shows what the last 20 cells, or the last CELLS, made the devices do.",
			Run: func(c *magic.Context, arg, _ string) error {
				n := 20
				if arg != "" {
					var err error
					if n, err = strconv.Atoi(arg); err != nil || n < 1 {
						return &magic.UsageError{Text: fmt.Sprintf("%%ledger takes a number of cells, not %q", arg)}
					}
				}
				entries := s.Snapshot().Ledger
				c.Show(viz.Ledger(entries[max(0, len(entries)-n):]))
				return nil
			}},
		{Name: "reopen", Help: "Opens the device anew after it was lost; values that the host has a copy of go on.",
			Run: func(c *magic.Context, _, _ string) error {
				r, err := s.Reopen()
				if err == nil {
					fmt.Fprintln(c.Stdout, r)
				}
				return err
			}},
		{Name: "free", Help: "Frees what no variable leads to, and the free buffers of all devices.",
			Run: func(c *magic.Context, _, _ string) error {
				given, held := s.Free()
				fmt.Fprintf(c.Stdout, "%v given back, %v held\n", given, held)
				return nil
			}},
	}
}

func useDevice(s *session.Session, args []string) error {
	if len(args) > 2 || len(args) == 2 && args[1] != "strict" && args[1] != "permissive" {
		return &magic.UsageError{Text: "%device takes a device, and then strict or permissive"}
	}
	if len(args) > 0 {
		if _, err := s.Use(args[0]); err != nil {
			return err
		}
	}
	if len(args) == 2 {
		return s.Permissive(args[1] == "permissive")
	}
	return nil
}
