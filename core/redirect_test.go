package core_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core"
	"golang.org/x/text/unicode/norm"
)

// hostileURLs are callback URLs that have led out of somebody's site: reliability.md 2.8,
// with app.example for our own host.
var hostileURLs = []string{
	"//evil.example", "///evil.example", "////evil.example", `/\evil.example`, `\\evil.example`, `\/evil.example`, "/%09/evil.example",
	"\t//evil.example", "/\t/evil.example", " //evil.example", "/ /evil.example", "/.//evil.example", "/..//evil.example", "/./\\evil.example", "/%2e%2e//evil.example",
	"https:evil.example", "http:evil.example", "https:/evil.example", `https:\\evil.example`, `http:\/evil.example`, "HTTP://EVIL.EXAMPLE", "https://app.example",
	"http://app.example@evil.example", "http://app.example:pw@evil.example", "http://evil.example@app.example", "http://evil.example%2f@app.example/",
	"http://app.example.evil.example", "http://app.example:444/", "http://app.example:80/", "http://app.example:", "http://app.example:0080/", "http://%61pp.example/", "http://APP.example/x", "http://app.example./",
	"http://app.example%00.evil.example", "http://app.example%2eevil.example", "http://app.example。evil.example", "http://app．example/", "http://evil.example／app.example",
	"http://app.example\\@evil.example", `http://app.example\.evil.example`, "http://app.example#@evil.example/", "http://app.example?@evil.example/", "http://app.example;@evil.example/",
	"http://evil.example#app.example", "http://evil.example?http://app.example", "http://evil.example\t@app.example", "http://app.example\n@evil.example",
	"javascript:alert(1)", "java\nscript:alert(1)", " javascript:alert(1)", "javascript://app.example/%0aalert(1)", "data:text/html,<script>", "vbscript:x", "file:///etc/passwd", "ftp://app.example/", "blob:http://app.example/x", "view-source:http://app.example",
	"//[::1]", "//[::1", "http://[::1]@evil.example", "http://[fe80::1%25eth0]/", "http://0x7f.1/", "http://2130706433/", "http://evil.example:99999/", "http://", "//", "/", "?x", "#x", "x", "",
	"/x\r\nSet-Cookie: a=b", "/x%0d%0aSet-Cookie:%20a=b", "/x\x00", "\x00//evil.example", "/\u2028//evil.example", "/\ufeff//evil.example", "/é", "/日本", "/\xff\xfe", "/\ud7ff",
	"http://xn--a/", "http://аpp.example/", "http://app.example\u202e/", "/" + strings.Repeat("x", 16<<10), strings.Repeat("//", 8<<10) + "evil.example",
	"null", "undefined", "[object Object]", "http://app.example/../../x", "/auth/signout", "/%5cevil.example", `/%5c%5cevil.example`, "/;//evil.example", `\evil.example`, "///\\;@evil.example", "http:///evil.example", "http:\t//evil.example",
}

// Wherever a callback URL comes from, no redirect leads out of the site, and no answer is worse
// than the documented one: A3 and A4 (CVE-2022-24858, CVE-2022-29214), S-1.
func TestRedirectsStayOnTheSite(t *testing.T) {
	t.Parallel()
	p := newIDP()
	auth := p.auth(t, p.oidc(), anyone)
	entries := map[string]func(b *browser, to string) *answer{
		"the query of GET signin":   func(b *browser, to string) *answer { return b.get("/auth/signin?callbackUrl=" + url.QueryEscape(to)) },
		"the query of GET signout":  func(b *browser, to string) *answer { return b.get("/auth/signout?callbackUrl=" + url.QueryEscape(to)) },
		"the query of GET session":  func(b *browser, to string) *answer { return b.get("/auth/session?callbackUrl=" + url.QueryEscape(to)) },
		"the query of GET error":    func(b *browser, to string) *answer { return b.get("/auth/error?callbackUrl=" + url.QueryEscape(to)) },
		"the query of POST signin":  func(b *browser, to string) *answer { return b.post("/auth/signin?callbackUrl=" + url.QueryEscape(to)) },
		"the body of POST signin":   func(b *browser, to string) *answer { return b.post("/auth/signin/idp", "callbackUrl", to) },
		"the query of POST signout": func(b *browser, to string) *answer { return b.post("/auth/signout?callbackUrl=" + url.QueryEscape(to)) },
		"the body of POST signout":  func(b *browser, to string) *answer { return b.post("/auth/signout", "callbackUrl", to) },
		"the body of a credentials form": func(b *browser, to string) *answer {
			return b.post("/auth/callback/credentials", "callbackUrl", to, "name", "Ada")
		},
		"a failing credentials form": func(b *browser, to string) *answer { return b.post("/auth/callback/credentials", "callbackUrl", to) },
		"the query of a callback": func(b *browser, to string) *answer {
			return b.get(p.approve(b.t, p.start(b, "idp")) + "&callbackUrl=" + url.QueryEscape(to))
		},
		"a failing callback": func(b *browser, to string) *answer {
			return b.get("/auth/callback/idp?error=x&callbackUrl=" + url.QueryEscape(to))
		},
		"the cookie": func(b *browser, to string) *answer {
			b.set(callbackURLCookie, url.QueryEscape(to))
			return b.post("/auth/signout")
		},
		"the cookie, as JSON": func(b *browser, to string) *answer {
			b.set(callbackURLCookie, url.QueryEscape(to))
			header := formType()
			header["X-Auth-Return-Redirect"] = []string{""}
			return b.send(http.MethodPost, "/auth/signout", header, "csrfToken="+b.csrf())
		},
		"the cookie that the query sets": func(b *browser, to string) *answer {
			b.get("/auth/signin?callbackUrl=" + url.QueryEscape(to))
			return b.post("/auth/callback/credentials", "name", "Ada")
		},
	}
	for entry, enter := range entries {
		t.Run(entry, func(t *testing.T) {
			t.Parallel()
			for _, to := range hostileURLs {
				b := newBrowser(t, auth)
				a := enter(b, to)
				if a.status >= 500 && (a.status != http.StatusInternalServerError || !strings.Contains(a.body, "server configuration")) {
					t.Errorf("%.60q: %d", to, a.status)
				}
				location := a.location()
				if strings.HasPrefix(location, p.issuer+"/authorize?") && entry == "the body of POST signin" {
					continue
				}
				if got := browserOrigin(location, site+"/auth/signin"); location != "" && got != site {
					t.Errorf("%.60q leads to %.60q, which is %s", to, location, got)
				}
				// What is kept for later must not lead out either.
				isGiven := b.cookie(callbackURLCookie) == url.QueryEscape(to) // nobody but the test has set it
				kept, err := url.PathUnescape(b.cookie(callbackURLCookie))
				if got := browserOrigin(kept, site+"/auth/signin"); !isGiven && (err != nil || got != site) {
					t.Errorf("%.60q is kept as %.60q, which is %s", to, kept, got)
				}
			}
		})
	}
}

