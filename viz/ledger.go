package viz

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gradbook/gpu"
	"gradbook/session"
	"gradbook/viz/display"
)

// Ledger shows what each cell made the devices do: a row for each cell and
// device, a cell that used none in one row of its own.
func Ledger(entries []session.Entry) display.Bundle {
	if len(entries) == 0 {
		return display.Text("no cell has ended yet")
	}
	t := ledgerTable(entries)
	p := picture{text: strings.TrimRight(t.String(), "\n"), still: t.picture("ledger"), more: `<div style="overflow-x:auto">` + t.HTML() + `</div>`}
	for _, k := range kernelTables(lastAtWork(entries)) {
		p.text += "\n\n" + strings.TrimRight(k.String(), "\n")
		p.more += `<details style="margin-top:4px"><summary style="font-size:12px">` + htmlEscape("kernels of "+k.foot[0]) + `</summary>` + k.HTML() + `</details>`
	}
	return p.bundle()
}

func ledgerTable(entries []session.Entry) *table {
	t := &table{head: []string{">cell", "device", ">wall time", ">device time", ">launches", ">up", ">down", ">waits", ">peak", ">kept", "notes"}}
	for _, e := range entries {
		cell := fmt.Sprintf("[%d]", e.Cell)
		if len(e.Work) == 0 {
			t.add(cell, "", duration(e.Wall), "", "", "", "", "", "", "", firstLine(e.Err))
		}
		for i, w := range e.Work {
			c := w.Counters
			wall, err := duration(e.Wall), firstLine(e.Err)
			if i > 0 {
				cell, wall, err = "", "", ""
			}
			t.add(cell, w.Device, wall, durationOrDash(deviceTime(w)), count(launches(c)), bytesOrDash(c.BytesUp), bytesOrDash(c.BytesDown),
				count(c.Reads), size(c.PeakBytes), signed(w.After-w.Before), ledgerNotes(c, err))
		}
	}
	return t
}

func ledgerNotes(c gpu.Counters, err string) string {
	var notes []string
	for _, n := range []struct {
		count int64
		what  string
	}{{c.Fallbacks, "fallback"}, {c.Spills, "spill"}, {c.Collects, "collection"}} {
		if n.count > 0 {
			notes = append(notes, plural(n.count, n.what))
		}
	}
	if err != "" {
		notes = append(notes, err)
	}
	return strings.Join(notes, ", ")
}

// lastAtWork is the last cell that launched something, the last one if none
// did.
func lastAtWork(entries []session.Entry) session.Entry {
	for i := len(entries) - 1; i >= 0; i-- {
		for _, w := range entries[i].Work {
			if launches(w.Counters) > 0 {
				return entries[i]
			}
		}
	}
	return entries[len(entries)-1]
}

// kernelTables lists the kernels that a cell launched, the most expensive
// first, for each device.
func kernelTables(e session.Entry) (tables []*table) {
	for _, w := range e.Work {
		t := &table{head: []string{"kernel", ">launches", ">device time"}}
		var ks []gpu.Kernel
		for k := range gpu.NumKernels {
			if w.Counters.Launches[k] > 0 {
				ks = append(ks, k)
			}
		}
		slices.SortStableFunc(ks, func(a, b gpu.Kernel) int {
			if c := cmp.Compare(w.KernelTime[b], w.KernelTime[a]); c != 0 {
				return c
			}
			return cmp.Compare(w.Counters.Launches[b], w.Counters.Launches[a])
		})
		for _, k := range ks {
			t.add(fmt.Sprint(k), count(w.Counters.Launches[k]), durationOrDash(w.KernelTime[k]))
		}
		if len(ks) > 0 {
			t.foot = []string{fmt.Sprintf("cell [%d] on %s", e.Cell, w.Device), count(launches(w.Counters)), durationOrDash(deviceTime(w))}
			tables = append(tables, t)
		}
	}
	return tables
}

func launches(c gpu.Counters) (n int64) {
	for _, l := range c.Launches {
		n += l
	}
	return n
}

func deviceTime(w session.Work) (t time.Duration) {
	for _, k := range w.KernelTime {
		t += k
	}
	return t
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	if r := []rune(line); len(r) > 48 {
		return string(r[:47]) + "…"
	}
	return line
}

func signed(bytes int64) string {
	switch {
	case bytes == 0:
		return "–"
	case bytes < 0:
		return "−" + size(-bytes)
	}
	return "+" + size(bytes)
}

// duration has three significant digits and the unit that suits them.
func duration(d time.Duration) string {
	switch s := d.Seconds(); {
	case s >= 100:
		return fmt.Sprintf("%.0f s", s)
	case s >= 0.9995:
		return fmt.Sprintf("%.3g s", s)
	case s >= 0.9995e-3:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g µs", d.Seconds()*1e6)
}

func durationOrDash(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return duration(d)
}
