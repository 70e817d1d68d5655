package core_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// csrfValue is the cookie for a token: fact 17.
func csrfValue(token string, secrets ...string) string {
	sum := sha256.Sum256([]byte(token + strings.Join(secrets, ",")))
	return token + "%7C" + hex.EncodeToString(sum[:])
}

// Facts 17 to 20: the cookie is token|hash, the hash binds the token to all the secrets.
func TestCSRFCookie(t *testing.T) {
	t.Parallel()
	second := "second " + secret
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}, Secret: []string{secret, second}})
	good := csrfValue("token", secret, second)
	for _, c := range []struct {
		name, cookie string
		valid        bool
	}{
		{"ours", good, true},
		{"unencoded", strings.Replace(good, "%7C", "|", 1), true},
		{"with a third part", good + "%7Cx", true},
		{"of one secret", csrfValue("token", secret), false},
		{"of the secrets in another order", csrfValue("token", second, secret), false},
		{"of another token", strings.Replace(good, "token", "other", 1), false},
		{"in capitals", "token%7C" + strings.ToUpper(strings.TrimPrefix(good, "token%7C")), false},
		{"quoted", `"` + good + `"`, false},
		{"without a hash", "token", false},
		{"with an empty hash", "token%7C", false},
		{"a plain hash", "token%7C" + strings.Repeat("0", 64), false},
		{"empty", "", false},
	} {
		b := newBrowser(t, auth)
		b.set(csrfCookie, c.cookie)
		a := b.get("/auth/csrf")
		if kept := !a.setsCookie(csrfCookie); kept != c.valid || strings.Contains(a.body, `"token"`) != c.valid {
			t.Errorf("a cookie %s: kept %v, answer %s", c.name, kept, a.body)
		}
		// With the token in the body a POST passes if, and only if, the cookie is valid.
		b.set(csrfCookie, c.cookie)
		b.send(http.MethodPost, "/auth/callback/credentials", formType(), "name=Ada&csrfToken=token")
		if b.hasSession() != c.valid {
			t.Errorf("a cookie %s: signed in %v", c.name, b.hasSession())
		}
	}
}

// Facts 20 to 22: which requests need a token, where it is looked for, and what the answer is.
func TestCSRFCheck(t *testing.T) {
	t.Parallel()
	p := newIDP()
	auth := p.auth(t, p.oidc(), anyone)
	for _, route := range []string{"signin/idp", "signin", "signin/credentials", "signout", "callback/credentials", "session"} {
		refused := func(b *browser, what, query string, header http.Header, body string) {
			t.Helper()
			a := b.send(http.MethodPost, "/auth/"+route+query, header, body)
			if route == "session" {
				if a.status != http.StatusBadRequest || a.body != "null" {
					t.Errorf("%s, %s: %d %s", route, what, a.status, a.body)
				}
				return
			}
			a.wantError(t, "signin?error=MissingCSRF")
		}
		b := newBrowser(t, auth)
		token := b.csrf()
		refused(b, "no token", "", formType(), "name=Ada")
		refused(b, "an empty token", "", formType(), "csrfToken=&name=Ada")
		refused(b, "another token", "", formType(), "csrfToken="+strings.Repeat("0", 64))
		refused(b, "the token in the query", "?csrfToken="+token, formType(), "")
		refused(b, "the token in a header", "", http.Header{"X-Csrf-Token": {token}, "Content-Type": formType()["Content-Type"]}, "x=y")
		refused(b, "the token in a list", "", jsonType(), `{"csrfToken":["`+token+`"]}`)
		refused(b, "the token in another kind of body", "", http.Header{"Content-Type": {"text/plain"}}, "csrfToken="+token)
		refused(b, "the last of two tokens is wrong", "", formType(), "csrfToken="+token+"&csrfToken=x")
		other := newBrowser(t, auth)
		refused(b, "another browser's token", "", formType(), "csrfToken="+other.csrf()) // G16
		stranger := newBrowser(t, auth)
		refused(stranger, "no cookie", "", formType(), "csrfToken="+token)

		if a := b.send(http.MethodPost, "/auth/"+route, jsonType(), `{"csrfToken":"`+token+`","name":"Ada"}`); a.status >= 400 || strings.Contains(a.location(), "error") {
			t.Errorf("%s with the token as JSON: %d %q", route, a.status, a.location())
		}
	}
	if p.count("POST /token") > 0 {
		t.Error("the provider was asked")
	}
}

// Frameworks with a protection of their own turn this one off: fact 23.
func TestSkipCSRFCheck(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{anyone}, SkipCSRFCheck: true}))
	b.set(csrfCookie, "x")
	a := b.get("/auth/csrf")
	if a.status != http.StatusNotFound || a.body != "" || a.header.Get("Content-Type") != "" || b.cookie(csrfCookie) != "" {
		t.Errorf("GET csrf: %d %q %v, cookie %q", a.status, a.body, a.header, b.cookie(csrfCookie))
	}
	b.send(http.MethodPost, "/auth/callback/credentials", formType(), "name=Ada").wantRedirect(t, site)
	if b.user() != "Ada" {
		t.Error("nobody is signed in")
	}
}
