package kernel

import (
	"strings"
	"unicode/utf8"
)

// Cursors count code points in the protocol and bytes in Go.

// byteOffset returns where code point n of s begins; past the end it is len(s).
func byteOffset(s string, n int) int {
	if n <= 0 {
		return 0
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// codePoints returns how many code points begin before byte offset n of s.
func codePoints(s string, n int) int {
	return utf8.RuneCountInString(s[:max(0, min(n, len(s)))])
}

// lineAround returns the whole line of the cursor.
func lineAround(s string, cursor int) string {
	line, _, _ := strings.Cut(s[strings.LastIndexByte(s[:cursor], '\n')+1:], "\n")
	return line
}
