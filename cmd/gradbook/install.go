package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gradbook/install"
)

// place is where a kernelspec goes: one of three flags.
type place struct {
	User      bool   `xor:"place" help:"For the current user (the default)."`
	SysPrefix bool   `xor:"place" help:"Into the active Python environment."`
	Prefix    string `xor:"place" placeholder:"DIR" help:"Under DIR/share/jupyter."`
	Name      string `default:"gradbook" help:"Name of the kernelspec."`
}

func (p place) find() (install.Place, error) {
	switch {
	case p.SysPrefix:
		return install.SysPrefix()
	case p.Prefix != "":
		return install.Prefix(p.Prefix)
	}
	return install.User()
}

type installCmd struct {
	place
	Device string `placeholder:"NAME" help:"Device that new values go to: host, vulkan, cuda:0."`
}

func (c installCmd) Run() error {
	if err := knownDriver(c.Device); err != nil {
		return err
	}
	where, err := c.find()
	if err != nil {
		return err
	}
	binary, err := program()
	if err != nil {
		return err
	}
	dir, err := install.Install(where, install.Options{Name: c.Name, Binary: binary, Device: c.Device})
	if err != nil {
		return err
	}
	fmt.Printf("installed the kernel %s in %s\nit starts %s\n", c.Name, dir, binary)
	return nil
}

// program returns the path of this program without symbolic links.
func program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

type uninstallCmd struct{ place }

func (c uninstallCmd) Run() error {
	where, err := c.find()
	if err != nil {
		return err
	}
	dir, err := install.Uninstall(where, c.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no kernel %s in %s; `gradbook doctor` lists those that Jupyter finds", c.Name, filepath.Dir(dir))
	}
	if err != nil {
		return err
	}
	fmt.Println("removed", dir)
	return nil
}