// browserOrigin is the origin that a browser goes to for a Location header. It follows the
// URL Standard's parser step by step and shares no code with the one that decides.
func browserOrigin(location, base string) string {
	text := strings.Trim(location, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f ")
	text = strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(text)
	baseScheme, baseRest, _ := strings.Cut(base, "://")
	baseHost, _, _ := strings.Cut(baseRest, "/")
	scheme, rest := baseScheme, text
	if i := strings.IndexFunc(text, func(c rune) bool { return !isSchemeByte(c) }); i > 0 && text[i] == ':' && isLetter(text[0]) {
		scheme, rest = strings.ToLower(text[:i]), text[i+1:]
		if scheme != "http" && scheme != "https" {
			return scheme + ":"
		}
		if scheme != baseScheme {
			rest = "//" + rest // slashes are optional after a special scheme that is not the base's
		}
	}
	if !strings.HasPrefix(rest, "//") {
		return baseScheme + "://" + baseHost
	}
	authority := strings.TrimLeft(rest, "/")
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		return "somebody@" + authority[i+1:] // never wanted
	}
	host, port := authority, ""
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		host, port = authority[:i], strings.TrimLeft(authority[i+1:], "0")
	}
	if port != "" && port != map[string]string{"http": "80", "https": "443"}[scheme] {
		port = ":" + port
	} else {
		port = ""
	}
	if decoded, err := url.PathUnescape(host); err == nil {
		host = decoded
	}
	if !utf8.ValidString(host) { // a header's bytes are characters
		var latin1 strings.Builder
		for i := range len(host) {
			latin1.WriteRune(rune(host[i]))
		}
		host = latin1.String()
	}
	host = strings.ToLower(norm.NFKC.String(strings.ReplaceAll(host, "\u00ad", ""))) // UTS #46
	return scheme + "://" + host + port
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isSchemeByte(c rune) bool {
	return c < 0x80 && isLetter(byte(c)) || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
}

// Facts 40 and 43 to 46: where a callback URL leads exactly.
func TestCallbackURL(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	const failure = site + "/auth/" + configurationError
	for asked, want := range map[string]string{
		"":                          site,
		"/":                         site + "/",
		"/deep/page?x=1#y":          site + "/deep/page?x=1#y",
		"//evil.example":            site + "//evil.example",
		`/\evil.example`:            site + `/\evil.example`,
		"/../x":                     site + "/../x",
		"/é":                        site + "/\xe9",
		"/a b":                      site + "/a b",
		site:                        site,
		site + "/":                  site + "/",
		site + ":80/x":              site + ":80/x",
		"HTTP://APP.EXAMPLE/x":      "HTTP://APP.EXAMPLE/x",
		"http://user@app.example/x": site,
		"https://app.example/x":     site,
		"http://app.example:81/x":   site,
		"http:evil.example":         site,
		"https://evil.example/":     site,
		"javascript:alert(1)":       site,
		"blob:http://app.example/x": site,
		"relative":                  failure,
		"?x":                        failure,
		"//":                        site + "//",
		"http://":                   failure,
		"/日本":                       failure,
		"/x\r\nSet-Cookie: a=b":     failure,
		"/x\x00":                    failure,
	} {
		b := newBrowser(t, auth)
		a := b.post("/auth/signout", "callbackUrl", asked)
		if a.location() != want {
			t.Errorf("%q leads to %q, want %q", asked, a.location(), want)
		}
		if a.header.Get("Set-Cookie") != "" && want == failure {
			t.Errorf("%q: an error sets a cookie", asked)
		}
	}
	// Facts 16 and 40: other kinds of JSON, and which source wins.
	for body, want := range map[string]string{
		`null`: site + "/query", `""`: site + "/cookie", `false`: site + "/cookie", `"/body"`: site + "/body",
		`7`: failure, `["/x"]`: failure, `{}`: failure, `true`: failure,
	} {
		b := newBrowser(t, auth)
		b.set(callbackURLCookie, "%2Fcookie")
		a := b.send(http.MethodPost, "/auth/signout?callbackUrl=/query", jsonType(), `{"csrfToken":"`+b.csrf()+`","callbackUrl":`+body+`}`)
		if a.location() != want {
			t.Errorf("%s as JSON leads to %q, want %q", body, a.location(), want)
		}
	}
}

