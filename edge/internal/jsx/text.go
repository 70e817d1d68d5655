// Package jsx is the part of package edge that speaks JavaScript: how requests
// enter the program and responses leave it, calls of the worker's functions, headers
// and bytes. The parts without a js suffix are plain Go and are tested natively.
package jsx

import (
	"strings"
	"unicode/utf8"
)

// A Charset says how the host turns the bytes of a header value into a
// JavaScript string. The Fetch standard has one byte per code unit (Latin-1,
// "isomorphic decode"); workerd reads and writes UTF-8 instead. Strings cross
// the bridge as UTF-8 in both cases.
type Charset int

const (
	Latin1 Charset = iota // Deno, Bun, Node, browsers
	UTF8                  // workerd
)

// decode returns the header bytes of a string that came from the host.
func (c Charset) decode(s string) string {
	if c == UTF8 || ascii(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xFF {
			r = '?' // no header of a conforming host holds one
		}
		b = append(b, byte(r))
	}
	return string(b)
}

// Encode returns a header value as the host wants it, see appendEncoded.
func (c Charset) Encode(value string) string {
	return string(c.appendEncoded(nil, value))
}

// appendEncoded appends a header value as the host wants it. Line ends and NUL,
// which no header may hold and every host refuses, become spaces, as in net/http.
func (c Charset) appendEncoded(dst []byte, value string) []byte {
	for i := 0; i < len(value); i++ {
		if b := value[i]; b >= utf8.RuneSelf || b == '\n' || b == '\r' || b == 0 {
			return c.appendRewritten(dst, value)
		}
	}
	return append(dst, value...)
}

func (c Charset) appendRewritten(dst []byte, value string) []byte {
	value = unsafeInHeader.Replace(value)
	if c == UTF8 && utf8.ValidString(value) {
		return append(dst, value...)
	}
	for i := 0; i < len(value); i++ {
		dst = utf8.AppendRune(dst, rune(value[i]))
	}
	return dst
}

var unsafeInHeader = strings.NewReplacer("\n", " ", "\r", " ", "\x00", " ")

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// token reports whether s can name a header field (RFC 9110, section 5.1).
// Handing a host any other name makes it throw.
func token(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
		case strings.IndexByte("!#$%&'*+.^_`|~", c) < 0:
			return false
		}
	}
	return s != ""
}
