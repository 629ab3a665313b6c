package live

import (
	"fmt"

	"gradbook/kernel/magic"
	"gradbook/session"
)

// lines are the % lines about the session; devices lists what can be opened.
func lines(s *session.Session, devices func() []string) []magic.Command {
	return []magic.Command{
		{Name: "device", Args: "[NAME]", Help: "Shows the device that new values go to, or changes it: host, vulkan, cuda:0.",
			Choices: devices,
			Run: func(c *magic.Context, name, _ string) error {
				d, err := s.Device()
				if name != "" {
					d, err = s.Use(name)
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(c.Stdout, d)
				return nil
			}},
		{Name: "free", Help: "Frees what no variable leads to, and the free buffers of all devices.",
			Run: func(c *magic.Context, _, _ string) error {
				before := deviceBytes(s)
				s.Free()
				fmt.Fprintf(c.Stdout, "%d bytes freed, %d in use\n", before-deviceBytes(s), deviceBytes(s))
				return nil
			}},
	}
}

func deviceBytes(s *session.Session) (n int64) {
	for _, d := range s.Snapshot().Devices {
		n += d.InUse
	}
	return n
}
