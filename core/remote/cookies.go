package remote

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxChunks is how many pieces of a session cookie the handler reads.
const maxChunks = 200

// ours reports whether a cookie is the session cookie under one of its names, or a chunk of it.
func (e *Edge) ours(name string) bool {
	for _, one := range e.names {
		if rest, ok := strings.CutPrefix(name, one); ok && (rest == "" || isChunk(rest)) {
			return true
		}
	}
	return false
}

// isChunk reads the ".12" of a chunk's name, written as the handler writes it.
func isChunk(s string) bool {
	digits, ok := strings.CutPrefix(s, ".")
	n, err := strconv.Atoi(digits)
	return ok && err == nil && n < maxChunks && digits == strconv.Itoa(n)
}

// sessionPairs gives the session cookies of a request as the browser sent them, in its order.
// Of several with one name the first counts, and empty ones don't.
func (e *Edge) sessionPairs(r *http.Request) []string {
	var pairs, names []string
	for _, line := range r.Header["Cookie"] {
		for part := range strings.SplitSeq(line, ";") {
			name, value, ok := strings.Cut(part, "=")
			name, value = strings.Trim(name, " \t"), strings.Trim(value, " \t")
			if !ok || !e.ours(name) || slices.Contains(names, name) {
				continue
			}
			names = append(names, name)
			if value != "" {
				pairs = append(pairs, name+"="+value)
			}
		}
	}
	return pairs
}

// sessionLines picks the session cookies among an answer's Set-Cookie lines. The handler also
// sets a CSRF token and a callback URL for a client that sends none; the browser has its own,
// which a form it is showing depends on.
func (e *Edge) sessionLines(lines []string) []string {
	var out []string
	for _, line := range lines {
		name, _, ok := strings.Cut(line, "=")
		if ok && e.ours(strings.TrimSpace(name)) && len(out) < 3*maxChunks {
			out = append(out, line)
		}
	}
	return out
}

// next gives the session cookies that the browser will send once it has obeyed these lines.
func next(pairs, lines []string) []string {
	out := slices.Clone(pairs)
	for _, line := range lines {
		pair, attributes, _ := strings.Cut(line, ";")
		name, value, _ := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		at := slices.IndexFunc(out, func(p string) bool { return strings.HasPrefix(p, name+"=") })
		gone := value == "" || strings.Contains(strings.ToLower(strings.ReplaceAll(attributes, " ", "")), "max-age=0")
		switch {
		case gone && at >= 0:
			out = slices.Delete(out, at, at+1)
		case gone:
		case at >= 0:
			out[at] = name + "=" + value
		default:
			out = append(out, name+"="+value)
		}
	}
	return out
}
