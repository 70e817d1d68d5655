package weburl

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseHost returns the serialised host. The host of a special scheme is a domain or an address, any other is opaque.
func parseHost(s string, special bool) (string, bool) {
	if strings.HasPrefix(s, "[") {
		if !strings.HasSuffix(s, "]") {
			return "", false
		}
		a, ok := parseIPv6(s[1 : len(s)-1])
		return "[" + formatIPv6(a) + "]", ok
	}
	if !special {
		for i := range len(s) {
			if forbiddenHost(s[i]) {
				return "", false
			}
		}
		return percentEncode(s, controlSet), true
	}
	domain := percentDecode(s)
	ascii := true
	for i := range len(domain) {
		switch c := domain[i]; {
		case c >= utf8.RuneSelf:
			ascii = false
		case c <= ' ' || c == '%' || c == 0x7f || forbiddenHost(c):
			return "", false
		}
	}
	if !ascii {
		// Bytes that are not UTF-8 become U+FFFD, which no host may contain. ContainsRune finds both.
		if strings.ContainsRune(domain, utf8.RuneError) {
			return "", false
		}
		return percentEncode(lower(domain), controlSet), true
	}
	domain = lower(domain)
	if domain == "" {
		return "", false
	}
	if endsInNumber(domain) {
		return parseIPv4(domain)
	}
	return domain, true
}

// lower lowers A to Z only: the rest of Unicode's letters are IDNA's, which is left out.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}

func forbiddenHost(c byte) bool {
	switch c {
	case 0, '\t', '\n', '\r', ' ', '#', '/', ':', '<', '>', '?', '@', '[', '\\', ']', '^', '|':
		return true
	}
	return false
}

// endsInNumber says whether the last label makes the host an IPv4 address, or else an error.
func endsInNumber(s string) bool {
	s = strings.TrimSuffix(s, ".")
	last := s[strings.LastIndexByte(s, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := parseNumber(last)
	return ok
}

// parseNumber reads decimal, octal with a leading 0, and hexadecimal with 0x; "0x" alone is zero. Numbers past 32 bits are
// all the same, since none of them fits into an address.
func parseNumber(s string) (uint64, bool) {
	base := 10
	switch {
	case s == "":
		return 0, false
	case len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x':
		s, base = s[2:], 16
	case len(s) >= 2 && s[0] == '0':
		s, base = s[1:], 8
	}
	var n uint64
	for i := range len(s) {
		d := hexValue(s[i])
		if d < 0 || d >= base {
			return 0, false
		}
		n = min(n*uint64(base)+uint64(d), 1<<32)
	}
	return n, true
}

// parseIPv4 reads the forms of inet_aton: one to four numbers, the last of which fills all bytes that are left.
func parseIPv4(s string) (string, bool) {
	parts := strings.Split(strings.TrimSuffix(s, "."), ".")
	if len(parts) > 4 {
		return "", false
	}
	var address uint64
	for i, part := range parts {
		n, ok := parseNumber(part)
		if !ok {
			return "", false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return "", false
			}
			address |= n << (8 * (3 - i))
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return "", false
		}
		address |= n
	}
	b := make([]byte, 0, len("255.255.255.255"))
	for shift := 24; shift >= 0; shift -= 8 {
		if shift < 24 {
			b = append(b, '.')
		}
		b = strconv.AppendUint(b, address>>shift&255, 10)
	}
	return string(b), true
}

// parseIPv6 reads the text between the brackets. A zone is refused, as everywhere on the web.
func parseIPv6(s string) (a [8]uint16, ok bool) {
	n, gap := 0, -1 // pieces so far, and how many of them when "::" was read, which is a piece itself
	if strings.HasPrefix(s, ":") {
		if !strings.HasPrefix(s, "::") {
			return a, false
		}
		s, n, gap = s[2:], 1, 1
	}
	for s != "" {
		if n == 8 {
			return a, false
		}
		if s[0] == ':' {
			if gap >= 0 {
				return a, false
			}
			s, n, gap = s[1:], n+1, n+1
			continue
		}
		value, digits := 0, 0
		for digits < 4 && digits < len(s) && hexValue(s[digits]) >= 0 {
			value = value<<4 | hexValue(s[digits])
			digits++
		}
		if digits < len(s) && s[digits] == '.' {
			high, low, ok := parseEmbeddedIPv4(s)
			if !ok || n > 6 {
				return a, false
			}
			a[n], a[n+1] = high, low
			n += 2
			break
		}
		a[n] = uint16(value)
		n++
		if s = s[digits:]; s == "" {
			break
		}
		if s[0] != ':' || len(s) == 1 {
			return a, false
		}
		s = s[1:]
	}
	if gap < 0 {
		return a, n == 8
	}
	moved := n - gap
	for i := range moved {
		a[7-i], a[n-1-i] = a[n-1-i], a[7-i]
	}
	return a, true
}

// parseEmbeddedIPv4 reads the dotted end of an IPv6 address, where only plain decimal numbers are allowed.
func parseEmbeddedIPv4(s string) (high, low uint16, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 4 {
		return 0, 0, false
	}
	var b [4]uint16
	for i, part := range parts {
		if part == "" || len(part) > 3 || len(part) > 1 && part[0] == '0' || strings.Trim(part, "0123456789") != "" {
			return 0, 0, false
		}
		n, _ := strconv.Atoi(part)
		if n > 255 {
			return 0, 0, false
		}
		b[i] = uint16(n)
	}
	return b[0]<<8 | b[1], b[2]<<8 | b[3], true
}

// formatIPv6 writes the pieces in hexadecimal and "::" for the first of the longest runs of at least two zeros.
func formatIPv6(a [8]uint16) string {
	start, length := -1, 1
	for i := 0; i < 8; i++ {
		j := i
		for j < 8 && a[j] == 0 {
			j++
		}
		if j-i > length {
			start, length = i, j-i
		}
		i = max(i, j-1)
	}
	var b []byte
	for i := 0; i < 8; i++ {
		if i == start {
			b = append(b, "::"...)
			i += length - 1
			continue
		}
		if i > 0 && b[len(b)-1] != ':' {
			b = append(b, ':')
		}
		b = strconv.AppendUint(b, uint64(a[i]), 16)
	}
	return string(b)
}
