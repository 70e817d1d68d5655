package core_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// The targets here change one thing that a stranger controls, in the middle of a sign-in that
// is honest but for it. Nothing may panic, and nobody may be signed in by it.

// fuzzAnswer replaces the body of a provider's answer. accept says for which bodies a sign-in
// may succeed.
func fuzzAnswer(f *testing.F, route, provider string, seeds []string, accept func(p *idp, honest, body string) bool) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p := newIDP()
		honest := ""
		p.transport = func(r *http.Request) (*http.Response, bool, error) {
			if r.Method+" "+r.URL.Path != route {
				return nil, false, nil
			}
			p.transport = nil
			resp, err := p.RoundTrip(r)
			if err == nil {
				raw, _ := io.ReadAll(resp.Body)
				honest = string(raw)
			}
			return respond(http.StatusOK, string(body)), true, err
		}
		var log journal
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{p.oidc(core.CheckPKCE, core.CheckState), p.hub()}, Transport: p, Logger: log.logger(),
		})
		b := newBrowser(t, auth)
		if route == "GET /.well-known/openid-configuration" {
			// The document may send the browser anywhere; only what comes back of it counts here.
			a := b.post("/auth/signin/" + provider)
			if a.status != http.StatusFound {
				t.Errorf("%q: %d", body, a.status)
			}
		} else {
			p.signIn(b, provider)
		}
		if log.has(core.ErrPanic) {
			t.Fatalf("%q: %s", body, log.text())
		}
		if b.hasSession() && !accept(p, honest, string(body)) {
			t.Errorf("%q signs somebody in", body)
		}
	})
}

func FuzzDiscoveryDocument(f *testing.F) {
	fuzzAnswer(f, "GET /.well-known/openid-configuration", "idp", []string{
		`{"issuer":"https://idp.example","authorization_endpoint":"https://idp.example/authorize"}`,
		`{"issuer":"https://idp.example/","authorization_endpoint":"%"}`, `{"issuer":5}`, `[]`, `null`, `{`, ``,
		`{"issuer":"https://idp.example","authorization_endpoint":"javascript:x","id_token_signing_alg_values_supported":"RS256"}`,
		`{"issuer":"https://idp.example","authorization_endpoint":"https://idp.example/a?client_id=x&scope=y#z"}`,
	}, func(*idp, string, string) bool { return false })
}

func FuzzJWKS(f *testing.F) {
	modulus := rsaJWK("rsa-1", &rsaKey().PublicKey)["n"].(string)
	fuzzAnswer(f, "GET /keys", "idp", []string{
		`{"keys":[{"kty":"RSA","kid":"rsa-1","n":"` + modulus + `","e":"AQAB"}]}`, `{"keys":[{"kty":"oct","k":"AAAA","kid":"rsa-1"}]}`,
		`{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"rsa-1"}]}`, `{"keys":[{"kty":"RSA","kid":"rsa-1","n":"AQ","e":"AQ"}]}`,
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}`, `{"keys":{}}`, `{"keys":[null,5,[]]}`, `{}`, `[]`, `null`, ``,
	}, func(_ *idp, _, body string) bool { return strings.Contains(body, modulus) })
}

func FuzzTokenResponse(f *testing.F) {
	fuzzAnswer(f, "POST /token", "idp", []string{
		`{"access_token":"a","token_type":"Bearer","id_token":"e30.e30.e30","expires_in":3600}`, `{"access_token":"a","token_type":"bearer"}`,
		`{"access_token":5,"token_type":"mac","expires_in":"soon"}`, `{"error":"invalid_grant"}`, `{"id_token":"a.b.c.d.e"}`, `[]`, `null`, `"x"`, ``,
	}, func(_ *idp, honest, body string) bool {
		_, rest, _ := strings.Cut(honest, `"id_token":"`)
		token, _, _ := strings.Cut(rest, `"`)
		return token != "" && strings.Contains(body, token)
	})
}

func FuzzUserInfo(f *testing.F) {
	fuzzAnswer(f, "GET /userinfo", "hub", []string{
		`{"sub":"user-1","name":"Jane","email":"Jane@Example.com","picture":"x"}`, `{"sub":5,"name":null,"email":null,"picture":["x"]}`,
		`{"id":12345678901234567890,"email":"a@b@c"}`, `{"email":5}`, `{"name":{"a":[1]}}`, `{}`, `[]`, `null`, `"x"`, ``,
	}, func(_ *idp, _, body string) bool { return strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), "{") })
}

