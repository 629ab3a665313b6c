package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gradbook/gpu"
	"gradbook/gpu/kernels"
)

// moduleRoot is the directory of go.mod, from the working directory upward.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("not inside the module: no go.mod in this directory or above")
		}
		dir = up
	}
}

// build makes every generated file and returns the paths of those that differ
// from what is on disk; unless check is set it writes them.
func build(c *compilers, check bool, only string) (changed []string, err error) {
	dir := filepath.Join(c.root, "gpu", "kernels")
	var mu sync.Mutex
	put := func(path string, content []byte) error {
		old, err := os.ReadFile(filepath.Join(dir, path))
		if err == nil && bytes.Equal(old, content) {
			return nil
		}
		mu.Lock()
		changed = append(changed, path)
		mu.Unlock()
		if check {
			return nil
		}
		return os.WriteFile(filepath.Join(dir, path), content, 0o644)
	}
	if err := put("src/params.slang", declarations()); err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	type job struct {
		m kernels.Module
		t gpu.DType
	}
	var jobs []job
	for _, m := range kernels.Modules {
		for _, t := range m.DTypes {
			wanted[fmt.Sprintf("spirv/%s.%s.spv", m.Name, t)] = true
			wanted[fmt.Sprintf("ptx/%s.%s.ptx", m.Name, t)] = !m.VulkanOnly
			if strings.HasPrefix(m.Name, only) {
				jobs = append(jobs, job{m, t})
			}
		}
	}
	next := make(chan job)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for j := range next {
				if errs[w] == nil {
					errs[w] = compile(c, dir, j.m, j.t, put)
				}
			}
		})
	}
	for _, j := range jobs {
		next <- j
	}
	close(next)
	wg.Wait()
	for _, form := range []string{"spirv", "ptx"} {
		files, err := os.ReadDir(filepath.Join(dir, form))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			path := form + "/" + f.Name()
			if wanted[path] {
				continue
			}
			changed = append(changed, path+" (no such module)")
			if !check {
				if err := os.Remove(filepath.Join(dir, path)); err != nil {
					return nil, err
				}
			}
		}
	}
	slices.Sort(changed)
	return changed, errors.Join(errs...)
}

func compile(c *compilers, dir string, m kernels.Module, t gpu.DType, put func(string, []byte) error) error {
	src := filepath.Join(dir, "src", m.Source+".slang")
	spv, err := c.spirv(src, m, t)
	if err != nil {
		return fmt.Errorf("%s %s to SPIR-V: %w", m.Name, t, err)
	}
	if err := put(fmt.Sprintf("spirv/%s.%s.spv", m.Name, t), spv); err != nil || m.VulkanOnly {
		return err
	}
	old, err := os.ReadFile(filepath.Join(dir, "ptx", fmt.Sprintf("%s.%s.ptx", m.Name, t)))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ptx, err := c.ptx(src, m, t, old)
	if err != nil {
		return fmt.Errorf("%s %s to PTX: %w", m.Name, t, err)
	}
	return put(fmt.Sprintf("ptx/%s.%s.ptx", m.Name, t), ptx)
}
