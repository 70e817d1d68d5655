package core_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

const discoveryVisit = "GET /.well-known/openid-configuration"

// Discovery documents and keys are kept for 15 minutes.
func TestDiscoveryIsCached(t *testing.T) {
	t.Parallel()
	rsaKey()
	synctest.Test(t, func(t *testing.T) {
		p := newIDP()
		auth := p.auth(t, p.oidc())
		want := func(discoveries, keys int) {
			t.Helper()
			p.signIn(newBrowser(t, auth), "idp").wantRedirect(t, site)
			if d, k := p.count(discoveryVisit), p.count("GET /keys"); d != discoveries || k != keys {
				t.Errorf("%d discoveries and %d requests for keys, want %d and %d", d, k, discoveries, keys)
			}
		}
		want(1, 1)
		want(1, 1)
		time.Sleep(14 * time.Minute)
		want(1, 1)
		time.Sleep(2 * time.Minute)
		want(2, 2)
		want(2, 2)
	})
}

// A token that names an unknown key makes the keys be asked for again, once a minute.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	rsaKey()
	otherKey()
	synctest.Test(t, func(t *testing.T) {
		p := newIDP()
		auth := p.auth(t, p.oidc())
		signIn := func() *answer { return p.signIn(newBrowser(t, auth), "idp") }
		signIn().wantRedirect(t, site)

		// The provider signs with a new key and publishes both.
		published := p.keys()
		p.idToken = func(claims map[string]any) string {
			return compact(map[string]any{"alg": "RS256", "kid": "rsa-2"}, claims, signRS256(otherKey()))
		}
		p.keys = func() []map[string]any { return append(published, rsaJWK("rsa-2", &otherKey().PublicKey)) }
		for range 5 {
			signIn().wantError(t, configurationError)
		}
		if n := p.count("GET /keys"); n != 1 {
			t.Fatalf("the keys were asked for %d times within a minute", n)
		}
		time.Sleep(61 * time.Second)
		signIn().wantRedirect(t, site)
		signIn().wantRedirect(t, site)
		if n := p.count("GET /keys"); n != 2 {
			t.Fatalf("the keys were asked for %d times, want 2", n)
		}

		// Forged key ids can't make us ask more often than that.
		p.idToken = func(claims map[string]any) string {
			return compact(map[string]any{"alg": "RS256", "kid": "unknown"}, claims, signRS256(rsaKey()))
		}
		for range 20 {
			time.Sleep(15 * time.Second)
			signIn().wantError(t, configurationError)
		}
		if n := p.count("GET /keys"); n > 2+5 {
			t.Errorf("the keys were asked for %d times in 5 minutes", n-2)
		}
	})
}

// A failure is not kept, neither of discovery nor of the keys, and one that comes when the
// keys are looked for again doesn't lose those that are known.
func TestFailuresAreNotCached(t *testing.T) {
	t.Parallel()
	rsaKey()
	synctest.Test(t, func(t *testing.T) {
		p := newIDP()
		auth := p.auth(t, p.oidc())
		failing := ""
		p.transport = func(r *http.Request) (*http.Response, bool, error) {
			return respond(http.StatusInternalServerError, ""), r.URL.Path == failing, nil
		}
		failing = "/.well-known/openid-configuration"
		newBrowser(t, auth).post("/auth/signin/idp").wantError(t, configurationError)
		failing = "/keys"
		p.signIn(newBrowser(t, auth), "idp").wantError(t, configurationError)
		failing = ""
		p.signIn(newBrowser(t, auth), "idp").wantRedirect(t, site)

		time.Sleep(2 * time.Minute)
		honest := p.idToken
		p.idToken = func(claims map[string]any) string {
			return compact(map[string]any{"alg": "RS256", "kid": "unknown"}, claims, signRS256(rsaKey()))
		}
		failing = "/keys"
		p.signIn(newBrowser(t, auth), "idp").wantError(t, configurationError)
		p.idToken = honest
		p.signIn(newBrowser(t, auth), "idp").wantRedirect(t, site)
	})
}

// RFC 7517, section 5: keys that are not understood are ignored.
func TestKeySets(t *testing.T) {
	t.Parallel()
	good := rsaJWK("rsa-1", &rsaKey().PublicKey)
	with := func(change ...any) map[string]any {
		out := map[string]any{}
		for name, value := range good {
			out[name] = value
		}
		for i := 0; i < len(change); i += 2 {
			out[change[i].(string)] = change[i+1]
		}
		return out
	}
	for _, c := range []struct {
		name string
		keys []map[string]any
		ok   bool
	}{
		{"one key", []map[string]any{good}, true},
		{"of two with one id the second is right", []map[string]any{rsaJWK("rsa-1", &otherKey().PublicKey), good}, true},
		{"an unknown kind beside it", []map[string]any{{"kty": "NEW", "kid": "n"}, good}, true},
		{"an unknown curve beside it", []map[string]any{{"kty": "EC", "crv": "secp256k1", "kid": "k", "x": "AA", "y": "AA"}, good}, true},
		{"a key off its curve beside it", []map[string]any{{"kty": "EC", "crv": "P-256", "kid": "e", "x": base64url(make([]byte, 32)), "y": base64url(make([]byte, 32))}, good}, true},
		{"a key without a kind beside it", []map[string]any{{}, good}, true},
		{"without a use", []map[string]any{with("use", "")}, true},
		{"for encryption", []map[string]any{with("use", "enc")}, false},
		{"of another id", []map[string]any{with("kid", "rsa-0")}, false},
		{"another key", []map[string]any{rsaJWK("rsa-1", &otherKey().PublicKey)}, false},
		{"a shared secret", []map[string]any{{"kty": "oct", "kid": "rsa-1", "k": "c2VjcmV0"}}, false},
		{"none", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			p.keys = func() []map[string]any { return c.keys }
			b := newBrowser(t, p.auth(t, p.oidc()))
			if a := p.signIn(b, "idp"); c.ok {
				a.wantRedirect(t, site)
			} else {
				a.wantError(t, configurationError)
			}
			if b.hasSession() != c.ok {
				t.Errorf("session: %v", b.hasSession())
			}
		})
	}
}

