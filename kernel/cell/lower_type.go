package cell

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"
)

// typeStr spells a type in the lowered program.
func (l *lowerer) typeStr(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return l.alias("unsafe", "unsafe") + ".Pointer"
		}
		if t.Kind() == types.UntypedNil {
			return "interface{}"
		}
		if t.Kind() == types.UntypedRune {
			return "int32"
		}
		return types.Default(t).(*types.Basic).Name()
	case *types.TypeParam:
		if s, ok := l.subst[t]; ok {
			return l.typeStr(s)
		}
		l.fail(nil, "type parameter %s has no argument here", t)
	case *types.Named:
		return l.namedStr(t)
	case *types.Pointer:
		return "*" + l.typeStr(t.Elem())
	case *types.Slice:
		return "[]" + l.typeStr(t.Elem())
	case *types.Array:
		return "[" + strconv.FormatInt(t.Len(), 10) + "]" + l.typeStr(t.Elem())
	case *types.Map:
		return "map[" + l.typeStr(t.Key()) + "]" + l.typeStr(t.Elem())
	case *types.Chan:
		elem := l.typeStr(t.Elem())
		switch t.Dir() {
		case types.SendOnly:
			return "chan<- " + elem
		case types.RecvOnly:
			return "<-chan " + elem
		}
		if strings.HasPrefix(elem, "<-") {
			elem = "(" + elem + ")"
		}
		return "chan " + elem
	case *types.Signature:
		return "func" + l.sigStr(t, nil)
	case *types.Struct:
		return l.structStr(t, 0)
	case *types.Interface:
		return "interface{}"
	case *types.Tuple:
		var list []string
		for v := range t.Variables() {
			list = append(list, l.typeStr(v.Type()))
		}
		return "(" + strings.Join(list, ", ") + ")"
	}
	l.fail(nil, "type %s cannot be lowered", t)
	return ""
}

// structStr spells a struct. id, if not 0, goes into the first field's tag, so that two types with the same fields stay two.
// Fields that are not exported get tags that keep encoders off them: the interpreter exports every field.
func (l *lowerer) structStr(t *types.Struct, id int) string {
	var b strings.Builder
	b.WriteString("struct {")
	mark := ""
	if id != 0 {
		mark = fmt.Sprintf(`yk:"%d"`, id)
	}
	if t.NumFields() == 0 && id != 0 {
		b.WriteString(" K_ struct{} " + strconv.Quote(`json:"-" xml:"-" `+mark))
	}
	for i := range t.NumFields() {
		f := t.Field(i)
		if i > 0 {
			b.WriteString("; ")
		}
		tag := t.Tag(i)
		if !f.Exported() && !f.Embedded() {
			tag = strings.TrimSpace(tag + ` json:"-" xml:"-"`)
		}
		if i == 0 && mark != "" {
			tag = strings.TrimSpace(tag + " " + mark)
		}
		fmt.Fprintf(&b, " %s %s", fieldName(t, i), l.typeStr(f.Type()))
		if tag != "" {
			b.WriteString(" " + strconv.Quote(tag))
		}
	}
	b.WriteString(" }")
	return b.String()
}

// fieldName is a field's lowered name. Embedded fields are ordinary ones: selectors are spelled out.
func fieldName(t *types.Struct, i int) string {
	if name := t.Field(i).Name(); name != "_" {
		return name
	}
	return fmt.Sprintf("k_blank%d", i)
}

// sigStr spells parameters and results. names, if not nil, gives the parameters' names.
func (l *lowerer) sigStr(s *types.Signature, names []string) string {
	var b strings.Builder
	b.WriteString("(")
	for i := range s.Params().Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		t := s.Params().At(i).Type()
		if names != nil {
			b.WriteString(names[i] + " ")
		}
		if s.Variadic() && i == s.Params().Len()-1 {
			b.WriteString("..." + l.typeStr(l.elem(t)))
		} else {
			b.WriteString(l.typeStr(t))
		}
	}
	b.WriteString(")")
	if n := s.Results().Len(); n > 0 {
		b.WriteString(" " + l.typeStr(s.Results()))
	}
	return b.String()
}

// elem is the element type of the slice that a variadic parameter is; append's may be a string.
func (l *lowerer) elem(t types.Type) types.Type {
	if s, ok := l.under(t).(*types.Slice); ok {
		return s.Elem()
	}
	return types.Typ[types.Byte]
}

// namedStr spells a defined type, asking for it to be written when it lives in source.
func (l *lowerer) namedStr(t *types.Named) string {
	o := t.Obj()
	if o.Pkg() == nil {
		return o.Name() // error
	}
	t = l.sub(t).(*types.Named)
	if !l.s.fromSource(o.Pkg()) {
		return l.compiledStr(t)
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return l.needStruct(t, u)
	case *types.Interface:
		return "interface{}"
	default:
		if l.recursive(t) {
			return "interface{}"
		}
		return l.typeStr(u)
	}
}

// compiledStr spells a defined type of a compiled package.
func (l *lowerer) compiledStr(t *types.Named) string {
	o := t.Obj()
	if t.TypeArgs().Len() == 0 && o.Exported() && l.s.lib.Has(o.Pkg().Path(), o.Name()) {
		return l.alias(o.Pkg().Path(), o.Pkg().Name()) + "." + o.Name()
	}
	if name := l.instanceAlias(t); name != "" {
		return l.alias(o.Pkg().Path(), o.Pkg().Name()) + "." + name
	}
	if twin := l.twin(t); twin != nil {
		return l.typeStr(twin)
	}
	switch u := t.Underlying().(type) {
	case *types.Signature, *types.Basic, *types.Slice, *types.Map: // iter.Seq and the like go by their structure
		return l.typeStr(u)
	}
	l.fail(nil, "type %s of package %s is not available in cells", TypeName(t), o.Pkg().Path())
	return ""
}