func FuzzIDToken(f *testing.F) {
	honest := compact(map[string]any{"alg": "RS256", "kid": "rsa-1"}, map[string]any{
		"iss": "https://idp.example", "sub": "user-1", "aud": "client", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}, signRS256(rsaKey()))
	parts := strings.Split(honest, ".")
	for _, seed := range []string{
		honest, parts[0] + "." + parts[1] + ".", parts[0] + "." + parts[1], "..", "e30.e30.", honest + ".", honest + "=", " " + honest, "",
		base64url([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".", base64url([]byte(`{"alg":"HS256","kid":"rsa-1"}`)) + "." + parts[1] + "." + parts[2],
		base64url([]byte(`{"alg":"RS256","crit":["x"],"x":1}`)) + "." + parts[1] + "." + parts[2], parts[0] + "." + base64url([]byte(`{"sub":"x"}`)) + "." + parts[2],
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		p := newIDP()
		p.idToken = func(map[string]any) string { return token }
		var log journal
		b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{p.oidc()}, Transport: p, Logger: log.logger()}))
		p.signIn(b, "idp")
		if log.has(core.ErrPanic) {
			t.Fatalf("%q: %s", token, log.text())
		}
		if b.hasSession() && token != honest {
			t.Errorf("%q signs somebody in", token)
		}
	})
}

// FuzzBody is the body of a POST and its type: credentials, e-mail, session data.
func FuzzBody(f *testing.F) {
	for _, seed := range [][2]string{
		{"application/json", `{"name":"Ada","data":{"a":[1,null]},"csrfToken":"x"}`}, {"application/json", "\ufeff{}"}, {"application/json", `{"a":1}{`},
		{"application/json; charset=utf-16", "[]"}, {"application/x-www-form-urlencoded", "a=b&a=c&%zz=%&=&&callbackUrl=%2F%0a"},
		{"application/x-www-form-urlencoded", "?x\xff\xfe=+%C3"}, {"text/plain", "x"}, {"", ""}, {"application/json, application/x-www-form-urlencoded", "a=b"},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	var log journal
	auth := newAuth(f, core.Config{Providers: []core.Provider{anyone}, SkipCSRFCheck: true, Logger: log.logger()})
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		for _, target := range []string{"/auth/session", "/auth/signout", "/auth/callback/credentials"} {
			r := httptest.NewRequest(http.MethodPost, site+target, strings.NewReader(string(body)))
			r.Header.Set("Content-Type", contentType)
			resp := auth.Handle(r)
			if resp.Status >= 500 || resp.Err != nil && resp.Err.Kind == core.ErrPanic {
				t.Errorf("%s %q %q: %d %v", target, contentType, body, resp.Status, resp.Err)
			}
			wantSafe(t, resp.Header, "https://idp.example")
		}
	})
}

// FuzzCookies is a whole Cookie header, at routes that read each kind of cookie.
func FuzzCookies(f *testing.F) {
	p := newIDP()
	auth := newAuth(f, core.Config{Providers: []core.Provider{p.oidc(core.CheckPKCE, core.CheckState, core.CheckNonce), anyone}, Transport: p})
	b := newBrowser(f, auth)
	callback := p.approve(f, p.start(b, "idp"))
	flow := b.cookieHeader()
	b.signInAs("Ada")
	for _, seed := range []string{
		flow, b.cookieHeader(), "authjs.session-token=a.b.c.d.e; authjs.session-token.0=x", "authjs.callback-url=%zz; authjs.csrf-token=a|b|c",
		"=; ;;;a;b=;authjs.session-token.1=x; authjs.state=" + strings.Repeat("A", 300), "authjs.pkce.code_verifier=" + b.cookie(sessionCookie), "\x00\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		for _, target := range []string{"/auth/session", callback, "/auth/signin"} {
			r := httptest.NewRequest(http.MethodGet, site+target, nil)
			r.Header["Cookie"] = []string{header}
			resp := auth.Handle(r)
			if resp.Status >= 500 || resp.Err != nil && resp.Err.Kind == core.ErrPanic {
				t.Errorf("%s %q: %d %v", target, header, resp.Status, resp.Err)
			}
			// Tokens of other runs are seeds, too: they are sealed with the same secret. All are Ada's.
			if resp.Session != nil && resp.Session.User.Name != "Ada" {
				t.Errorf("%q is the session of %q", header, resp.Session.User.Name)
			}
			wantSafe(t, resp.Header, p.issuer)
		}
	})
}