// OpenID Connect Discovery 1.0, section 4.3, and facts 66 and 68.
func TestDiscoveryDocuments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		member string
		value  any
		starts bool // the sign-in starts
		ends   bool // and succeeds
	}{
		{"honest", "x", 1, true, true},
		{"another issuer", "issuer", "https://evil.example", false, false},
		{"an issuer on another path", "issuer", "https://idp.example/other", false, false},
		{"no issuer", "issuer", nil, false, false},
		{"an issuer that is a list", "issuer", []string{"https://idp.example"}, false, false},
		{"no authorization endpoint", "authorization_endpoint", nil, false, false},
		{"no token endpoint", "token_endpoint", nil, true, false},
		{"no userinfo endpoint", "userinfo_endpoint", nil, true, false},
		{"no keys", "jwks_uri", nil, true, false},
		{"no list of challenge methods", "code_challenge_methods_supported", nil, true, true},
		{"a list without S256", "code_challenge_methods_supported", []string{"plain"}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			p.discovery = func(document map[string]any) {
				if document[c.member] = c.value; c.value == nil {
					delete(document, c.member)
				}
			}
			b := newBrowser(t, p.auth(t, p.oidc()))
			if !c.starts {
				b.post("/auth/signin/idp").wantError(t, configurationError)
				return
			}
			if a := p.signIn(b, "idp"); c.ends {
				a.wantRedirect(t, site)
			} else {
				a.wantError(t, configurationError)
			}
			if b.hasSession() != c.ends {
				t.Errorf("session: %v", b.hasSession())
			}
		})
	}
}

// An issuer may have a path, and a slash at its end is none in the document's URL.
func TestIssuerPaths(t *testing.T) {
	t.Parallel()
	for issuer, want := range map[string]string{
		"https://idp.example":             "https://idp.example/.well-known/openid-configuration",
		"https://idp.example/":            "https://idp.example/.well-known/openid-configuration",
		"https://idp.example/tenant":      "https://idp.example/tenant/.well-known/openid-configuration",
		"https://idp.example/tenant/v2.0": "https://idp.example/tenant/v2.0/.well-known/openid-configuration",
	} {
		got := ""
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{core.OAuth{ID: "idp", OIDC: true, Issuer: issuer, ClientID: "client", ClientSecret: "secret"}},
			Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				got = r.URL.String()
				return respondJSON(map[string]any{"issuer": issuer, "authorization_endpoint": "https://idp.example/authorize"}), nil
			}),
		})
		if a := newBrowser(t, auth).post("/auth/signin/idp"); !strings.HasPrefix(a.location(), "https://idp.example/authorize?") || got != want {
			t.Errorf("%s: asked %s, redirected to %q", issuer, got, a.location())
		}
	}
}

// RFC 9207: who answered must be who was asked, before the code is sent anywhere.
func TestAuthorizationResponseIssuer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		promised bool // authorization_response_iss_parameter_supported
		iss      []string
		ok       bool
	}{
		{"promised and right", true, []string{"https://idp.example"}, true},
		{"not promised but right", false, []string{"https://idp.example"}, true},
		{"not promised and missing", false, nil, true},
		{"promised and missing", true, nil, false},
		{"promised and empty", true, []string{""}, false},
		{"another issuer's", false, []string{"https://evil.example"}, false},
		{"promised and another issuer's", true, []string{"https://evil.example"}, false},
		{"a slash more", true, []string{"https://idp.example/"}, false},
		{"in capitals", true, []string{"https://IDP.example"}, false},
		{"with a port", true, []string{"https://idp.example:443"}, false},
		{"another one after it", true, []string{"https://idp.example", "https://evil.example"}, false},
	} {
		for _, isError := range []bool{false, true} {
			p := newIDP()
			p.discovery = func(document map[string]any) { document["authorization_response_iss_parameter_supported"] = c.promised }
			p.callback = func(answer url.Values) {
				answer["iss"] = c.iss
				if isError {
					answer.Set("error", "access_denied")
				}
			}
			b := newBrowser(t, p.auth(t, p.oidc()))
			a := p.signIn(b, "idp")
			switch {
			case c.ok && isError:
				a.wantError(t, "signin?error=OAuthCallbackError")
			case c.ok:
				a.wantRedirect(t, site)
			default:
				a.wantError(t, configurationError)
			}
			if signedIn := c.ok && !isError; b.hasSession() != signedIn || p.count("POST /token") > 0 && !signedIn {
				t.Errorf("%s, error %v: session %v, asked %v", c.name, isError, b.hasSession(), p.visits)
			}
		}
	}
}
