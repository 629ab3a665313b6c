package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A result is one benchmark line: its name without the Benchmark prefix and the number of processors, and
// its measurements in the order printed.
type result struct {
	pkg     string
	name    string
	metrics []metric
}

type metric struct {
	value float64
	unit  string // ns/op, B/op, ...
}

func (r result) metric(unit string) (float64, bool) {
	for _, m := range r.metrics {
		if m.unit == unit {
			return m.value, true
		}
	}
	return 0, false
}

// group is the name of the benchmark that a sub-benchmark belongs to.
func (r result) group() string {
	group, _, _ := cutLast(r.name, "/")
	return r.pkg + " " + group
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

var processors = regexp.MustCompile(`-\d+$`)

// parseLine reads a line such as "BenchmarkStep/host-2  300  4000000 ns/op  12 B/op".
func parseLine(line string) (result, bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return result{}, false
	}
	if _, err := strconv.Atoi(fields[1]); err != nil {
		return result{}, false
	}
	r := result{name: processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")}
	for i := 2; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return result{}, false
		}
		r.metrics = append(r.metrics, metric{value, fields[i+1]})
	}
	return r, true
}

func packageOf(line string) (string, bool) {
	pkg, ok := strings.CutPrefix(line, "pkg: ")
	return strings.TrimPrefix(pkg, "gradbook/"), ok
}

func isFailure(line string) bool {
	return strings.HasPrefix(line, "--- FAIL: ") || strings.HasPrefix(line, "FAIL\t")
}

// A target is the most that one metric of a benchmark may be.
type target struct {
	name, unit string
	most       float64
	what       string
}

// parseTargets reads lines of "name unit most what it is"; # starts a comment.
func parseTargets(text string) (map[string]target, error) {
	targets := map[string]target{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) < 4 {
			return nil, fmt.Errorf("targets.txt:%d: want name, unit, most, what it is", i+1)
		}
		most, err := strconv.ParseFloat(fields[2], 64)
		if err != nil || most <= 0 {
			return nil, fmt.Errorf("targets.txt:%d: %q is no positive number", i+1, fields[2])
		}
		t := target{fields[0], fields[1], most, strings.Join(fields[3:], " ")}
		if _, taken := targets[t.name]; taken {
			return nil, fmt.Errorf("targets.txt:%d: a second target for %s", i+1, t.name)
		}
		targets[t.name] = t
	}
	return targets, nil
}
