package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ebitengine/purego"

	"gradbook/gpu"
	"gradbook/gpu/kernels"
)

// compilers are the tools that install/requirements-kernels.txt pins.
type compilers struct {
	root   string
	slangc string
	nvrtc  nvrtc
}

// errNoCompilers tells that the compilers are not installed.
type errNoCompilers struct{ missing string }

func (e errNoCompilers) Error() string {
	return fmt.Sprintf("no %s: run `install/setup.sh kernels`, which installs the kernel compilers into .cache/kernels", e.missing)
}

func findCompilers(root string) (*compilers, error) {
	base := filepath.Join(root, ".cache", "kernels")
	c := &compilers{root: root, slangc: filepath.Join(base, "slangtorch", "bin", "slangc")}
	if _, err := os.Stat(c.slangc); err != nil {
		return nil, errNoCompilers{"slangc"}
	}
	if err := c.nvrtc.load(filepath.Join(base, "nvidia", "cuda_nvrtc", "lib")); err != nil {
		return nil, err
	}
	return c, nil
}

var dtypeDefine = map[gpu.DType]string{gpu.Float32: "F32", gpu.Float64: "F64", gpu.Int32: "I32"}

func (c *compilers) slang(src string, m kernels.Module, t gpu.DType, target ...string) ([]byte, error) {
	out, err := os.CreateTemp("", "gradbook-kernel-*")
	if err != nil {
		return nil, err
	}
	out.Close()
	defer os.Remove(out.Name())
	args := []string{src, "-I", filepath.Dir(src), "-D" + dtypeDefine[t], "-O0", "-line-directive-mode", "none", "-o", out.Name()}
	for _, d := range m.Defines {
		args = append(args, "-D"+d)
	}
	cmd := exec.Command(c.slangc, append(args, target...)...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("slangc: %w\n%s", err, text)
	}
	return os.ReadFile(out.Name())
}

func (c *compilers) spirv(src string, m kernels.Module, t gpu.DType) ([]byte, error) {
	code, err := c.slang(src, m, t, "-target", "spirv", "-DVULKAN", "-fvk-use-entrypoint-name")
	if err != nil {
		return nil, err
	}
	return stripSPIRV(code)
}

// ptx compiles a module, unless old is what its source gave before: NVRTC, given
// one source twice, may number and order a few instructions differently (seen in
// 1 of 3 runs for elementwise float32), so a PTX form begins with the hash of
// what NVRTC was given, and one of what it made of it.
func (c *compilers) ptx(src string, m kernels.Module, t gpu.DType, old []byte) ([]byte, error) {
	code, err := c.slang(src, m, t, "-target", "cuda")
	if err != nil {
		return nil, err
	}
	given := sha256.Sum256([]byte(fmt.Sprint(c.nvrtc.version, nvrtcOptions, "\n", string(code))))
	if body := body(old); body != nil && bytes.Equal(old, withHashes(given, body)) {
		return old, nil
	}
	text, err := c.nvrtc.compile(code)
	if err != nil {
		return nil, err
	}
	return withHashes(given, text), nil
}

const hashLine = "// of source %x, text %x\n"

func withHashes(given [32]byte, text []byte) []byte {
	return append(fmt.Appendf(nil, hashLine, given, sha256.Sum256(text)), text...)
}

// body is the text of a PTX form after its line of hashes, or nil.
func body(form []byte) []byte {
	_, text, ok := bytes.Cut(form, []byte("\n"))
	if !ok || !bytes.HasPrefix(form, []byte("// of source ")) {
		return nil
	}
	return text
}

// nvrtc is NVIDIA's runtime compiler, which turns CUDA source into PTX on a
// machine without a GPU.
type nvrtc struct {
	mu      sync.Mutex
	version string // of the library, by its file's name

	create  func(prog *uintptr, src, name string, n int32, headers, names uintptr) int32
	build   func(prog uintptr, n int32, options []*byte) int32
	logSize func(prog uintptr, n *uint64) int32
	log     func(prog uintptr, text *byte) int32
	ptxSize func(prog uintptr, n *uint64) int32
	ptx     func(prog uintptr, text *byte) int32
	destroy func(prog *uintptr) int32
}

func (n *nvrtc) load(dir string) error {
	libs, err := filepath.Glob(filepath.Join(dir, "libnvrtc*.so.*"))
	if err != nil {
		return err
	}
	var main string
	for _, l := range libs {
		if strings.HasPrefix(filepath.Base(l), "libnvrtc.so") {
			main = l
			continue
		}
		// NVRTC opens its builtins by name; it finds what is loaded already.
		if _, err := purego.Dlopen(l, purego.RTLD_NOW|purego.RTLD_GLOBAL); err != nil {
			return fmt.Errorf("open %s: %w", l, err)
		}
	}
	if main == "" {
		return errNoCompilers{"libnvrtc"}
	}
	n.version = filepath.Base(main)
	h, err := purego.Dlopen(main, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("open %s: %w", main, err)
	}
	for name, f := range map[string]any{
		"nvrtcCreateProgram": &n.create, "nvrtcCompileProgram": &n.build, "nvrtcDestroyProgram": &n.destroy,
		"nvrtcGetProgramLogSize": &n.logSize, "nvrtcGetProgramLog": &n.log,
		"nvrtcGetPTXSize": &n.ptxSize, "nvrtcGetPTX": &n.ptx,
	} {
		purego.RegisterLibFunc(f, h, name)
	}
	return nil
}

// Compute capability 7.0 is the oldest that the backend promises; a driver
// compiles this PTX for any later one.
var nvrtcOptions = []string{"--gpu-architecture=compute_70", "--std=c++17", "--device-as-default-execution-space", "--disable-warnings"}

func (n *nvrtc) compile(src []byte) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var prog uintptr
	if r := n.create(&prog, string(src), "kernel.cu", 0, 0, 0); r != 0 {
		return nil, fmt.Errorf("nvrtcCreateProgram: error %d", r)
	}
	defer n.destroy(&prog)
	var options []*byte
	for _, o := range nvrtcOptions {
		options = append(options, &append([]byte(o), 0)[0])
	}
	if r := n.build(prog, int32(len(options)), options); r != 0 {
		text := read(prog, n.logSize, n.log)
		return nil, fmt.Errorf("nvrtc: error %d\n%s", r, text)
	}
	return read(prog, n.ptxSize, n.ptx), nil
}

func read(prog uintptr, size func(uintptr, *uint64) int32, get func(uintptr, *byte) int32) []byte {
	var n uint64
	if size(prog, &n) != 0 || n == 0 {
		return nil
	}
	b := make([]byte, n)
	get(prog, &b[0])
	return bytes.TrimRight(b, "\x00")
}
