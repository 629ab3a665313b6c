package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gradbook/gpu"
	"gradbook/gpu/kernels"
)

// Every committed form is what its source gives.
func TestFormsMatchSources(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	c, err := findCompilers(root)
	if missing := (errNoCompilers{}); errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	stale, err := build(c, true, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range stale {
		t.Errorf("%s is not what its source gives; run `make kernels`", f)
	}
}

// The declarations match the kernel table whether or not a compiler is there.
func TestDeclarationsMatchTable(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	stale, err := build(&compilers{root: root}, true, "no module")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range stale {
		t.Errorf("%s is out of date; run `make kernels`", f)
	}
}

// Every code is an entry of its module, in both forms and each dtype.
func TestFormsHaveEveryCode(t *testing.T) {
	checked := 0
	for _, m := range kernels.Modules {
		for _, dtype := range m.DTypes {
			spv, err := kernels.SPIRV(m.Name, dtype)
			if err != nil {
				t.Fatal(err)
			}
			ptx, err := kernels.PTX(m.Name, dtype)
			if (err != nil) != m.VulkanOnly {
				t.Fatalf("%s %s: PTX %v, and VulkanOnly is %v", m.Name, dtype, err, m.VulkanOnly)
			}
			entries := entryPoints(spv)
			if len(entries) == 0 {
				t.Errorf("%s %s has no entry", m.Name, dtype)
			}
			for _, e := range entries {
				checked++
				if c := kernels.Codes[e]; c == nil || c.Module != m.Name {
					t.Errorf("%s %s: entry %s is no code of the module", m.Name, dtype, e)
				}
				if !m.VulkanOnly && !strings.Contains(string(ptx), ".entry "+e+"(") {
					t.Errorf("%s %s: entry %s is missing from the PTX", m.Name, dtype, e)
				}
			}
			for _, c := range kernels.Codes {
				if c.Module == m.Name && dtype.IsFloat() && c.Name != "count" && !contains(entries, c.Name) && !onlyFloat64(c, dtype) {
					t.Errorf("%s %s: no entry %s", m.Name, dtype, c.Name)
				}
			}
		}
	}
	if checked < 90 {
		t.Errorf("only %d entries were checked", checked)
	}
}

func onlyFloat64(c *kernels.Code, dtype gpu.DType) bool {
	return c.Name == "cast_float64" && dtype != gpu.Float64
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func entryPoints(spv []byte) (names []string) {
	for at := 20; at < len(spv); {
		w := binary.LittleEndian.Uint32(spv[at:])
		if w&0xffff == 15 { // OpEntryPoint model function name
			name := spv[at+12:]
			names = append(names, string(name[:strings.IndexByte(string(name), 0)]))
		}
		at += int(w>>16) * 4
	}
	return names
}

// The parameters of every PTX entry have the size of the code's block, rounded
// up to the alignment of an address.
func TestBlocksAgree(t *testing.T) {
	for _, m := range kernels.Modules {
		if m.VulkanOnly {
			continue
		}
		for _, dtype := range m.DTypes {
			ptx, err := kernels.PTX(m.Name, dtype)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range strings.Split(string(ptx), ".visible .entry ")[1:] {
				name, rest, _ := strings.Cut(part, "(")
				var size int
				if _, err := fmt.Sscanf(strings.TrimSpace(rest), ".param .align 8 .b8 "+name+"_param_0[%d]", &size); err != nil {
					t.Errorf("%s %s: no parameter block: %v", name, dtype, err)
					continue
				}
				if want := (kernels.Codes[name].BlockSize(dtype) + 7) / 8 * 8; size != want {
					t.Errorf("%s %s takes a block of %d bytes, Go packs %d", name, dtype, size, want)
				}
			}
		}
	}
}

// A PTX form whose text or whose source is another is compiled again.
func TestHashesNoticeChanges(t *testing.T) {
	given := sha256.Sum256([]byte("source"))
	form := withHashes(given, []byte(".version 7.8\nret;\n"))
	same := func(given [32]byte, form []byte) bool {
		b := body(form)
		return b != nil && bytes.Equal(form, withHashes(given, b))
	}
	if !same(given, form) {
		t.Error("an unchanged form is taken for stale")
	}
	if same(sha256.Sum256([]byte("other source")), form) {
		t.Error("a change of the source goes unnoticed")
	}
	if same(given, bytes.Replace(form, []byte("ret"), []byte("bra"), 1)) {
		t.Error("a change of the text goes unnoticed")
	}
	if same(given, body(form)) {
		t.Error("a form without hashes is taken as it is")
	}
}

func TestStripKeepsRest(t *testing.T) {
	word := func(ws ...uint32) (b []byte) {
		for _, w := range ws {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	header := []uint32{spirvMagic, 0x10500, 0, 9, 0}
	kept := []uint32{2<<16 | 17, 1}       // OpCapability Shader
	named := []uint32{3<<16 | 5, 4, 0x61} // OpName
	got, err := stripSPIRV(word(append(append(append([]uint32{}, header...), named...), kept...)...))
	if err != nil || string(got) != string(word(append(append([]uint32{}, header...), kept...)...)) {
		t.Errorf("got %x, %v", got, err)
	}
	for _, bad := range [][]byte{nil, word(1, 2, 3, 4, 5), word(append(append([]uint32{}, header...), 9<<16|17)...), word(append(append([]uint32{}, header...), 0)...)} {
		if _, err := stripSPIRV(bad); err == nil {
			t.Errorf("%x was taken for a module", bad)
		}
	}
}
