package core

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// appendJSON appends a value as JSON: what tokens and sessions usually hold is written here,
// anything else by encoding/json, which pays for reflection.
func appendJSON(dst []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return appendText(dst, v), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case map[string]any:
		return appendObject(dst, v)
	case JWT:
		return appendObject(dst, v)
	}
	raw, err := json.Marshal(value)
	return append(dst, raw...), err
}

// appendObject appends an object, its members ordered by name.
func appendObject(dst []byte, object map[string]any) ([]byte, error) {
	var few [16]string
	names := few[:0]
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	var err error
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, name), ':')
		if dst, err = appendJSON(dst, object[name]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// special are the printable characters that a JSON string has escaped only.
var special = [utf8.RuneSelf]bool{'"': true, '\\': true, '<': true, '>': true, '&': true}

// appendText appends a JSON string, escaped as encoding/json does it: safe inside HTML, too.
func appendText(dst []byte, text string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= 0x20 && c < utf8.RuneSelf && !special[c] {
			i++
			continue
		}
		size := 1
		escape := ""
		switch {
		case c == '"' || c == '\\':
			escape = "\\" + string(c)
		case c == '\n':
			escape = `\n`
		case c == '\r':
			escape = `\r`
		case c == '\t':
			escape = `\t`
		case c == '\b':
			escape = `\b`
		case c == '\f':
			escape = `\f`
		case c < utf8.RuneSelf:
			escape = `\u00` + string(hexDigits[c>>4]) + string(hexDigits[c&15])
		default:
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				escape = `\ufffd`
			case r == '\u2028' || r == '\u2029':
				escape = `\u202` + string(hexDigits[r&15])
			default:
				i += size
				continue
			}
		}
		dst = append(append(dst, text[start:i]...), escape...)
		i += size
		start = i
	}
	return append(append(dst, text[start:]...), '"')
}
