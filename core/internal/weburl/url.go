// Package weburl holds the URL and form rules of the WHATWG (url.spec.whatwg.org) that the wire protocol depends on.
//
// A browser follows a redirect by these rules, and net/url decides differently: it takes "https:h" for an opaque URL where a
// browser goes to the host h, keeps a backslash that a browser turns into a slash, and refuses what a browser repairs. So
// whether a redirect target is ours is asked here and nowhere else. The tests compare every answer with Node's new URL.
//
// One deviation, on the safe side: there is no IDNA here (its tables weigh more than the rest of a session check). A host with
// characters outside ASCII, written raw or percent-encoded, is accepted but stays percent-encoded, so that it equals no host
// written in ASCII: a full-width spelling of our own host is a foreign host. A label that begins with "xn--" is compared as
// text; that it decodes is not checked.
package weburl

import "strings"

// URL is a parsed URL, for deciding where it leads. All parts are serialised, as in the properties of a JavaScript URL.
type URL struct {
	// Scheme is in lower case, without the colon.
	Scheme string
	// Host is the host with its port, the port left out if it is the scheme's default. It is empty for an opaque path, for
	// file:///x and for schemes like blob:. A special scheme's host contains a "%" only if it is not ASCII.
	Host string
	// User says that there are a user name or a password, even if only one of them.
	User bool
	// Path begins with a slash unless the path is opaque or empty, which it can only be for schemes unknown to browsers.
	Path string
	// Query is "" or begins with "?", and is "?" alone where the URL ends in one.
	Query string
	// Fragment is "" or begins with "#", and is "#" alone where the URL ends in one.
	Fragment string
	// Opaque says that the path is no list of segments, as in mailto:a@b or javascript:x; nothing can be relative to it.
	Opaque bool

	userinfo string // "user:password" as serialised, without the "@"
	noHost   bool   // the host is null rather than empty: foo:/x, not foo:///x
}

// Parse parses an absolute URL as new URL(s) does. It returns nil and false where that throws.
func Parse(s string) (*URL, bool) { return parse(s, nil) }

// ParseFrom parses s as new URL(s, base) does: relative to base, which must be an http or https URL. It returns nil
// and false where that throws, and for any other base.
func ParseFrom(s string, base *URL) (*URL, bool) {
	if base == nil || base.Scheme != "http" && base.Scheme != "https" {
		return nil, false
	}
	return parse(s, base)
}

// Origin returns "scheme://host[:port]" for http, https, ws, wss and ftp, the origin of what it wraps for a blob URL, and
// "null" for everything else. Two URLs are of the same origin if this is equal and not "null".
func (u *URL) Origin() string {
	switch u.Scheme {
	case "http", "https", "ws", "wss", "ftp":
		return u.Scheme + "://" + u.Host
	case "blob":
		if inner, ok := Parse(u.Path); ok && (inner.Scheme == "http" || inner.Scheme == "https") {
			return inner.Origin()
		}
	}
	return "null"
}

// String returns the serialised URL, the href of a JavaScript URL.
func (u *URL) String() string {
	var b strings.Builder
	b.Grow(len(u.Scheme) + len(u.userinfo) + len(u.Host) + len(u.Path) + len(u.Query) + len(u.Fragment) + 4)
	b.WriteString(u.Scheme)
	b.WriteByte(':')
	if !u.noHost {
		b.WriteString("//")
		if u.User {
			b.WriteString(u.userinfo)
			b.WriteByte('@')
		}
		b.WriteString(u.Host)
	} else if !u.Opaque && strings.HasPrefix(u.Path, "//") {
		b.WriteString("/.") // or the path would be read as a host
	}
	b.WriteString(u.Path)
	b.WriteString(u.Query)
	b.WriteString(u.Fragment)
	return b.String()
}

// special returns the default port of the schemes that browsers treat specially ("" for file, which has none).
func special(scheme string) (port string, ok bool) {
	switch scheme {
	case "http", "ws":
		return "80", true
	case "https", "wss":
		return "443", true
	case "ftp":
		return "21", true
	case "file":
		return "", true
	}
	return "", false
}
