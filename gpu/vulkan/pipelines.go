package vulkan

/*
#include <stdlib.h>
#include <string.h>
#include "calls.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"gradbook/gpu"
	"gradbook/gpu/kernels"
)

// pipelines are made at first use and kept, on disk too: a driver takes up to
// half a second for a large one.
type pipelines struct {
	layout  vk.PipelineLayout
	cache   vk.PipelineCache
	file    string // "" where there is no place for one
	saved   uint   // bytes of the cache's content on disk
	modules map[moduleKey]vk.ShaderModule
	made    map[pipelineKey]unsafe.Pointer
}

type moduleKey struct {
	name  string
	dtype gpu.DType
}

type pipelineKey struct {
	code  *kernels.Code
	dtype gpu.DType
	op    uint32
}

func (p *pipelines) open(b *Backend) error {
	p.modules, p.made = map[moduleKey]vk.ShaderModule{}, map[pipelineKey]unsafe.Pointer{}
	var layout unsafe.Pointer
	if r := C.gb_layout(loader.getDeviceProc, unsafe.Pointer(b.device), gpu.MaxBlock, &layout); r != 0 {
		return resultError(int(r))
	}
	p.layout = vk.PipelineLayout(layout)
	var content []byte
	if dir, err := os.UserCacheDir(); err == nil {
		p.file = filepath.Join(dir, "gradbook", "vulkan-"+b.physical.cacheKey)
		content, _ = os.ReadFile(p.file)
	}
	p.saved = uint(len(content))
	cacheInfo := vk.PipelineCacheCreateInfo{SType: vk.StructureTypePipelineCacheCreateInfo}
	if len(content) > 0 {
		data := C.CBytes(content)
		defer C.free(data)
		cacheInfo.InitialDataSize, cacheInfo.PInitialData = uint(len(content)), data
	}
	var cache vk.PipelineCache
	r := vk.CreatePipelineCache(b.device, &cacheInfo, nil, &cache)
	cacheInfo.Free()
	p.cache = cache
	return resultError(int(r))
}

// get returns the pipeline of a code for a dtype, with its operation fixed unless
// op is kernels.NoOp.
func (p *pipelines) get(b *Backend, code *kernels.Code, t gpu.DType, op uint32) (unsafe.Pointer, error) {
	key := pipelineKey{code, t, op}
	if made, ok := p.made[key]; ok {
		return made, nil
	}
	module, err := p.module(b, moduleKey{code.Module, t})
	if err != nil {
		return nil, err
	}
	name := C.CString(code.Name)
	defer C.free(unsafe.Pointer(name))
	var made unsafe.Pointer
	if r := C.gb_pipeline(loader.getDeviceProc, unsafe.Pointer(b.device), unsafe.Pointer(p.cache), unsafe.Pointer(p.layout),
		unsafe.Pointer(module), name, C.uint32_t(op), &made); r != 0 {
		return nil, fmt.Errorf("compile %s: %w", code.Name, resultError(int(r)))
	}
	p.made[key] = made
	return made, nil
}

func (p *pipelines) module(b *Backend, key moduleKey) (vk.ShaderModule, error) {
	if m, ok := p.modules[key]; ok {
		return m, nil
	}
	code, err := kernels.SPIRV(key.name, key.dtype)
	if err != nil {
		return nil, err
	}
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	info := vk.ShaderModuleCreateInfo{SType: vk.StructureTypeShaderModuleCreateInfo, CodeSize: uint(len(code)), PCode: words}
	var m vk.ShaderModule
	r := vk.CreateShaderModule(b.device, &info, nil, &m)
	info.Free()
	if r != vk.Success {
		return nil, fmt.Errorf("load %s %s: %w", key.name, key.dtype, resultError(int(r)))
	}
	p.modules[key] = m
	return m, nil
}

func (p *pipelines) close(b *Backend) {
	p.save(b)
	for _, made := range p.made {
		vk.DestroyPipeline(b.device, vk.Pipeline(made), nil)
	}
	for _, m := range p.modules {
		vk.DestroyShaderModule(b.device, m, nil)
	}
	if p.cache != vk.NullPipelineCache {
		vk.DestroyPipelineCache(b.device, p.cache, nil)
	}
	if p.layout != vk.NullPipelineLayout {
		vk.DestroyPipelineLayout(b.device, p.layout, nil)
	}
}

// save writes the cache where it has grown. It is a convenience: a disk that
// cannot be written costs the next session its compile time and nothing else.
func (p *pipelines) save(b *Backend) {
	if p.file == "" || p.cache == vk.NullPipelineCache || len(p.made) == 0 || b.lost != nil {
		return
	}
	var n uint
	if vk.GetPipelineCacheData(b.device, p.cache, &n, nil) != vk.Success || n <= p.saved {
		return
	}
	data := C.malloc(C.size_t(n))
	defer C.free(data)
	if vk.GetPipelineCacheData(b.device, p.cache, &n, data) != vk.Success {
		return
	}
	if os.MkdirAll(filepath.Dir(p.file), 0o755) != nil {
		return
	}
	// Renamed into place: another session may be reading or writing it.
	f, err := os.CreateTemp(filepath.Dir(p.file), "vulkan-*")
	if err != nil {
		return
	}
	_, err = f.Write(unsafe.Slice((*byte)(data), n))
	if cerr := f.Close(); err != nil || cerr != nil || os.Rename(f.Name(), p.file) != nil {
		os.Remove(f.Name())
	}
}
