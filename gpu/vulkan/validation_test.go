package vulkan

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	vk "github.com/vulkan-go/vulkan"

	"gradbook/gpu"
	"gradbook/gpu/gputest"
)

// underValidation, in the environment, makes a test process load the validation
// layer.
const underValidation = "GRADBOOK_TEST_VALIDATION"

var said struct {
	sync.Mutex
	messages []string
}

func TestMain(m *testing.M) {
	if os.Getenv(underValidation) != "" {
		validation = func(message string) {
			said.Lock()
			defer said.Unlock()
			said.messages = append(said.messages, strings.Clone(message)) // the layer's own memory
		}
	}
	code := m.Run()
	for _, message := range said.messages {
		fmt.Println("validation layer:", message)
		code = 1
	}
	os.Exit(code)
}

// The validation layer has nothing to say about kernels, transfers, recordings,
// and what is left when a device is closed. Its synchronization validation sees
// barriers that copies lack; of launches, which reach memory through addresses, it
// sees nothing: TestSchedule is for those.
func TestValidationLayer(t *testing.T) {
	if validation != nil { // in the process started below
		validated(t)
		return
	}
	if err := load(); err != nil {
		t.Skip(err)
	}
	if !hasLayer() {
		t.Skip("the validation layer is not installed (vulkan-validationlayers)")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^(TestValidationLayer|TestTransfers|TestManyBatches)$", "-test.v")
	cmd.Env = append(os.Environ(), underValidation+"=1", "VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT", "XDG_CACHE_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestValidationLayer") {
		t.Errorf("the tests did not run\n%s", out)
	}
}

func hasLayer() bool {
	// The binding's lists do not live through a collection.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var n uint32
	vk.EnumerateInstanceLayerProperties(&n, nil)
	layers := make([]vk.LayerProperties, n)
	vk.EnumerateInstanceLayerProperties(&n, layers)
	for i := range layers {
		layers[i].Deref()
		if vk.ToString(layers[i].LayerName[:]) == validationLayer {
			return true
		}
	}
	return false
}

func validated(t *testing.T) {
	gputest.RunKernels(t, func() gpu.Backend { return device(t) }, gpu.Fill, gpu.Reduce, gpu.AdamStep, gpu.Xent, gpu.Count)
	b := device(t)
	b.limits.Processor = false
	x, y, z := span(t, b, 128*128), span(t, b, 128*128), span(t, b, 128*128)
	l := gpu.Launch{Kernel: gpu.Gemm, DType: gpu.Float32, Args: []gpu.Span{x, y, z},
		Params: &gpu.GemmParams{Alpha: 1, M: 128, N: 128, K: 128, LDA: 128, LDB: 128, LDC: 128, Batch: 1}}
	if err := b.Launch(l); err != nil {
		t.Error(err)
	}
	r, err := b.Record([]gpu.Launch{l, l}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := r.Replay(nil); err != nil {
			t.Error(err)
		}
	}
	r.Close()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if len(said.messages) > 0 {
		t.Errorf("the layer said %d things", len(said.messages))
	}
}
