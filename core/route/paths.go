package route

import (
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/edgeauth/edgeauth/core"
)

// Paths is a list of protected paths. Middleware that decides by the path is got around
// wherever the router behind it reads a path differently. So a request matches if any reading
// of its path does: as sent and percent-decoded, once or several times; with dot segments
// resolved and with those before them taken at their word; with empty segments left out, with
// backslashes for slashes, without path parameters (";x"), in any case. What is read too
// generously costs a visitor a redirect, and nothing else.
type Paths struct{ rules []rule }

type rule struct {
	segments []string
	isExact  bool // the path itself only, nothing below it
	isOpen   bool // an exception
}

// NewPaths reads patterns:
//
//	/admin         /admin and everything below it, on segment borders; "/" is everything
//	/admin/{$}     /admin only
//	!/admin/login  an exception, for it and everything below it; "!/admin/{$}" for it alone
//
// A pattern is written decoded and clean. An exception holds for requests that spell its path
// exactly as written. Of exceptions alone, or of nothing, there is no list: that, and a pattern
// that is not one, is core.ErrInvalidConfig.
func NewPaths(patterns ...string) (Paths, error) {
	var out Paths
	protects := false
	for _, pattern := range patterns {
		one, ok := parseRule(pattern)
		if !ok {
			return Paths{}, invalid(`"` + pattern + `" is not a protected path: it begins with a slash, is decoded, and has no dot segments and no wildcards`)
		}
		out.rules = append(out.rules, one)
		protects = protects || !one.isOpen
	}
	if !protects {
		return Paths{}, &core.Error{Kind: core.ErrInvalidConfig, Message: "no path is named that would be protected"}
	}
	return out, nil
}

func parseRule(pattern string) (rule, bool) {
	var out rule
	pattern, out.isOpen = strings.CutPrefix(pattern, "!")
	pattern, out.isExact = strings.CutSuffix(pattern, "/{$}")
	if pattern == "" && out.isExact {
		return out, true
	}
	rest, ok := strings.CutPrefix(pattern, "/")
	if !ok || strings.ContainsAny(rest, `%\;?#{}*`) || strings.ContainsFunc(rest, unicode.IsControl) {
		return out, false
	}
	if rest = strings.TrimSuffix(rest, "/"); rest == "" {
		return out, true
	}
	out.segments = strings.Split(rest, "/")
	for _, segment := range out.segments {
		if segment == "" || segment == "." || segment == ".." {
			return out, false
		}
	}
	return out, true
}

// Match reports whether the path of a request is protected. It looks at nothing but the URL.
func (p Paths) Match(r *http.Request) bool {
	return !p.isOpen(r.URL) && (p.matches(r.URL.Path) || r.URL.RawPath != "" && p.matches(r.URL.RawPath))
}

// Names reports whether a pattern stands for this very path, and no exception does. A query
// plays no part.
func (p Paths) Names(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	segments := split(path)
	for _, one := range p.rules {
		if !one.isOpen && len(one.segments) == len(segments) && hasPrefix(one.segments, segments) {
			return !p.isOpen(&url.URL{Path: path})
		}
	}
	return false
}

// Enters reports whether a pattern stands for this path or for one below it.
func (p Paths) Enters(path string) bool {
	segments := split(path)
	for _, one := range p.rules {
		if !one.isOpen && hasPrefix(one.segments, segments) {
			return true
		}
	}
	return false
}

// IsPage reports whether a request is for a page of this path, spelt exactly so. A query of
// either plays no part.
func IsPage(r *http.Request, page string) bool {
	page, _, _ = strings.Cut(page, "?")
	return r.URL.RawPath == "" && r.URL.Path == page
}

// isOpen reports whether an exception is spelt out, as a router of any kind would read it.
func (p Paths) isOpen(u *url.URL) bool {
	if u.RawPath != "" || strings.ContainsAny(u.Path, `%\;`) || !strings.HasPrefix(u.Path, "/") {
		return false
	}
	segments := strings.Split(u.Path[1:], "/")
	if segments[len(segments)-1] == "" {
		segments = segments[:len(segments)-1] // a trailing slash
	}
	for _, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	for _, one := range p.rules {
		if !one.isOpen || len(segments) < len(one.segments) || one.isExact && len(segments) > len(one.segments) {
			continue
		}
		if strings.Join(segments[:len(one.segments)], "/") == strings.Join(one.segments, "/") {
			return true
		}
	}
	return false
}

// maxDecodings is how often a path is percent-decoded. A router decodes once, some proxies
// once more.
const maxDecodings = 4

func (p Paths) matches(path string) bool {
	for range maxDecodings {
		if p.reads(path) {
			return true
		}
		decoded := decode(path)
		if decoded == path {
			return false
		}
		path = decoded
	}
	return true // nobody who means well writes a path that is still encoded
}

// reads reports whether a path leads to, or through, a protected one.
func (p Paths) reads(path string) bool {
	var stack []string
	if p.covers(stack, false) {
		return true
	}
	for _, segment := range split(path) {
		if segment == ".." {
			stack = stack[:max(len(stack)-1, 0)]
			continue
		}
		stack = append(stack, segment)
		if p.covers(stack, false) {
			return true
		}
	}
	return p.covers(stack, true)
}

// covers reports whether a rule protects the path of these segments. Exact rules count only
// where the path ends.
func (p Paths) covers(segments []string, isEnd bool) bool {
	for _, one := range p.rules {
		switch {
		case one.isOpen, one.isExact && (!isEnd || len(one.segments) != len(segments)):
		case hasPrefix(segments, one.segments):
			return true
		}
	}
	return false
}

// split gives the segments of a path but the empty ones and ".".
func split(path string) []string {
	segments := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '\\' })
	kept := segments[:0]
	for _, segment := range segments {
		segment, _, _ = strings.Cut(segment, ";")
		if segment != "" && segment != "." {
			kept = append(kept, segment)
		}
	}
	return kept
}

func hasPrefix(segments, prefix []string) bool {
	if len(segments) < len(prefix) {
		return false
	}
	for i, segment := range prefix {
		if !strings.EqualFold(segments[i], segment) {
			return false
		}
	}
	return true
}

// decode replaces the valid escapes of a path and leaves the rest as it is.
func decode(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if high, low := hexValue(path[i+1]), hexValue(path[i+2]); high >= 0 && low >= 0 {
				out = append(out, byte(high<<4|low))
				i += 2
				continue
			}
		}
		out = append(out, path[i])
	}
	return string(out)
}

func hexValue(c byte) int {
	if 'A' <= c && c <= 'F' {
		c |= 0x20
	}
	return strings.IndexByte("0123456789abcdef", c)
}
