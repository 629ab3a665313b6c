package interp

import (
	"fmt"
	"io"
	"log"
	"reflect"
	"strings"
)

// The functions of fmt and log that cells call. Arguments that the session's types are in come as shown values.

// typeVerbs rewrites %T of shown values, which fmt would answer with the Go type.
func (s *support) typeVerbs(format string, args []any) string {
	if !strings.Contains(format, "T") || strings.Contains(format, "[") {
		return format
	}
	var b strings.Builder
	arg := 0
	for i := 0; i < len(format); i++ {
		b.WriteByte(format[i])
		if format[i] != '%' {
			continue
		}
		i++
		for ; i < len(format) && strings.IndexByte("+-# 0123456789.*", format[i]) >= 0; i++ {
			if format[i] == '*' {
				arg++
			}
			b.WriteByte(format[i])
		}
		if i >= len(format) {
			break
		}
		verb := format[i]
		if verb == '%' {
			b.WriteByte(verb)
			continue
		}
		if verb == 'T' && arg < len(args) {
			if name, ok := s.nameOfShown(args[arg]); ok {
				args[arg] = name
				verb = 's'
			}
		}
		b.WriteByte(verb)
		arg++
	}
	return b.String()
}

func (s *support) nameOfShown(x any) (string, bool) {
	switch x := x.(type) {
	case shownError:
		return s.shownName(x.shown), true
	case shown:
		return s.shownName(x), true
	case nil:
		return "", false
	}
	if y := unwrap(x); !same(x, y) {
		return s.typeName(y), true
	}
	return "", false
}

func (s *support) shownName(p shown) string {
	if p.t != nil {
		return goName(p.t)
	}
	return s.goTypeName(p.v.Type())
}

func (s *support) out() io.Writer { return streamWriter{s, stdout} }

// Print is fmt.Print.
func (s *support) Print(args ...any) (int, error) {
	return io.WriteString(s.out(), fmt.Sprint(args...))
}

// Println is fmt.Println.
func (s *support) Println(args ...any) (int, error) {
	return io.WriteString(s.out(), fmt.Sprintln(args...))
}

// Printf is fmt.Printf.
func (s *support) Printf(format string, args ...any) (int, error) {
	return io.WriteString(s.out(), s.Sprintf(format, args...))
}

// Sprintf is fmt.Sprintf.
func (s *support) Sprintf(format string, args ...any) string {
	return fmt.Sprintf(s.typeVerbs(format, args), args...)
}

// Fprintf is fmt.Fprintf.
func (s *support) Fprintf(w io.Writer, format string, args ...any) (int, error) {
	return fmt.Fprintf(w, s.typeVerbs(format, args), args...)
}

// Appendf is fmt.Appendf.
func (s *support) Appendf(b []byte, format string, args ...any) []byte {
	return fmt.Appendf(b, s.typeVerbs(format, args), args...)
}

func (s *support) builtinPrint(args ...any) {
	var b strings.Builder
	for _, x := range args {
		fmt.Fprint(&b, builtinForm(s, x))
	}
	_, _ = io.WriteString(streamWriter{s, stderr}, b.String())
}

func (s *support) builtinPrintln(args ...any) {
	parts := make([]string, len(args))
	for i, x := range args {
		parts[i] = builtinForm(s, x)
	}
	_, _ = io.WriteString(streamWriter{s, stderr}, strings.Join(parts, " ")+"\n")
}

// builtinForm writes a value as the print builtins do: floats in scientific form.
func builtinForm(s *support, x any) string {
	if _, v := s.types.of(reflect.ValueOf(x)); v.IsValid() {
		switch v.Kind() {
		case reflect.Float32, reflect.Float64:
			return fmt.Sprintf("%+e", v.Float())
		case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func:
			return fmt.Sprintf("%#x", v.Pointer())
		}
		if v.CanInterface() {
			return fmt.Sprint(v.Interface())
		}
	}
	return fmt.Sprint(x)
}

// Scan is fmt.Scan.
func (s *support) Scan(args ...any) (int, error) { return fmt.Fscan(s.stdin, args...) }

// Scanln is fmt.Scanln.
func (s *support) Scanln(args ...any) (int, error) { return fmt.Fscanln(s.stdin, args...) }

// Scanf is fmt.Scanf.
func (s *support) Scanf(format string, args ...any) (int, error) {
	return fmt.Fscanf(s.stdin, format, args...)
}

// LogPrintf is log.Printf.
func (s *support) LogPrintf(format string, args ...any) {
	_ = log.Output(2, s.Sprintf(format, args...))
}

// LogFatal is log.Fatal: it ends the cell.
func (s *support) LogFatal(args ...any) { s.fatal(log.Default(), fmt.Sprint(args...)) }

// LogFatalf is log.Fatalf.
func (s *support) LogFatalf(format string, args ...any) {
	s.fatal(log.Default(), s.Sprintf(format, args...))
}

// LogFatalln is log.Fatalln.
func (s *support) LogFatalln(args ...any) { s.fatal(log.Default(), fmt.Sprintln(args...)) }

// LoggerFatal is the method Fatal of a Logger.
func (s *support) LoggerFatal(l *log.Logger, args ...any) { s.fatal(l, fmt.Sprint(args...)) }

// LoggerFatalf is the method Fatalf of a Logger.
func (s *support) LoggerFatalf(l *log.Logger, format string, args ...any) {
	s.fatal(l, s.Sprintf(format, args...))
}

// LoggerFatalln is the method Fatalln of a Logger.
func (s *support) LoggerFatalln(l *log.Logger, args ...any) { s.fatal(l, fmt.Sprintln(args...)) }

func (s *support) fatal(l *log.Logger, msg string) {
	_ = l.Output(3, msg)
	s.Exit(1)
}