// instanceAlias is an alias by which a compiled package declares an instance of its generic type, "" if it has none.
func (l *lowerer) instanceAlias(t *types.Named) string {
	p := t.Obj().Pkg()
	if t.TypeArgs().Len() == 0 {
		return ""
	}
	for _, name := range p.Scope().Names() {
		a, ok := p.Scope().Lookup(name).(*types.TypeName)
		if ok && a.IsAlias() && a.Exported() && types.Identical(types.Unalias(a.Type()), t) && l.s.lib.Has(p.Path(), name) {
			return name
		}
	}
	return ""
}

// needStruct returns the lowered name of a struct type, and has it written the first time.
func (l *lowerer) needStruct(t *types.Named, st *types.Struct) string {
	name := l.structName(t)
	if l.im.emitted.at(name) {
		return name
	}
	l.im.emitted.set(name, true)
	subst, inst := l.outer()
	l.queue = append(l.queue, func() {
		l.in(subst, inst, func() {
			id := l.im.typeID(l.spell(t), l.sub(t))
			l.typeDecls = append(l.typeDecls, "type "+name+" "+l.structStr(l.sub(t).Underlying().(*types.Struct), id))
			l.defs = append(l.defs, fmt.Sprintf("krt.Define(%d, (*%s)(nil))", id, name))
			l.needMethods(t, id)
		})
	})
	return name
}

// outer captures what a type or instance that is written later needs of the function that asked for it.
func (l *lowerer) outer() (map[*types.TypeParam]types.Type, string) {
	if l.fn == nil {
		return nil, ""
	}
	return l.subst, l.inst
}

// in runs f as if inside an instance.
func (l *lowerer) in(subst map[*types.TypeParam]types.Type, inst string, f func()) {
	save := l.fn
	l.fn = &fn{subst: subst, inst: inst, rename: map[types.Object]string{}, deps: map[types.Object]bool{}}
	f()
	l.fn = save
}

// structName is the lowered name of a defined type.
func (l *lowerer) structName(t *types.Named) string {
	name := l.baseName(t)
	for a := range t.TypeArgs().Types() {
		name += "__" + l.mangle(a)
	}
	return name
}

// baseName is the lowered name of a defined type without its arguments.
func (l *lowerer) baseName(t *types.Named) string {
	o := t.Obj()
	name := l.im.names.at(o)
	switch {
	case name != "":
	case o.Parent() == o.Pkg().Scope():
		name = l.prefix(o.Pkg()) + o.Name()
		l.im.names.set(o, name)
	default: // declared in a function: one type for each instance of it
		key := fmt.Sprintf("%p/%s", o, l.inst)
		name = l.im.alias.at(key)
		if name == "" {
			name = l.im.fresh("local_" + o.Name())
			l.im.alias.set(key, name)
		}
	}
	return name
}

// needNamed makes the run-time support know a defined type and its methods.
func (l *lowerer) needNamed(o *types.TypeName) {
	t, ok := o.Type().(*types.Named)
	if !ok || t.TypeParams().Len() > 0 || types.IsInterface(t) {
		return
	}
	l.in(nil, "", func() {
		if st, ok := t.Underlying().(*types.Struct); ok {
			l.needStruct(t, st)
		} else {
			l.needBox(t)
		}
	})
}

// needMethods writes the methods of a defined type and tells the run-time support of them.
func (l *lowerer) needMethods(t *types.Named, id int) {
	org := t.Origin()
	for m := range org.Methods() {
		if _, ok := l.srcDecl(m); ok && !l.s.dead[m] {
			l.methodName(t, m)
		}
	}
}

// recursive says whether a defined type that is not a struct contains itself other than through a struct. Such a type
// lives in an empty interface.
func (l *lowerer) recursive(t *types.Named) bool {
	seen := map[types.Type]bool{}
	var reaches func(u types.Type) bool
	reaches = func(u types.Type) bool {
		switch u := types.Unalias(u).(type) {
		case *types.Named:
			if u == t {
				return true
			}
			if _, ok := u.Underlying().(*types.Struct); ok || u.Obj().Pkg() == nil || !l.s.fromSource(u.Obj().Pkg()) || types.IsInterface(u) || seen[u] {
				return false
			}
			seen[u] = true
			return reaches(u.Underlying())
		case *types.Pointer:
			return reaches(u.Elem())
		case *types.Slice:
			return reaches(u.Elem())
		case *types.Array:
			return reaches(u.Elem())
		case *types.Chan:
			return reaches(u.Elem())
		case *types.Map:
			return reaches(u.Key()) || reaches(u.Elem())
		case *types.Signature:
			for v := range u.Params().Variables() {
				if reaches(v.Type()) {
					return true
				}
			}
			for v := range u.Results().Variables() {
				if reaches(v.Type()) {
					return true
				}
			}
		case *types.Struct:
			for f := range u.Fields() {
				if reaches(f.Type()) {
					return true
				}
			}
		}
		return false
	}
	if _, ok := t.Underlying().(*types.Struct); ok {
		return false
	}
	return reaches(t.Underlying())
}

// opened is the lowered form of a recursive type's underlying type, "" for other types.
func (l *lowerer) opened(t types.Type) string {
	n, ok := types.Unalias(l.sub(t)).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || !l.s.fromSource(n.Obj().Pkg()) || types.IsInterface(n) || !l.recursive(n) {
		return ""
	}
	return l.typeStr(n.Underlying())
}
