package kernels

import (
	"embed"
	"fmt"

	"gradbook/gpu"
)

//go:embed spirv ptx
var compiled embed.FS

// SPIRV returns a module's Vulkan form. Its entries have the codes' names.
func SPIRV(module string, t gpu.DType) ([]byte, error) {
	return form(fmt.Sprintf("spirv/%s.%s.spv", module, t))
}

// PTX returns a module's CUDA form, text without a final zero byte. Its entries
// have the codes' names and take their block as one argument by value.
func PTX(module string, t gpu.DType) ([]byte, error) {
	return form(fmt.Sprintf("ptx/%s.%s.ptx", module, t))
}

func form(path string) ([]byte, error) {
	b, err := compiled.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("kernels: %w; was `make kernels` run after the list of modules changed?", err)
	}
	return b, nil
}
