package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// asCommand makes the test binary the command.
const asCommand = "GRADBOOK_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// gradbook runs the command in dir and returns what it printed and its exit
// status.
func gradbook(t *testing.T, dir string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asCommand+"=1", "HOME="+dir, "XDG_DATA_HOME=", "JUPYTER_DATA_DIR=", "VIRTUAL_ENV=", "CONDA_PREFIX=")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), status
}

// write writes a notebook with these code cells; the first has the tag
// "parameters".
func write(t *testing.T, path string, cells ...string) {
	t.Helper()
	var list []map[string]any
	for i, source := range cells {
		meta := map[string]any{}
		if i == 0 {
			meta["tags"] = []string{"parameters"}
		}
		list = append(list, map[string]any{"cell_type": "code", "id": string(rune('a' + i)), "metadata": meta,
			"source": source, "outputs": []any{}, "execution_count": nil})
	}
	data, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}, "cells": list})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRunCommand(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "sub"), 0o755)
	write(t, filepath.Join(dir, "sub", "n.ipynb"), "steps := 3\nrate := 0.5", `fmt.Println("steps", steps, rate/4)`, "%%writefile here.txt\nx", "steps * 2")
	stdout, stderr, status := gradbook(t, dir, "run", "sub/n.ipynb", "-o", "out/done.ipynb", "--html", "out/done.html", "-p", "steps=10", "-p", "rate=2", "-p", "odd=1")
	if status != 0 {
		t.Fatalf("status %d\n%s%s", status, stdout, stderr)
	}
	for _, want := range []string{"steps 10 0.5\n", "\n20\n", "wrote " + filepath.Join(dir, "out", "done.ipynb"), "wrote " + filepath.Join(dir, "out", "done.html")} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout lacks %q:\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, "does not declare odd") {
		t.Errorf("stderr: %s", stderr)
	}
	if nb := read(t, filepath.Join(dir, "out", "done.ipynb")); !strings.Contains(nb, `"injected-parameters"`) || !strings.Contains(nb, "steps 10 0.5") {
		t.Errorf("the executed notebook:\n%s", nb)
	}
	if page := read(t, filepath.Join(dir, "out", "done.html")); !strings.Contains(page, "steps 10 0.5") {
		t.Error("the page lacks the output")
	}
	if read(t, filepath.Join(dir, "sub", "here.txt")) != "x\n" {
		t.Error("a notebook runs in its own folder")
	}
}

func TestRunCommandThatFails(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "n.ipynb"), "fmt.Println(\"before\")", "var xs []int\nxs[3]", "fmt.Println(\"after\")")
	stdout, stderr, status := gradbook(t, dir, "run", "n.ipynb")
	if status != 1 || !strings.Contains(stderr, "cell 2 failed: Panic:") || strings.Contains(stdout, "after") {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
	if nb := read(t, filepath.Join(dir, "n.executed.ipynb")); !strings.Contains(nb, "before") || !strings.Contains(nb, `"output_type": "error"`) {
		t.Errorf("what was done is not kept:\n%s", nb)
	}
	if stdout, _, status = gradbook(t, dir, "run", "n.ipynb", "--allow-errors"); status != 0 || !strings.Contains(stdout, "after") {
		t.Errorf("--allow-errors: status %d\n%s", status, stdout)
	}
	write(t, filepath.Join(dir, "slow.ipynb"), "for {\n}")
	if _, stderr, status = gradbook(t, dir, "run", "slow.ipynb", "--timeout", "200ms"); status != 1 || !strings.Contains(stderr, "cell 1 took longer than 200ms") {
		t.Errorf("--timeout: status %d\n%s", status, stderr)
	}
	os.WriteFile(filepath.Join(dir, "bad.ipynb"), []byte("{\n oops"), 0o644)
	for args, want := range map[string]string{
		"run bad.ipynb":                 "bad.ipynb is not a notebook: line 2 is not JSON",
		"run none.ipynb":                "none.ipynb: no such file",
		"run n.ipynb -p 1x=3":           `parameter "1x"`,
		"run n.ipynb --device nowhere":  `unknown device "nowhere"`,
		"install --device nowhere":      `unknown device "nowhere"`,
		"kernel none.json":              "cannot be read",
		"kernel bad.ipynb":              "is not what Jupyter writes",
		"uninstall":                     "there is no kernel gradbook",
		"install --user --sys-prefix":   "can't be used together",
		"install --prefix p --name a/b": "kernel name",
		"run":                           "expected",
	} {
		if _, stderr, status := gradbook(t, dir, strings.Fields(args)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}

func TestInstallCommands(t *testing.T) {
	dir := t.TempDir()
	for _, flags := range [][]string{{}, {"--user"}, {"--prefix", "env"}, {"--prefix", "env", "--name", "other", "--device", "host"}} {
		if stdout, stderr, status := gradbook(t, dir, append([]string{"install"}, flags...)...); status != 0 || !strings.Contains(stdout, "installed the kernel") {
			t.Errorf("%v: status %d\n%s%s", flags, status, stdout, stderr)
		}
	}
	for _, want := range []string{".local/share/jupyter/kernels/gradbook", "env/share/jupyter/kernels/gradbook", "env/share/jupyter/kernels/other"} {
		if !strings.Contains(read(t, filepath.Join(dir, want, "kernel.json")), `"{connection_file}"`) {
			t.Errorf("%s is not a kernelspec", want)
		}
	}
	// The test binary is not named gradbook, as what is installed must be.
	stdout, _, _ := gradbook(t, dir, "doctor")
	if !regexp.MustCompile(`ok +kernel +starts, and answers after \d+ ms`).MatchString(stdout) {
		t.Errorf("doctor:\n%s", stdout)
	}
}

func TestDevicesCommand(t *testing.T) {
	stdout, _, status := gradbook(t, t.TempDir(), "devices")
	if status != 0 || !regexp.MustCompile(`(?m)^host +\S.*GiB$`).MatchString(stdout) {
		t.Errorf("status %d\n%s", status, stdout)
	}
}

func TestHelp(t *testing.T) {
	for args, want := range map[string]string{"": "doctor", "help": "doctor", "--help": "doctor", "help run": "--allow-errors", "version": "gradbook"} {
		if stdout, stderr, status := gradbook(t, t.TempDir(), strings.Fields(args)...); status != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%q: status %d\n%s%s", args, status, stdout, stderr)
		}
	}
}
