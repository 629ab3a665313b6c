package install

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ebitengine/purego"
)

// A Level says how bad a finding is.
type Level int

const (
	Good    Level = iota
	Note          // something optional is not there
	Trouble       // something will not work
)

func (l Level) String() string { return [...]string{"ok", "--", "!!"}[l] }

// A Finding is one thing that was looked at.
type Finding struct {
	Level  Level
	What   string // a few words
	Detail string // what was found
	Fix    string // what to type; empty when nothing is wrong
}

// Examine looks at all that Jupyter and the devices need, with binary as the
// program that kernelspecs should start.
func Examine(binary string) []Finding {
	findings := []Finding{jupyter()}
	findings = append(findings, kernelspecs(binary)...)
	findings = append(findings,
		library("OpenBLAS", "libopenblas.so.0", "apt-get install libopenblas0-pthread", "matrix products on the host use a slower library"),
		library("Vulkan loader", "libvulkan.so.1", "apt-get install libvulkan1", "the vulkan device is not available"),
		library("CUDA driver", "libcuda.so.1", "install the NVIDIA driver", "the cuda device is not available"),
		goCommand(), dataDir())
	return findings
}

func jupyter() Finding {
	f := Finding{What: "jupyter"}
	path, err := exec.LookPath("jupyter")
	if err != nil {
		f.Level, f.Detail = Trouble, "not in PATH"
		f.Fix = "pip install jupyterlab, or activate the environment that has it"
		return f
	}
	f.Detail = path
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		f.Level, f.Detail = Trouble, path+" does not run: "+err.Error()
		f.Fix = "reinstall it: pip install --force-reinstall jupyter-core"
		return f
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		name, version, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); ok && (name == "jupyterlab" || name == "notebook" || name == "jupyter_client") {
			f.Detail += ", " + name + " " + strings.TrimSpace(version)
		}
	}
	return f
}

// searchPath returns the folders in which Jupyter looks for kernelspecs.
func searchPath() []string {
	if path, err := exec.LookPath("jupyter"); err == nil {
		if out, err := exec.Command(path, "--paths", "--json").Output(); err == nil {
			var paths struct{ Data []string }
			if json.Unmarshal(out, &paths) == nil && len(paths.Data) > 0 {
				return paths.Data
			}
		}
	}
	var dirs []string
	if p, err := User(); err == nil {
		dirs = append(dirs, string(p))
	}
	if p, err := SysPrefix(); err == nil {
		dirs = append(dirs, string(p))
	}
	return append(dirs, "/usr/local/share/jupyter", "/usr/share/jupyter")
}

func kernelspecs(binary string) []Finding {
	var findings []Finding
	seen := make(map[string]bool)
	for _, dir := range searchPath() {
		specs, _ := filepath.Glob(filepath.Join(dir, "kernels", "*", "kernel.json"))
		for _, file := range specs {
			folder := filepath.Dir(file)
			spec, err := readSpec(folder)
			if seen[folder] || err != nil || !spec.ours() {
				continue
			}
			seen[folder] = true
			findings = append(findings, examineSpec(folder, spec, binary))
		}
	}
	if len(findings) == 0 {
		return []Finding{{Trouble, "kernelspec", "none is where Jupyter looks", "gradbook install --user"}}
	}
	return findings
}

func examineSpec(folder string, spec Spec, binary string) Finding {
	f := Finding{What: "kernelspec " + filepath.Base(folder), Detail: folder}
	again := fmt.Sprintf("%s install --name %s, with --user, --sys-prefix or --prefix as before", binary, filepath.Base(folder))
	program, err := exec.LookPath(spec.Argv[0])
	switch {
	case err != nil:
		f.Level, f.Fix = Trouble, again
		f.Detail += " starts " + spec.Argv[0] + ", which is not there any more"
		return f
	case !sameFile(program, binary):
		f.Level, f.Fix = Note, again
		f.Detail += " starts another program than this one: " + program
	}
	data, err := os.ReadFile(filepath.Join(folder, "echarts.min.js"))
	if err != nil || string(data) != ECharts() {
		f.Level, f.Fix = Trouble, again
		f.Detail += " lacks its echarts.min.js: charts would show as still pictures"
	}
	return f
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func library(what, soname, fix, without string) Finding {
	handle, err := purego.Dlopen(soname, purego.RTLD_LAZY|purego.RTLD_LOCAL)
	if err != nil {
		return Finding{Note, what, soname + " is not there: " + without, fix}
	}
	purego.Dlclose(handle)
	return Finding{Good, what, soname, ""}
}

func goCommand() Finding {
	path, err := exec.LookPath("go")
	if err != nil {
		return Finding{Note, "go command", "not in PATH; only %get needs it", "install Go from https://go.dev/dl and add its bin folder to PATH"}
	}
	return Finding{Good, "go command", path, ""}
}

func dataDir() Finding {
	p, err := User()
	if err != nil {
		return Finding{Trouble, "data folder", err.Error(), "set HOME"}
	}
	dir := string(p)
	for {
		if info, err := os.Stat(dir); err == nil {
			if !info.IsDir() {
				return Finding{Trouble, "data folder", dir + " is not a folder", "remove it"}
			}
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".gradbook-")
	if err != nil {
		return Finding{Trouble, "data folder", err.Error(), "make " + dir + " writable for you"}
	}
	f.Close()
	os.Remove(f.Name())
	return Finding{Good, "data folder", string(p), ""}
}
