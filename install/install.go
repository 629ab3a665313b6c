package install

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed kernelspec
var kernelspec embed.FS

// ECharts returns the chart library that html output refers to.
func ECharts() string {
	data, err := kernelspec.ReadFile("kernelspec/echarts.min.js")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// DefaultName is the name of the kernelspec unless another is asked for.
const DefaultName = "gradbook"

// A Place is a Jupyter data directory: kernelspecs lie in its folder kernels.
type Place string

// User returns the data directory of the current user.
func User() (Place, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return Place(dir), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("the home directory is not known: %w", err)
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return Place(filepath.Join(dir, "jupyter")), nil
	}
	return Place(filepath.Join(home, ".local", "share", "jupyter")), nil
}

// Prefix returns the data directory under an installation prefix.
func Prefix(dir string) (Place, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return Place(filepath.Join(abs, "share", "jupyter")), nil
}

// SysPrefix returns the data directory of the active Python environment: a
// virtual environment, conda, or what python3 in PATH belongs to.
func SysPrefix() (Place, error) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(name); dir != "" {
			return Prefix(dir)
		}
	}
	out, err := exec.Command("python3", "-c", "import sys; print(sys.prefix)").Output()
	if err != nil {
		return "", fmt.Errorf("--sys-prefix needs python3 in PATH or an active virtual environment: %w", err)
	}
	return Prefix(strings.TrimSpace(string(out)))
}

// Spec is the content of kernel.json.
type Spec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
	Metadata      map[string]any    `json:"metadata"`
}

// Options say what a kernelspec is to start.
type Options struct {
	Name   string // of the folder; DefaultName if empty
	Binary string // absolute path of the program
	Device string // that new values go to; empty for the program's default
}

var validName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// Install writes the kernelspec and returns its folder. An older one of the
// same name is replaced; a folder that is not this program's is left alone.
func Install(place Place, o Options) (string, error) {
	if o.Name == "" {
		o.Name = DefaultName
	}
	if !validName.MatchString(o.Name) {
		return "", fmt.Errorf("kernel name %q: only letters, digits, '.', '_' and '-' are allowed", o.Name)
	}
	dir := place.spec(o.Name)
	if err := ours(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	spec := Spec{
		Argv:          []string{o.Binary, "kernel", "{connection_file}"},
		DisplayName:   displayName(o),
		Language:      "go",
		InterruptMode: "message",
		Env:           map[string]string{},
		Metadata:      map[string]any{"debugger": false},
	}
	if o.Name != DefaultName {
		// Charts fetch their library from the folder of the kernelspec.
		spec.Env["GRADBOOK_KERNELSPEC"] = strings.ToLower(o.Name)
	}
	if o.Device != "" {
		spec.Env["GRADBOOK_DEVICE"] = o.Device
	}
	// Jupyter may look at any time: the new folder is made aside and moved.
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	aside, err := os.MkdirTemp(filepath.Dir(dir), ".gradbook-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(aside)
	if err := write(aside, spec); err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.Rename(aside, dir)
}

func (p Place) spec(name string) string {
	return filepath.Join(string(p), "kernels", strings.ToLower(name))
}

func displayName(o Options) string {
	var marks []string
	if o.Name != DefaultName {
		marks = append(marks, o.Name)
	} else {
		marks = append(marks, "gradbook")
	}
	if o.Device != "" && !strings.Contains(o.Name, o.Device) {
		marks = append(marks, o.Device)
	}
	return "Go (" + strings.Join(marks, ", ") + ")"
}

func write(dir string, spec Spec) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	entries, err := kernelspec.ReadDir("kernelspec")
	if err != nil {
		return err
	}
	for _, e := range entries {
		data, err := kernelspec.ReadFile("kernelspec/" + e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), data, 0o644); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "kernel.json"), append(data, '\n'), 0o644)
}

// Uninstall removes a kernelspec of this program with all its files. It
// returns the folder, and fs.ErrNotExist when there is none.
func Uninstall(place Place, name string) (string, error) {
	if name == "" {
		name = DefaultName
	}
	if !validName.MatchString(name) {
		return "", fmt.Errorf("kernel name %q: only letters, digits, '.', '_' and '-' are allowed", name)
	}
	dir := place.spec(name)
	if err := ours(dir); err != nil {
		return dir, err
	}
	return dir, os.RemoveAll(dir)
}

// ours returns nil for a kernelspec of this program, fs.ErrNotExist where
// there is none, and another error for what is not to be touched.
func ours(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	spec, err := readSpec(dir)
	if err != nil {
		return fmt.Errorf("%s is not a kernelspec of gradbook, and is left alone: %w", dir, err)
	}
	if !spec.ours() {
		return fmt.Errorf("%s is the kernelspec of another program (%s), and is left alone", dir, strings.Join(spec.Argv, " "))
	}
	return nil
}

func (s Spec) ours() bool {
	return len(s.Argv) >= 3 && slices.Contains(s.Argv, "kernel") && s.Language == "go" &&
		strings.Contains(filepath.Base(s.Argv[0]), "gradbook")
}

func readSpec(dir string) (Spec, error) {
	var s Spec
	data, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("kernel.json: %w", err)
	}
	return s, nil
}
