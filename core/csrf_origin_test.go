package core_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// CSRFOrigin takes a browser's word, in Sec-Fetch-Site and Origin, that a POST comes from the
// site itself, and nothing less (Fetch Metadata, section 2.4; RFC 6454, section 7).
func TestCSRFOrigin(t *testing.T) {
	t.Parallel()
	header := func(pairs ...string) http.Header {
		h := formType()
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for _, c := range []struct {
		name   string
		origin string // of the site
		header http.Header
		ok     bool
	}{
		{"same-origin", site, header("Sec-Fetch-Site", "same-origin"), true},
		{"same-origin with the origin", site, header("Sec-Fetch-Site", "same-origin", "Origin", site), true},
		{"the origin alone", site, header("Origin", site), true},
		{"typed into the address bar", site, header("Sec-Fetch-Site", "none"), true},
		{"neither, as no browser does it", site, header(), false},
		{"same-site", site, header("Sec-Fetch-Site", "same-site"), false},
		{"same-site with the origin", site, header("Sec-Fetch-Site", "same-site", "Origin", site), false},
		{"cross-site", site, header("Sec-Fetch-Site", "cross-site"), false},
		{"cross-site with the site's origin", site, header("Sec-Fetch-Site", "cross-site", "Origin", site), false},
		{"an unknown word", site, header("Sec-Fetch-Site", "SAME-ORIGIN"), false},
		{"another origin", site, header("Origin", "http://evil.example"), false},
		{"same-origin with another origin", site, header("Sec-Fetch-Site", "same-origin", "Origin", "http://evil.example"), false},
		{"none with another origin", site, header("Sec-Fetch-Site", "none", "Origin", "http://evil.example"), false},
		{"a null origin", site, header("Origin", "null"), false},
		{"same-origin with a null origin", site, header("Sec-Fetch-Site", "same-origin", "Origin", "null"), false},
		{"a subdomain", site, header("Origin", "http://x.app.example"), false},
		{"the parent domain", site, header("Origin", "http://example"), false},
		{"another port", site, header("Origin", site+":8080"), false},
		{"the default port", site, header("Origin", site+":80"), false}, // browsers leave it out
		{"a slash more", site, header("Origin", site+"/"), false},
		{"two origins", site, header("Origin", site+" http://evil.example"), false},
		{"a user in the origin", site, header("Origin", "http://app.example@evil.example"), false},
		{"https", secureSite, header("Sec-Fetch-Site", "same-origin", "Origin", secureSite), true},
		{"http origin for an https site", secureSite, header("Origin", site), false},
		{"https origin for an http site", site, header("Origin", secureSite), false},
		{"behind a proxy", "http://10.0.0.1:8080", header("X-Forwarded-Host", "app.example", "X-Forwarded-Proto", "https", "Origin", secureSite), true},
		{"behind a proxy, same-origin", "http://10.0.0.1:8080", header("X-Forwarded-Host", "app.example", "Sec-Fetch-Site", "same-origin"), true},
		{"behind a proxy, the inner origin", "http://10.0.0.1:8080", header("X-Forwarded-Host", "app.example", "Origin", "http://10.0.0.1:8080"), false},
		{"behind a proxy, another origin", "http://10.0.0.1:8080", header("X-Forwarded-Host", "app.example", "Origin", "http://evil.example"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, mode := range []core.CSRFMode{core.CSRFOrigin, core.CSRFToken} {
				// A token of CSRFToken's clients is needed there, and never the origin's word.
				ok := c.ok && mode == core.CSRFOrigin
				b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{anyone}, CSRF: mode, UseSecureCookies: core.Off}))
				b.origin, b.isLax = c.origin, true
				for _, route := range []string{"signin", "signout", "callback/credentials"} {
					a := b.send(http.MethodPost, "/auth/"+route, c.header, "name=Ada")
					if passed := !strings.HasSuffix(a.location(), "/auth/signin?error=MissingCSRF"); passed != ok {
						t.Errorf("mode %d, POST %s: %d %q", mode, route, a.status, a.location())
					}
				}
				if b.hasSession() != ok {
					t.Errorf("mode %d: session %v", mode, b.hasSession())
				}
				a := b.send(http.MethodPost, "/auth/session", c.header, "")
				if passed := a.status == http.StatusOK; passed != ok {
					t.Errorf("mode %d, POST session: %d %s", mode, a.status, a.body)
				}
				// The token still works, whatever the headers say: clients of both kinds are there.
				form := "name=Bob&csrfToken=" + csrfAt(b, "/auth")
				if a := b.send(http.MethodPost, "/auth/callback/credentials", c.header, form); strings.Contains(a.location(), "error") || !b.hasSession() {
					t.Errorf("mode %d, with the token: %d %q", mode, a.status, a.location())
				}
			}
		})
	}
}

// Under CSRFOrigin the token route and the pages' tokens stay as they are.
func TestCSRFOriginKeepsTokens(t *testing.T) {
	t.Parallel()
	p := newIDP()
	b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{p.oidc()}, Transport: p, CSRF: core.CSRFOrigin}))
	token := b.csrf()
	if len(token) != 64 || !strings.Contains(b.get("/auth/signin").body, token) {
		t.Errorf("the token is %q", token)
	}
	p.signIn(b, "idp").wantRedirect(t, site)
	b.send(http.MethodPost, "/auth/signout", formType(), "csrfToken=wrong").wantError(t, "signin?error=MissingCSRF")
	if b.user() != "Jane" {
		t.Error("signed out by a POST without a proof")
	}
	// The provider's own POST to the callback needs neither (fact 21).
	callback := p.approve(t, p.start(b, "idp"))
	header := formType()
	header.Set("Sec-Fetch-Site", "cross-site")
	header.Set("Origin", p.issuer)
	b.send(http.MethodPost, callback, header, "x=y").wantRedirect(t, site)
}
