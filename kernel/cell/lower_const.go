package cell

import (
	"go/constant"
	"go/types"
	"math"
	"strconv"
	"strings"
)

func defaultOf(tv types.TypeAndValue) types.Type {
	if t := types.Unalias(tv.Type); !types.IsInterface(t) {
		return types.Default(t)
	}
	switch tv.Value.Kind() {
	case constant.Bool:
		return types.Typ[types.Bool]
	case constant.String:
		return types.Typ[types.String]
	case constant.Int:
		return types.Typ[types.Int]
	case constant.Float:
		return types.Typ[types.Float64]
	}
	return types.Typ[types.Complex128]
}

// constant writes a constant of a type as a literal.
func (l *lowerer) constant(v constant.Value, t types.Type) string {
	t = l.sub(t)
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return l.box(l.constant(v, defaultOf(types.TypeAndValue{Type: t, Value: v})), defaultOf(types.TypeAndValue{Type: t, Value: v}))
	}
	var s string
	switch info := b.Info(); {
	case info&types.IsBoolean != 0:
		return v.String()
	case info&types.IsString != 0:
		if v.Kind() == constant.Int {
			r, _ := constant.Int64Val(v)
			return strconv.Quote(string(rune(r)))
		}
		return strconv.Quote(constant.StringVal(v))
	case info&types.IsInteger != 0:
		s = constant.ToInt(v).ExactString()
	case info&types.IsFloat != 0:
		f, _ := constant.Float64Val(constant.ToFloat(v))
		s = floatLit(f)
	case info&types.IsComplex != 0:
		v = constant.ToComplex(v)
		re, _ := constant.Float64Val(constant.Real(v))
		im, _ := constant.Float64Val(constant.Imag(v))
		s = "complex(" + floatLit(re) + ", " + floatLit(im) + ")"
	}
	if _, named := types.Unalias(t).(*types.Named); !named {
		switch b.Kind() {
		case types.Int, types.UntypedInt, types.Float64, types.UntypedFloat, types.Complex128, types.UntypedComplex:
			return s
		}
	}
	return l.typeStr(t) + "(" + s + ")"
}

func floatLit(f float64) string {
	if math.IsInf(f, 0) {
		return "1e400"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eE") {
		s += ".0"
	}
	return s
}
