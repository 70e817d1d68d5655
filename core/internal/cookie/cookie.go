// Package cookie reads Cookie headers and writes Set-Cookie headers as @auth/core 0.41 does, which has jshttp/cookie 1.x built
// in, and cuts a session token too long for one cookie into chunks.
//
// net/http is stricter where the reference is lenient (it drops a value with quotes or blanks inside, and encodes nothing), so
// the two would disagree about which cookies a browser sent.
package cookie

import (
	"strconv"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// Cookie is a cookie to be set.
type Cookie struct {
	Name string
	// Value is any text; it is percent-encoded where it is written.
	Value string
	Options
}

// Options are the attributes of a cookie. The zero value has none: a session cookie of this host and directory.
type Options struct {
	HTTPOnly    bool
	Secure      bool
	Partitioned bool
	// SameSite is "lax", "strict" or "none" in any case; "" leaves it to the browser.
	SameSite string
	// Path may be "": the browser takes the directory of the request.
	Path string
	// Domain may be "": the cookie is for this host alone.
	Domain string
	// MaxAge is the lifetime in seconds. 0 leaves the attribute out, a negative number writes Max-Age=0, which deletes the
	// cookie, as in net/http.
	MaxAge int
	// Expires leaves the attribute out if it is zero. It is written in whole seconds.
	Expires time.Time
}

// String returns the value of a Set-Cookie header. It is "" if the name, domain, path or SameSite is not valid, so that no
// part of a cookie can add an attribute or a header (CVE-2024-47764); a configuration is checked for that beforehand.
func (c Cookie) String() string {
	if !ValidName(c.Name) || c.Domain != "" && !ValidDomain(c.Domain) || !ValidPath(c.Path) {
		return ""
	}
	var sameSite string
	switch {
	case c.SameSite == "":
	case strings.EqualFold(c.SameSite, "lax"):
		sameSite = "; SameSite=Lax"
	case strings.EqualFold(c.SameSite, "strict"):
		sameSite = "; SameSite=Strict"
	case strings.EqualFold(c.SameSite, "none"):
		sameSite = "; SameSite=None"
	default:
		return ""
	}
	const attributes = len("; Max-Age=2592000; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly; Secure; Partitioned; SameSite=Strict")
	value := weburl.EncodeComponent(c.Value)
	var b strings.Builder
	var scratch [32]byte
	b.Grow(len(c.Name) + len(value) + len(c.Domain) + len(c.Path) + attributes)
	b.WriteString(c.Name)
	b.WriteByte('=')
	b.WriteString(value)
	if c.MaxAge != 0 {
		b.WriteString("; Max-Age=")
		b.Write(strconv.AppendInt(scratch[:0], int64(max(c.MaxAge, 0)), 10))
	}
	if c.Domain != "" {
		b.WriteString("; Domain=")
		b.WriteString(c.Domain)
	}
	if c.Path != "" {
		b.WriteString("; Path=")
		b.WriteString(c.Path)
	}
	if !c.Expires.IsZero() {
		b.WriteString("; Expires=")
		b.Write(appendDate(scratch[:0], c.Expires))
	}
	if c.HTTPOnly {
		b.WriteString("; HttpOnly")
	}
	if c.Secure {
		b.WriteString("; Secure")
	}
	if c.Partitioned {
		b.WriteString("; Partitioned")
	}
	b.WriteString(sameSite)
	return b.String()
}

// appendDate appends an HTTP date (RFC 9110, 5.6.7), Wed, 21 Oct 2026 07:28:00 GMT, in half of the time that a layout takes,
// which was a twentieth of a session check.
func appendDate(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	two := func(n int, after byte) { b = append(b, byte('0'+n/10), byte('0'+n%10), after) }
	b = append(append(b, t.Weekday().String()[:3]...), ", "...)
	two(day, ' ')
	b = append(append(b, month.String()[:3]...), ' ')
	two(year/100%100, byte('0'+year/10%10))
	b = append(b, byte('0'+year%10), ' ')
	two(hour, ':')
	two(minute, ':')
	two(second, ' ')
	return append(b, "GMT"...)
}

// ValidName reports whether s is a token of RFC 9110, 5.6.2, as the name of a cookie must be.
func ValidName(s string) bool {
	for i := range len(s) {
		if !isLetterOrDigit(s[i]) && strings.IndexByte("!#$%&'*+-.^_`|~", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// ValidDomain reports whether s is a list of labels of letters, digits and inner hyphens, of at most 63 characters each. One
// leading dot is allowed; browsers ignore it.
func ValidDomain(s string) bool {
	for label := range strings.SplitSeq(strings.TrimPrefix(s, "."), ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if !isLetterOrDigit(label[i]) && label[i] != '-' {
				return false
			}
		}
	}
	return true
}

// ValidPath reports whether s has nothing but printable ASCII characters, without ";", which would end the attribute, and "<",
// which jshttp/cookie refuses. "" is valid and means no path.
func ValidPath(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ';' || c == '<' {
			return false
		}
	}
	return true
}

func isLetterOrDigit(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}
