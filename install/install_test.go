package install

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstallAndUninstall(t *testing.T) {
	root := t.TempDir()
	place, err := Prefix(root)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(root, "bin", "gradbook")
	for range 2 { // the second time over the first
		dir, err := Install(place, Options{Binary: binary})
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(root, "share", "jupyter", "kernels", "gradbook"); dir != want {
			t.Errorf("installed in %s, want %s", dir, want)
		}
		var spec Spec
		data, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &spec); err != nil {
			t.Fatal(err)
		}
		if strings.Join(spec.Argv, " ") != binary+" kernel {connection_file}" || spec.Language != "go" ||
			spec.InterruptMode != "message" || spec.DisplayName != "Go (gradbook)" || len(spec.Env) != 0 {
			t.Errorf("kernel.json: %+v", spec)
		}
		for _, name := range []string{"logo-32x32.png", "logo-64x64.png", "logo-svg.svg", "echarts.min.js", "echarts.LICENSE.txt", "echarts.NOTICE.txt"} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o644 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if info, _ := os.Stat(dir); info.Mode().Perm() != 0o755 {
			t.Errorf("others cannot read the folder: %v", info.Mode())
		}
	}
	if _, err := Uninstall(place, ""); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(root, "share", "jupyter", "kernels"))
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := Uninstall(place, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("uninstalled twice: %v", err)
	}
}

func TestNameAndDevice(t *testing.T) {
	place := Place(t.TempDir())
	dir, err := Install(place, Options{Name: "Go-GPU", Binary: "/x/gradbook", Device: "vulkan"})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := readSpec(dir)
	if err != nil || filepath.Base(dir) != "go-gpu" || spec.DisplayName != "Go (Go-GPU, vulkan)" ||
		spec.Env["GRADBOOK_DEVICE"] != "vulkan" || spec.Env["GRADBOOK_KERNELSPEC"] != "go-gpu" {
		t.Errorf("%s: %+v, %v", dir, spec, err)
	}
	for _, name := range []string{"a/b", "..\\x", "a b", "../up"} {
		if _, err := Install(place, Options{Name: name, Binary: "/x"}); err == nil {
			t.Errorf("name %q was taken", name)
		}
		if _, err := Uninstall(place, name); err == nil {
			t.Errorf("name %q was removed", name)
		}
	}
}

func TestOtherKernelsAreLeftAlone(t *testing.T) {
	place := Place(t.TempDir())
	dir := place.spec("python3")
	os.MkdirAll(dir, 0o755)
	for _, content := range []string{`{"argv":["python","-m","ipykernel_launcher"],"language":"python"}`, "{", ""} {
		os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(content), 0o644)
		if _, err := Install(place, Options{Name: "python3", Binary: "/x/gradbook"}); err == nil || !strings.Contains(err.Error(), "left alone") {
			t.Errorf("install over %q: %v", content, err)
		}
		if _, err := Uninstall(place, "python3"); err == nil || !strings.Contains(err.Error(), "left alone") {
			t.Errorf("uninstall of %q: %v", content, err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "kernel.json")); string(got) != content {
			t.Error("it was changed")
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Setenv("HOME", "/h")
	for _, name := range []string{"JUPYTER_DATA_DIR", "XDG_DATA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX"} {
		t.Setenv(name, "")
	}
	user := func() string { p, _ := User(); return string(p) }
	if got := user(); got != "/h/.local/share/jupyter" {
		t.Errorf("user: %s", got)
	}
	t.Setenv("JUPYTER_DATA_DIR", "/j")
	if got := user(); got != "/j" {
		t.Errorf("with JUPYTER_DATA_DIR: %s", got)
	}
	t.Setenv("VIRTUAL_ENV", "/v")
	if p, err := SysPrefix(); err != nil || p != "/v/share/jupyter" {
		t.Errorf("sys-prefix: %s, %v", p, err)
	}
}

// find returns the first finding whose What begins like that.
func find(t *testing.T, findings []Finding, what string) Finding {
	t.Helper()
	for _, f := range findings {
		if strings.HasPrefix(f.What, what) {
			if (f.Level == Good) != (f.Fix == "") {
				t.Errorf("%s is %v with the fix %q", f.What, f.Level, f.Fix)
			}
			return f
		}
	}
	t.Fatalf("nothing about %s", what)
	return Finding{}
}

func TestDoctorFindsTheUsualTroubles(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"JUPYTER_DATA_DIR", "XDG_DATA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", home)
	binary := filepath.Join(home, "gradbook")
	program := func(path, script string) {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program(binary, "")
	for _, what := range []string{"jupyter", "kernelspec"} {
		if f := find(t, Examine(binary), what); f.Level != Trouble {
			t.Errorf("%s: %+v", what, f)
		}
	}
	if f := find(t, Examine(binary), "go command"); f.Level != Note || !strings.Contains(f.Detail, "%get") {
		t.Errorf("go: %+v", f)
	}
	if f := library("nothing", "libnothing-at-all.so.9", "apt-get install it", "something is slow"); f.Level != Note || !strings.Contains(f.Detail, "something is slow") {
		t.Errorf("library: %+v", f)
	}
	if f := find(t, Examine(binary), "data folder"); f.Level != Good {
		t.Errorf("data folder: %+v", f)
	}

	program(filepath.Join(home, "jupyter"), "echo 'jupyterlab : 4.4.1'\n")
	if f := find(t, Examine(binary), "jupyter"); f.Level != Good || !strings.Contains(f.Detail, "jupyterlab 4.4.1") {
		t.Errorf("jupyter: %+v", f)
	}
	program(filepath.Join(home, "jupyter"), "exit 1\n")
	if f := find(t, Examine(binary), "jupyter"); f.Level != Trouble || !strings.Contains(f.Detail, "does not run") {
		t.Errorf("a broken jupyter: %+v", f)
	}

	place, _ := User()
	dir, err := Install(place, Options{Binary: binary})
	if err != nil {
		t.Fatal(err)
	}
	if f := find(t, Examine(binary), "kernelspec gradbook"); f.Level != Good {
		t.Errorf("installed: %+v", f)
	}
	other := filepath.Join(home, "gradbook2")
	program(other, "")
	if f := find(t, Examine(other), "kernelspec gradbook"); f.Level != Note || !strings.Contains(f.Detail, "another program") {
		t.Errorf("installed by another binary: %+v", f)
	}
	os.Remove(filepath.Join(dir, "echarts.min.js"))
	if f := find(t, Examine(binary), "kernelspec gradbook"); f.Level != Trouble || !strings.Contains(f.Detail, "echarts") {
		t.Errorf("without its charts: %+v", f)
	}
	os.Remove(binary)
	if f := find(t, Examine(other), "kernelspec gradbook"); f.Level != Trouble || !strings.Contains(f.Detail, "not there any more") {
		t.Errorf("the binary has moved: %+v", f)
	}
}
