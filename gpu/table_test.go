package gpu_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/gputest"
)

// docs/kernel-table.md is the kernel table as text; -rewrite writes it.
func TestKernelTableIsDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# The kernel table

Every launch on every device is one of these. Parameters are explained in gpu/params.go. A fused kernel that a backend
declines runs as the primitives it is composed of (gpu/compose*.go).

| kernel | tier | arguments | parameters | dtypes |
|---|---|---|---|---|
`)
	for k := range gpu.NumKernels {
		info := k.Info()
		var args, params, dtypes []string
		for _, a := range info.Args {
			name := a.Name
			if a.Access != gpu.In {
				name += " (" + a.Access.String() + ")"
			}
			args = append(args, name)
		}
		p := reflect.TypeOf(info.Params)
		for i := range p.NumField() {
			params = append(params, p.Field(i).Name)
		}
		for _, d := range info.DTypes {
			dtypes = append(dtypes, d.String())
		}
		tier := map[gpu.Tier]string{gpu.Primitive: "primitive", gpu.Fused: "fused"}[info.Tier]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", k, tier, strings.Join(args, ", "), strings.Join(params, ", "), strings.Join(dtypes, ", "))
	}
	gputest.Golden(t, "../../docs/kernel-table.md", []byte(b.String()))
}

// The table must hang together: what other code derives from it, it may rely
// on.
func TestKernelTable(t *testing.T) {
	names := map[string]gpu.Kernel{}
	for k := range gpu.NumKernels {
		info := k.Info()
		if info.ID != k {
			t.Errorf("row %d has ID %d", k, info.ID)
		}
		if other, taken := names[info.Name]; taken || info.Name == "" {
			t.Errorf("kernel %d is called %q, as kernel %d is", k, info.Name, other)
		}
		names[info.Name] = k
		if (info.Generic != nil) != (info.Tier == gpu.Fused) {
			t.Errorf("%s: fused kernels have compositions, primitives have none", k)
		}
		if len(info.Args) == 0 || len(info.Args) > gpu.MaxArgs {
			t.Errorf("%s has %d arguments", k, len(info.Args))
		}
		writes := false
		for _, a := range info.Args {
			writes = writes || a.Access != gpu.In
		}
		if !writes {
			t.Errorf("%s writes nothing", k)
		}
		for _, d := range info.DTypes {
			if size := gpu.BlockOf(k).Size(d); size > gpu.MaxBlock {
				t.Errorf("%s %s: a parameter block of %d bytes", k, d, size)
			}
		}
	}
}
