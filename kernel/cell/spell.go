package cell

import (
	"fmt"
	"go/types"
	"strings"
)

// spellType writes a type in full, with name spelling the defined types (without their arguments).
func spellType(t types.Type, name func(*types.Named) string) string {
	var b strings.Builder
	var write func(t types.Type)
	tuple := func(t *types.Tuple, variadic bool) {
		b.WriteString("(")
		for i := range t.Len() {
			if i > 0 {
				b.WriteString(",")
			}
			if variadic && i == t.Len()-1 {
				b.WriteString("...")
			}
			write(t.At(i).Type())
		}
		b.WriteString(")")
	}
	write = func(t types.Type) {
		switch t := types.Unalias(t).(type) {
		case *types.Basic:
			b.WriteString(types.Default(t).String())
		case *types.Named:
			b.WriteString(name(t))
			if t.TypeArgs().Len() > 0 {
				b.WriteString("[")
				for a := range t.TypeArgs().Types() {
					write(a)
					b.WriteString(",")
				}
				b.WriteString("]")
			}
		case *types.Pointer:
			b.WriteString("*")
			write(t.Elem())
		case *types.Slice:
			b.WriteString("[]")
			write(t.Elem())
		case *types.Array:
			fmt.Fprintf(&b, "[%d]", t.Len())
			write(t.Elem())
		case *types.Map:
			b.WriteString("map[")
			write(t.Key())
			b.WriteString("]")
			write(t.Elem())
		case *types.Chan:
			b.WriteString([]string{"chan(", "chan<-(", "<-chan("}[t.Dir()])
			write(t.Elem())
			b.WriteString(")")
		case *types.Signature:
			b.WriteString("func")
			tuple(t.Params(), t.Variadic())
			tuple(t.Results(), false)
		case *types.Tuple:
			tuple(t, false)
		case *types.Struct:
			b.WriteString("struct{")
			for i := range t.NumFields() {
				f := t.Field(i)
				if !f.Embedded() {
					b.WriteString(f.Name() + " ")
				}
				write(f.Type())
				fmt.Fprintf(&b, "%q;", t.Tag(i))
			}
			b.WriteString("}")
		case *types.Interface:
			b.WriteString("interface{")
			for m := range t.Methods() {
				b.WriteString(m.Name())
				write(m.Type())
				b.WriteString(";")
			}
			b.WriteString("}")
		default:
			b.WriteString(t.String())
		}
	}
	write(t)
	return b.String()
}
