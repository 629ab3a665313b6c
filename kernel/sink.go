package kernel

import "gradbook/viz/display"

// sink shows bundles under the cell that the calling goroutine belongs to, or
// under the latest one.
type sink struct{ k *Kernel }

func (s sink) Display(b display.Bundle, id string) { s.publish("display_data", b, id) }
func (s sink) Update(b display.Bundle, id string)  { s.publish("update_display_data", b, id) }

func (s sink) publish(msgType string, b display.Bundle, id string) {
	from := s.k.caller()
	if from != nil && from.silent {
		return
	}
	content := bundle(b)
	if id != "" {
		content.Transient = map[string]any{"display_id": id}
	}
	s.k.out.publish(from, msgType, content)
}

func (s sink) Clear(wait bool) {
	from := s.k.caller()
	if from != nil && from.silent {
		return
	}
	s.k.out.publish(from, "clear_output", map[string]bool{"wait": wait})
}

func bundle(b display.Bundle) bundleContent {
	c := bundleContent{Data: b.Data, Metadata: b.Metadata}
	if c.Data == nil {
		c.Data = map[string]any{}
	}
	if c.Metadata == nil {
		c.Metadata = map[string]any{}
	}
	return c
}
