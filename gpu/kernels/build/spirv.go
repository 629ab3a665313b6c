package main

import (
	"encoding/binary"
	"errors"
)

const spirvMagic = 0x07230203

// What is said about the source. Mesa before 23 refuses a module whose source
// language it does not know, and older validators do too; names and lines would
// make the committed form depend on comments.
var aboutSource = map[uint32]bool{
	2:   true, // OpSourceContinued
	3:   true, // OpSource
	4:   true, // OpSourceExtension
	5:   true, // OpName
	6:   true, // OpMemberName
	7:   true, // OpString
	8:   true, // OpLine
	317: true, // OpNoLine
	330: true, // OpModuleProcessed
}

// stripSPIRV removes what is said about the source.
func stripSPIRV(code []byte) ([]byte, error) {
	const header = 20
	if len(code) < header || len(code)%4 != 0 || binary.LittleEndian.Uint32(code) != spirvMagic {
		return nil, errors.New("not a SPIR-V module")
	}
	out := append([]byte(nil), code[:header]...)
	for at := header; at < len(code); {
		w := binary.LittleEndian.Uint32(code[at:])
		n := int(w>>16) * 4
		if n == 0 || at+n > len(code) {
			return nil, errors.New("SPIR-V instruction of a wrong length")
		}
		if !aboutSource[w&0xffff] {
			out = append(out, code[at:at+n]...)
		}
		at += n
	}
	return out, nil
}
