package page

import "strings"

// markup is HTML or CSS that is sent as it is. Only constants of this package are: a string does not become markup without a
// conversion, and a test sees to it that there is none.
type markup string

// A writer puts a page together; other files write with html alone.
//
// It stands in for html/template and html.EscapeString, which would add 966 and 31 KB to a worker; tests compare it with the
// former.
type writer struct{ b []byte }

// html writes m with each "$" replaced by the next of the values, escaped so that it is text between tags or inside a quoted
// attribute. A part in brackets holds one "$" and is left out if its value is "". A value that a browser would follow goes
// through webURL first.
func (w *writer) html(m markup, values ...string) {
	rest := string(m)
	for _, value := range values {
		var before, part, end string
		before, rest, _ = strings.Cut(rest, "$")
		before, part, optional := strings.Cut(before, "[")
		w.add(before)
		if optional {
			end, rest, _ = strings.Cut(rest, "]")
			if value == "" {
				continue
			}
		}
		w.add(part)
		w.text(value)
		w.add(end)
	}
	w.add(rest)
}

// add writes s as it is. It is not inlined: at its many calls that would be another 1.5 KB of a worker, gzipped.
//
//go:noinline
func (w *writer) add(s string) { w.b = append(w.b, s...) }

func (w *writer) text(s string) {
	start := 0
	for i := range len(s) {
		var entity string
		switch s[i] {
		case '&':
			entity = "&amp;"
		case '<':
			entity = "&lt;"
		case '>':
			entity = "&gt;"
		case '"':
			entity = "&#34;"
		case '\'':
			entity = "&#39;"
		case '\r':
			entity = "&#13;" // or else a parser makes a line feed of it (HTML standard, 13.2.3.5)
		case 0:
			entity = "\uFFFD" // which is what a parser makes of it
		default:
			continue
		}
		w.add(s[start:i])
		w.add(entity)
		start = i + 1
	}
	w.add(s[start:])
}

// webURL returns the URL if it is http, https or relative, and else "#", which leads nowhere.
func webURL(url string) string {
	switch scheme(url) {
	case "", "http", "https":
		return url
	}
	return "#"
}

// scheme returns what stands before the colon, "" for a relative URL. Whatever it returns for blanks and controls, which a
// browser skips (URL standard, 4.4), is not a scheme anyone asks for.
func scheme(url string) string {
	before, _, found := strings.Cut(url, ":")
	if !found || strings.ContainsAny(before, "/?#") {
		return ""
	}
	return strings.ToLower(before)
}

// or returns s, or what stands in for it if it is "".
func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// when returns s if it applies.
func when(applies bool, s string) string {
	if applies {
		return s
	}
	return ""
}

// only reports whether s has no characters but ASCII letters, digits and those of punctuation.
func only(s, punctuation string) bool {
	for i := range len(s) {
		c := s[i]
		if letter := c | 0x20; (letter < 'a' || 'z' < letter) && (c < '0' || '9' < c) && strings.IndexByte(punctuation, c) < 0 {
			return false
		}
	}
	return true
}
