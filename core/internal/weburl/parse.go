package weburl

import (
	"strconv"
	"strings"
)

// parser is the WHATWG basic URL parser without its state overrides, written as one function for each stretch of the URL
// instead of one state for each character. rest is what has not been read yet.
type parser struct {
	url     *URL
	rest    string
	special bool
	path    []string
}

func parse(s string, base *URL) (*URL, bool) {
	s = strings.TrimFunc(decodeUTF8(s), func(r rune) bool { return r <= ' ' })
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.Map(func(r rune) rune {
			if r == '\t' || r == '\n' || r == '\r' {
				return -1
			}
			return r
		}, s)
	}
	p := &parser{url: &URL{}, rest: s}
	if !p.start(base) {
		return nil, false
	}
	return p.url, true
}

// start decides by the scheme how to go on.
func (p *parser) start(base *URL) bool {
	scheme, rest, ok := cutScheme(p.rest)
	if !ok {
		if base == nil {
			return false
		}
		p.url.Scheme, p.special = base.Scheme, true
		return p.relative(base)
	}
	p.url.Scheme, p.rest = scheme, rest
	_, p.special = special(scheme)
	switch {
	case scheme == "file":
		return p.file()
	case p.special && base != nil && base.Scheme == scheme:
		return p.relative(base)
	case p.special:
		p.rest = strings.TrimLeft(rest, `/\`)
		return p.authority()
	case strings.HasPrefix(rest, "//"):
		p.rest = rest[2:]
		return p.authority()
	case strings.HasPrefix(rest, "/"):
		p.url.noHost = true
		p.segments()
	default:
		p.url.noHost, p.url.Opaque = true, true
		p.url.Path = percentEncode(p.take(p.until("?#")), controlSet)
	}
	p.tail()
	return true
}

// cutScheme splits off the scheme. It reports false if s has none.
func cutScheme(s string) (scheme, rest string, ok bool) {
	for i := range len(s) {
		c := s[i]
		switch {
		case isAlpha(c), i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(s[:i]), s[i+1:], true
		default:
			return "", s, false
		}
	}
	return "", s, false
}

// until returns the length of what comes before the first of the characters in stop.
func (p *parser) until(stop string) int {
	if i := strings.IndexAny(p.rest, stop); i >= 0 {
		return i
	}
	return len(p.rest)
}

func (p *parser) take(n int) string {
	s := p.rest[:n]
	p.rest = p.rest[n:]
	return s
}

func (p *parser) isSlash(i int) bool {
	return i < len(p.rest) && (p.rest[i] == '/' || p.special && p.rest[i] == '\\')
}

// relative continues without a scheme of its own. The base is http or https, so both kinds of slashes count.
func (p *parser) relative(base *URL) bool {
	u := p.url
	if p.isSlash(0) && p.isSlash(1) {
		p.rest = strings.TrimLeft(p.rest, `/\`)
		return p.authority()
	}
	u.userinfo, u.User, u.Host = base.userinfo, base.User, base.Host
	switch {
	case p.isSlash(0):
		p.segments()
	case p.rest == "" || p.rest[0] == '#':
		u.Path, u.Query = base.Path, base.Query
	case p.rest[0] == '?':
		u.Path = base.Path
	default:
		p.path = strings.Split(strings.TrimPrefix(base.Path, "/"), "/")
		p.shorten()
		p.segments()
	}
	p.tail()
	return true
}

// authority reads user info, host and port, and then everything after them.
func (p *parser) authority() bool {
	u := p.url
	stop := "/?#"
	if p.special {
		stop = `/\?#`
	}
	hostport := p.take(p.until(stop))
	if at := strings.LastIndexByte(hostport, '@'); at >= 0 {
		user, password, _ := strings.Cut(hostport[:at], ":")
		u.userinfo = percentEncode(user, userinfoSet)
		if password != "" {
			u.userinfo += ":" + percentEncode(password, userinfoSet)
		}
		u.User = u.userinfo != ""
		hostport = hostport[at+1:]
		if hostport == "" {
			return false
		}
	}
	host, port, hasPort := cutPort(hostport)
	if host == "" && (hasPort || p.special) {
		return false
	}
	var ok bool
	if u.Host, ok = parseHost(host, p.special); !ok {
		return false
	}
	if port, ok = parsePort(port, u.Scheme); !ok {
		return false
	}
	u.Host += port
	if p.special || p.isSlash(0) {
		p.segments()
	}
	p.tail()
	return true
}

// cutPort cuts at the first colon outside of brackets.
func cutPort(s string) (host, port string, found bool) {
	inside := false
	for i := range len(s) {
		switch s[i] {
		case '[':
			inside = true
		case ']':
			inside = false
		case ':':
			if !inside {
				return s[:i], s[i+1:], true
			}
		}
	}
	return s, "", false
}

// parsePort returns the port as it is serialised: with its colon, or "" if it is absent or the default.
func parsePort(s, scheme string) (string, bool) {
	n := 0
	for i := range len(s) {
		if !isDigit(s[i]) {
			return "", false
		}
		if n = n*10 + int(s[i]-'0'); n > 65535 {
			return "", false
		}
	}
	if s == "" {
		return "", true
	}
	s = strconv.Itoa(n)
	if port, _ := special(scheme); s == port {
		return "", true
	}
	return ":" + s, true
}

// segments reads a path that is a list, up to the query or fragment, onto p.path.
func (p *parser) segments() {
	if p.isSlash(0) {
		p.rest = p.rest[1:]
	}
	stop := "/?#"
	if p.special {
		stop = `/\?#`
	}
	for {
		segment := p.take(p.until(stop))
		more := p.isSlash(0)
		switch dots(segment) {
		case 2:
			p.shorten()
			if !more {
				p.path = append(p.path, "")
			}
		case 1:
			if !more {
				p.path = append(p.path, "")
			}
		default:
			if p.url.Scheme == "file" && len(p.path) == 0 && isDriveLetter(segment) {
				segment = segment[:1] + ":"
			}
			p.path = append(p.path, percentEncode(segment, pathSet))
		}
		if !more {
			break
		}
		p.rest = p.rest[1:]
	}
	p.url.Path = "/" + strings.Join(p.path, "/")
}

// shorten removes the last segment, but never the drive letter of a file URL.
func (p *parser) shorten() {
	n := len(p.path)
	if n == 0 || n == 1 && p.url.Scheme == "file" && isDriveLetter(p.path[0]) {
		return
	}
	p.path = p.path[:n-1]
}

// tail reads the query and the fragment.
func (p *parser) tail() {
	if strings.HasPrefix(p.rest, "?") {
		set := querySet
		if p.special {
			set = specialQuerySet
		}
		p.url.Query = "?" + percentEncode(p.take(p.until("#"))[1:], set)
	}
	if p.rest != "" {
		p.url.Fragment = "#" + percentEncode(p.rest[1:], fragmentSet)
	}
}

// file reads what follows "file:". Its base is never a file URL, so a missing host is an empty one.
func (p *parser) file() bool {
	if p.isSlash(0) && p.isSlash(1) {
		p.rest = p.rest[2:]
		if end := p.until(`/\?#`); !isDriveLetter(p.rest[:end]) {
			host, ok := parseHost(p.take(end), end > 0)
			if !ok {
				return false
			}
			if host != "localhost" {
				p.url.Host = host
			}
		}
	}
	p.segments()
	p.tail()
	return true
}

// dots tells a single-dot segment (1) and a double-dot segment (2) from all others (0). A dot may be written %2e.
func dots(s string) int {
	n := 0
	for s != "" {
		switch {
		case s[0] == '.':
			s = s[1:]
		case len(s) >= 3 && s[0] == '%' && s[1] == '2' && s[2]|0x20 == 'e':
			s = s[3:]
		default:
			return 0
		}
		if n++; n > 2 {
			return 0
		}
	}
	return n
}

func isDriveLetter(s string) bool {
	return len(s) == 2 && isAlpha(s[0]) && (s[1] == ':' || s[1] == '|')
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
