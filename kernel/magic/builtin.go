package magic

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// builtin returns the commands that need nothing but a Context.
func (s *Set) builtin() []Command {
	return []Command{
		{Name: "help", Help: "Lists what a cell may hold beside Go.", Run: s.help},
		{Name: "time", Args: "CODE", Go: true, Help: "Runs Go code and says how long it took.", Run: timeLine},
		{Name: "time", Whole: true, Go: true, Help: "Runs the rest of the cell and says how long it took.",
			Run: func(c *Context, arg, body string) error {
				if arg != "" {
					return usage("%%%%time stands alone on its line; for one line of code write %%time %s", arg)
				}
				return timed(c, body)
			}},
		{Name: "bash", Args: "", Whole: true, Help: "Runs the rest of the cell in bash; fails as the script does.",
			Run: func(c *Context, arg, body string) error { return bash(c, arg, body) }},
		{Name: "writefile", Args: "[-a] FILE", Whole: true, Paths: true, Help: "Writes the rest of the cell to a file; -a appends.", Run: writeFile},
		{Name: "who", Args: "[PREFIX]", Help: "Lists the names that cells have defined.", Run: who},
		{Name: "reset", Help: "Forgets every name and value.", Run: reset},
		{Name: "env", Args: "[NAME[=VALUE]]", Help: "Shows or sets environment variables.", Run: env},
		{Name: "cd", Args: "[DIR]", Paths: true, Help: "Changes the working directory; - goes back, nothing goes home.", Run: s.cd},
		{Name: "get", Args: "MODULE[@VERSION]", Help: "Makes a Go module importable.", Run: get},
	}
}

func (s *Set) help(c *Context, _, _ string) error {
	w := tabwriter.NewWriter(c.Stdout, 0, 8, 2, ' ', 0)
	for _, cmd := range s.commands {
		fmt.Fprintf(w, "%s\t%s\n", strings.TrimSpace(cmd.mark()+" "+cmd.Args), cmd.Help)
	}
	fmt.Fprintf(w, "!COMMAND\tRuns a shell command and shows its output as it comes.\n")
	fmt.Fprintf(w, "exit, quit\tLeaves a console.\n")
	return w.Flush()
}

func timeLine(c *Context, arg, _ string) error {
	if arg == "" {
		return usage("%%time needs code on its line, as in %%time work(100); %%%%time times a whole cell")
	}
	return timed(c, arg)
}

func timed(c *Context, src string) error {
	user0, sys0 := cpuTime()
	start := time.Now()
	err := c.Run(src)
	wall := elapsed(start)
	user, sys := cpuTime()
	fmt.Fprintf(c.Stdout, "wall %s, user %s, system %s\n", wall,
		(user - user0).Round(10*time.Microsecond), (sys - sys0).Round(10*time.Microsecond))
	return err
}

func writeFile(c *Context, arg, body string) error {
	flags := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	verb := "wrote"
	if rest, ok := strings.CutPrefix(arg, "-a "); ok {
		arg, verb = strings.TrimSpace(rest), "appended to"
		flags = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	if arg == "" {
		return usage("%%%%writefile needs the name of a file")
	}
	body = strings.TrimLeft(body, "\n")
	if body != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	f, err := os.OpenFile(expand(arg), flags, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(body); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "%s %s\n", verb, arg)
	return nil
}

func who(c *Context, prefix, _ string) error {
	names := c.Names()
	names = slices.DeleteFunc(names, func(n Name) bool { return !strings.HasPrefix(n.Name, prefix) })
	if len(names) == 0 {
		fmt.Fprintln(c.Stdout, "no names are defined")
		return nil
	}
	slices.SortFunc(names, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	w := tabwriter.NewWriter(c.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTYPE\tCELL")
	for _, n := range names {
		fmt.Fprintf(w, "%s\t%s\t[%d]\n", n.Name, n.Type, n.Cell)
	}
	return w.Flush()
}

func reset(c *Context, arg, _ string) error {
	if arg != "" {
		return usage("%%reset forgets everything and takes no argument; got %q", arg)
	}
	if err := c.Reset(); err != nil {
		return err
	}
	fmt.Fprintln(c.Stdout, "all names are forgotten")
	return nil
}

func env(c *Context, arg, _ string) error {
	if arg == "" {
		all := os.Environ()
		slices.Sort(all)
		for _, kv := range all {
			fmt.Fprintln(c.Stdout, kv)
		}
		return nil
	}
	name, value, set := strings.Cut(arg, "=")
	if !set {
		name, value, set = strings.Cut(arg, " ")
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if set {
		if err := os.Setenv(name, value); err != nil {
			return usage("%%env %s: %v", arg, err)
		}
		fmt.Fprintf(c.Stdout, "%s=%s\n", name, value)
		return nil
	}
	value, ok := os.LookupEnv(name)
	if !ok {
		return usage("%%env: %s is not set; write %%env %s=value to set it", name, name)
	}
	fmt.Fprintln(c.Stdout, value)
	return nil
}

func (s *Set) cd(c *Context, arg, _ string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	switch arg {
	case "":
		if arg, err = os.UserHomeDir(); err != nil {
			return err
		}
	case "-":
		if s.previous == "" {
			return usage("%%cd -: there is no earlier directory")
		}
		arg = s.previous
	}
	if err := os.Chdir(expand(strings.Trim(arg, `"'`))); err != nil {
		return err
	}
	s.previous = here
	there, err := os.Getwd()
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Stdout, there)
	return nil
}

func get(c *Context, arg, _ string) error {
	if arg == "" || strings.ContainsAny(arg, " \t") {
		return usage("%%get needs one module path, as in %%get github.com/google/uuid@v1.6.0")
	}
	if err := c.Get(arg); err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "%s can be imported\n", arg)
	return nil
}

// expand replaces a leading ~ by the home directory.
func expand(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, path[1:])
		}
	}
	return path
}