// Facts 41 and 42: a callbackUrl in the query that is none is a configuration error. One in
// the cookie is ignored: it must not lock the browser out.
func TestMalformedCallbackURL(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	for _, bad := range []string{"relative", "?q", "#x", " /x", "javascript:x", "data:x", "ftp://app.example", "//", "http://app.example:99999", "http://[::1"} {
		b := newBrowser(t, auth)
		for target, body := range map[string]string{
			"/auth/signin": "Server error", "/auth/session": "server configuration", "/auth/csrf": "server configuration", "/auth/providers": "server configuration",
		} {
			a := b.get(target + "?callbackUrl=" + url.QueryEscape(bad))
			if a.status != http.StatusInternalServerError || !strings.Contains(a.body, body) || a.setsCookie("") {
				t.Errorf("%s with callbackUrl=%q: %d %.80s %v", target, bad, a.status, a.body, a.header["Set-Cookie"])
			}
		}
		b.set(callbackURLCookie, url.QueryEscape(bad))
		b.signInAs("Ada")
		if b.user() != "Ada" {
			t.Errorf("a cookie %q locks the browser out", bad)
		}
	}
}

// Facts 37 to 39: with X-Auth-Return-Redirect the target is told in the body.
func TestReturnRedirect(t *testing.T) {
	t.Parallel()
	p := newIDP()
	auth := newAuth(t, core.Config{Providers: []core.Provider{p.oidc(), anyone}, Transport: p, Pages: core.Pages{SignOut: "/bye"}})
	for _, value := range []string{"", "0", "false", "1"} {
		b := newBrowser(t, auth)
		header := formType()
		header["X-Auth-Return-Redirect"] = []string{value}
		body := "csrfToken=" + b.csrf() + "&name=Ada&callbackUrl=/x%3Fa%26b"

		a := b.send(http.MethodPost, "/auth/callback/credentials", header, body)
		if a.status != http.StatusOK || a.body != `{"url":"`+site+`/x?a\u0026b"}` || a.location() != site+"/x?a&b" ||
			a.header.Get("Content-Type") != "application/json" || b.user() != "Ada" {
			t.Errorf("success: %d %s %q", a.status, a.body, a.location())
		}
		a = b.send(http.MethodPost, "/auth/signin/idp", header, body)
		if a.status != http.StatusOK || !strings.HasPrefix(a.location(), p.issuer) || !strings.Contains(a.body, p.issuer) {
			t.Errorf("signin: %d %s %q", a.status, a.body, a.location())
		}
		a = b.send(http.MethodGet, "/auth/signout", header, "")
		if a.status != http.StatusOK || a.body != `{"url":"/bye"}` || a.location() != "/bye" {
			t.Errorf("a page: %d %s %q", a.status, a.body, a.location())
		}
		a = b.send(http.MethodPost, "/auth/signout", header, "")
		if a.status != http.StatusOK || a.body != `{"url":"`+site+`/auth/signin?error=MissingCSRF"}` || a.location() != "" {
			t.Errorf("failure: %d %s %q", a.status, a.body, a.location())
		}
		a = b.send(http.MethodGet, "/auth/session", header, "")
		if a.status != http.StatusOK || !strings.Contains(a.body, "Ada") {
			t.Errorf("no redirect: %d %s", a.status, a.body)
		}
	}
}

// The Redirect callback has the last word, and the first one.
func TestRedirectCallback(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{anyone},
		Callbacks: core.Callbacks{Redirect: func(_ context.Context, p core.RedirectParams) (string, error) {
			if p.BaseURL != site {
				t.Errorf("BaseURL %q", p.BaseURL)
			}
			if p.URL == "https://partner.example/x" {
				return p.URL, nil
			}
			return p.BaseURL + "/home", nil
		}},
	})
	for asked, want := range map[string]string{
		"https://partner.example/x": "https://partner.example/x",
		"https://evil.example/x":    site + "/home",
		"/x":                        site + "/home",
		"no URL":                    site + "/home",
	} {
		newBrowser(t, auth).post("/auth/signout", "callbackUrl", asked).wantRedirect(t, want)
	}
}
