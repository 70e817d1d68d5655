package weburl

import (
	"strings"
	"unicode/utf8"
)

// The percent-encode sets of the URL standard: the printable ASCII characters that are encoded, besides all others (controls
// and whatever is not ASCII), which always are. Two later additions that move nobody elsewhere are left out, as in Node 20: "^"
// in a path (2024), and the last blank of an opaque path (2025).
const (
	controlSet      = ""
	fragmentSet     = " \"<>`"
	querySet        = " \"#<>"
	specialQuerySet = querySet + "'"
	pathSet         = querySet + "?`{}"
	userinfoSet     = pathSet + "/:;=@[\\]^|"
)

const upperHex = "0123456789ABCDEF"

func percentEncode(s, set string) string {
	return encode(s, func(c byte) bool { return ' ' <= c && c <= '~' && strings.IndexByte(set, c) < 0 })
}

// encode writes %XX for every byte that may not stay.
func encode(s string, stays func(byte) bool) string {
	n := 0
	for i := range len(s) {
		if !stays(s[i]) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+2*n)
	for i := range len(s) {
		if c := s[i]; stays(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}

// percentDecode leaves a "%" that no two hexadecimal digits follow as it is. The result may be any bytes.
func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c, ok := escaped(s, i); ok {
			b = append(b, c)
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// escaped returns the byte that is written as %XX at s[i].
func escaped(s string, i int) (byte, bool) {
	if i+2 >= len(s) || s[i] != '%' {
		return 0, false
	}
	high, low := hexValue(s[i+1]), hexValue(s[i+2])
	if high < 0 || low < 0 {
		return 0, false
	}
	return byte(high<<4 | low), true
}

func hexValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// decodeUTF8 makes s valid as the Encoding standard does, which is what a JavaScript program would have got: one U+FFFD for
// every longest beginning of a character. Neither strings.ToValidUTF8 (one for a run) nor range (one for a byte) agrees.
func decodeUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			size = truncated(s)
		}
		b = utf8.AppendRune(b, r)
		s = s[size:]
	}
	return string(b)
}

// truncated returns the length of the incomplete character that s begins with, or 1 for a byte that begins none.
func truncated(s string) int {
	n := min(len(s), utf8.UTFMax-1)
	for n > 1 && !utf8IsPrefix(s[:n]) {
		n--
	}
	return n
}

// utf8IsPrefix reports whether some continuation bytes make s one character.
func utf8IsPrefix(s string) bool {
	var b [utf8.UTFMax]byte
	n := copy(b[:], s)
	// The second byte alone decides whether a sequence can become valid; later ones have one common range.
	for ; n < utf8.UTFMax; n++ {
		b[n] = 0x80
		if r, size := utf8.DecodeRune(b[:n+1]); r != utf8.RuneError && size == n+1 {
			return true
		}
	}
	return false
}
