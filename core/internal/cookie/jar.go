package cookie

import (
	"strings"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// A request may carry more than any browser sends (Chromium: 180 cookies of a site, 4 KB each; proxies stop far earlier), but
// what it costs to read is bounded. What exceeds a limit is as if it had not been sent.
const (
	maxHeader = 128 << 10
	maxPairs  = 200
)

// Jar holds the cookies of a request. The zero Jar is empty.
type Jar struct{ pairs []pair }

type pair struct{ name, value string }

// Parse reads a Cookie header. It cannot fail:
//
//   - only ";" separates, and a part without "=" is skipped;
//   - blanks and tabs around a name or a value go, quotes stay;
//   - a value is percent-decoded, or left as it is if that fails; a name never is;
//   - of several cookies with one name the first counts.
//
// A name may be empty and a value may be any bytes. At most 200 pairs of the first 128 KiB are read.
func Parse(header string) Jar {
	if len(header) > maxHeader {
		header = header[:maxHeader]
		header = header[:strings.LastIndexByte(header, ';')+1] // half a cookie is none
	}
	var j Jar
	if len(header) < len("a=") {
		return j
	}
	j.pairs = make([]pair, 0, 8)
	for header != "" {
		var part string
		part, header, _ = strings.Cut(header, ";")
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			continue
		}
		if len(j.pairs) == maxPairs {
			break
		}
		name = trimBlanks(name)
		if _, twice := j.Get(name); twice {
			continue
		}
		value = trimBlanks(value)
		if decoded, ok := weburl.DecodeComponent(value); ok {
			value = decoded
		}
		j.pairs = append(j.pairs, pair{name, value})
	}
	return j
}

// trimBlanks is strings.Trim for blanks and tabs, without setting up a set of characters.
func trimBlanks(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// Get returns the value of the cookie with exactly this name, and whether there is one. A cookie may be there and empty.
func (j Jar) Get(name string) (string, bool) {
	for _, p := range j.pairs {
		if p.name == name {
			return p.value, true
		}
	}
	return "", false
}
