package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// writeTable writes a table in Markdown, its columns aligned for a terminal as well. A target whose benchmark did not run is
// a row too: what was not measured was not met.
func writeTable(w io.Writer, results []result, targets map[string]target) {
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(tw, "| "+strings.Join(cells, "\t| ")+"\t|") }
	row("package", "benchmark", "time", "of the first", "target", "other measurements")
	row("---", "---", "---", "---", "---", "---")
	first := map[string]float64{}
	measured := map[string]bool{}
	for _, r := range results {
		duration, timed := r.metric("ns/op")
		share := ""
		if timed && strings.Contains(r.name, "/") {
			if base, ok := first[r.group()]; ok && base > 0 {
				share = strconv.FormatFloat(duration/base, 'f', 2, 64)
			} else {
				first[r.group()], share = duration, "1"
			}
		}
		goal := ""
		if t, ok := targets[r.name]; ok {
			measured[t.name] = true
			value, _ := r.metric(t.unit)
			goal = verdict(t, value)
		}
		shown := ""
		if timed {
			shown = quantity(duration, "ns/op")
		}
		var others []string
		for _, m := range r.metrics {
			if m.unit != "ns/op" && m.value != 0 {
				others = append(others, quantity(m.value, m.unit))
			}
		}
		row(r.pkg, r.name, shown, share, goal, strings.Join(others, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		if !measured[name] {
			row("", name, "", "", "NOT MEASURED", targets[name].what)
		}
	}
	tw.Flush()
}

func verdict(t target, value float64) string {
	word := "met"
	if value > t.most {
		word = "MISSED"
	}
	return fmt.Sprintf("%s: %s at most", word, quantity(t.most, t.unit))
}

// quantity formats a value with its unit: times from ns to s, bytes from B to GB, others as they are.
func quantity(value float64, unit string) string {
	scale := func(step float64, units ...string) string {
		i := 0
		for value >= step && i < len(units)-1 {
			value /= step
			i++
		}
		digits := max(0, 2-int(math.Log10(max(value, 1)))) // three that count
		return strconv.FormatFloat(value, 'f', digits, 64) + " " + units[i]
	}
	switch unit {
	case "ns/op":
		return scale(1000, "ns", "us", "ms", "s")
	case "B/op", "bytes":
		return scale(1000, "B", "kB", "MB", "GB")
	default:
		return strconv.FormatFloat(value, 'g', 5, 64) + " " + unit
	}
}
