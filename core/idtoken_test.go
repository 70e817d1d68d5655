package core_test

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// OpenID Connect Core 1.0, section 3.1.3.7, one lie of the provider a row. A refused token
// makes no session, leads to the error page, and nothing is asked of the provider any more.
func TestIDTokens(t *testing.T) {
	t.Parallel()
	type fromNow int64 // seconds; the rows wait for one another, so a time is made when it is told
	claim := func(name string, value any) func(*idp) {
		return func(p *idp) {
			p.claims = func(claims map[string]any) {
				claims[name] = value
				if seconds, ok := value.(fromNow); ok {
					claims[name] = time.Now().Unix() + int64(seconds)
				}
				if value == nil {
					delete(claims, name)
				}
			}
		}
	}
	signed := func(header map[string]any, sign func([]byte) []byte) func(*idp) {
		return func(p *idp) {
			p.idToken = func(claims map[string]any) string { return compact(header, claims, sign) }
		}
	}
	advertise := func(lie func(*idp), algs ...string) func(*idp) {
		return func(p *idp) {
			p.discovery = func(document map[string]any) { document["id_token_signing_alg_values_supported"] = algs }
			lie(p)
		}
	}
	raw := func(token string) func(*idp) {
		return func(p *idp) { p.tokens = func(answer map[string]any) { answer["id_token"] = token } }
	}
	both := func(lies ...func(*idp)) func(*idp) {
		return func(p *idp) {
			for _, lie := range lies {
				lie(p)
			}
		}
	}
	atHash := sha256.Sum256([]byte("access-token"))
	rs256 := map[string]any{"alg": "RS256", "kid": "rsa-1"}
	es256 := map[string]any{"alg": "ES256", "kid": "ec-1"}

	for _, c := range []struct {
		name string
		lie  func(*idp)
		ok   bool
	}{
		{"an honest token", func(*idp) {}, true},

		{"iss of somebody else", claim("iss", "https://evil.example"), false},
		{"iss with a slash more", claim("iss", "https://idp.example/"), false},
		{"no iss", claim("iss", nil), false},
		{"iss that is no text", claim("iss", []string{"https://idp.example"}), false},

		{"aud of another client", claim("aud", "another"), false},
		{"no aud", claim("aud", nil), false},
		{"an empty aud", claim("aud", ""), false},
		{"an empty list as aud", claim("aud", []string{}), false},
		{"a number as aud", claim("aud", 1), false},
		{"a nested list as aud", claim("aud", []any{[]string{"client"}}), false},
		{"aud as a list of one", claim("aud", []string{"client"}), true},
		{"a second audience without azp", claim("aud", []string{"another", "client"}), false},
		{"a second audience with another azp", both(claims("aud", []string{"client", "another"}, "azp", "another")), false},
		{"a second audience with azp", claims("aud", []string{"another", "client"}, "azp", "client"), true},
		{"audiences without ours", claims("aud", []string{"another", "third"}, "azp", "client"), false},

		{"expired", claim("exp", fromNow(-31)), false},
		{"expired within the tolerance", claim("exp", fromNow(-20)), true},
		{"no exp", claim("exp", nil), false},
		{"exp as text", claim("exp", "9999999999"), false},
		{"exp null", claims("exp", jsonNull{}), false},
		{"not valid yet", claim("nbf", fromNow(60)), false},
		{"not valid yet within the tolerance", claim("nbf", fromNow(20)), true},
		{"nbf as text", claim("nbf", "0"), false},
		{"no iat", claim("iat", nil), false},
		{"iat as text", claim("iat", "yesterday"), false},
		{"iat in the future", claim("iat", fromNow(1000)), true},

		{"no sub", claim("sub", nil), false},
		{"an empty sub", claim("sub", ""), false},
		{"a number as sub", claim("sub", 7), false},

		{"a wrong nonce", claim("nonce", "another"), false},
		{"no nonce", claim("nonce", nil), false},
		{"a list as nonce", claim("nonce", []string{"x"}), false},

		{"alg none", signed(map[string]any{"alg": "none"}, signNothing), false},
		{"alg none, advertised", advertise(signed(map[string]any{"alg": "none"}, signNothing), "none"), false},
		{"alg None beside RS256", advertise(signed(map[string]any{"alg": "None"}, signNothing), "None", "RS256"), false},
		{"HS256 with the client secret", advertise(signed(map[string]any{"alg": "HS256"}, signHS256([]byte("client-secret"))), "HS256", "RS256"), false},
		{"HS256 with the public key", signed(map[string]any{"alg": "HS256", "kid": "rsa-1"}, signHS256(publicPEM())), false},
		{"HS256 with the public key, advertised", advertise(signed(map[string]any{"alg": "HS256", "kid": "rsa-1"}, signHS256(publicPEM())), "HS256"), false},
		{"ES256 where RS256 is advertised", signed(es256, signES256(ecKey())), false},
		{"ES256 where it is advertised", advertise(signed(es256, signES256(ecKey())), "ES256"), true},
		{"RS256 where ES256 is advertised", advertise(func(*idp) {}, "ES256"), false},
		{"RS256 without a list", func(p *idp) {
			p.discovery = func(document map[string]any) { delete(document, "id_token_signing_alg_values_supported") }
		}, true},
		{"ES256 without a list", func(p *idp) {
			p.discovery = func(document map[string]any) { delete(document, "id_token_signing_alg_values_supported") }
			signed(es256, signES256(ecKey()))(p)
		}, false},
		{"an RSA signature named ES256", advertise(signed(map[string]any{"alg": "ES256", "kid": "rsa-1"}, signRS256(rsaKey())), "ES256", "RS256"), false},

		{"the signature of another key", signed(rs256, signRS256(otherKey())), false},
		{"the signature of another token", func(p *idp) {
			p.idToken = func(claims map[string]any) string {
				genuine := compact(rs256, map[string]any{"sub": "user-1"}, signRS256(rsaKey()))
				forged := compact(rs256, claims, signNothing)
				return forged + genuine[strings.LastIndexByte(genuine, '.')+1:]
			}
		}, false},
		{"no signature", signed(rs256, signNothing), false},
		{"a key it brings along", signed(map[string]any{"alg": "RS256", "jwk": rsaJWK("", &otherKey().PublicKey)}, signRS256(otherKey())), false},
		{"an unknown kid", signed(map[string]any{"alg": "RS256", "kid": "unknown"}, signRS256(rsaKey())), false},
		{"no kid", signed(map[string]any{"alg": "RS256"}, signRS256(rsaKey())), true},
		{"a critical extension", signed(map[string]any{"alg": "RS256", "kid": "rsa-1", "crit": []string{"x"}, "x": 1}, signRS256(rsaKey())), false},
		{"an unencoded payload", signed(map[string]any{"alg": "RS256", "kid": "rsa-1", "crit": []string{"b64"}, "b64": false}, signRS256(rsaKey())), false},

		{"at_hash of this access token", claim("at_hash", base64url(atHash[:16])), true},
		{"at_hash of another access token", claim("at_hash", base64url(atHash[16:])), false},

		{"no id_token", func(p *idp) { p.tokens = func(answer map[string]any) { delete(answer, "id_token") } }, false},
		{"an empty id_token", raw(""), false},
		{"an id_token that is none", raw("opaque"), false},
		{"dots", raw(strings.Repeat(".", 100_000)), false},
		{"an encrypted id_token", raw(base64url([]byte(`{"alg":"RSA-OAEP","enc":"A256GCM"}`)) + ".AAAA.AAAA.AAAA.AAAA"), false},
		{"claims that are no object", raw(base64url([]byte(`{"alg":"RS256"}`)) + "." + base64url([]byte(`[]`)) + ".AAAA"), false},
		{"JSON serialization", raw(`{"payload":"e30","signatures":[]}`), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			c.lie(p)
			b := newBrowser(t, p.auth(t, p.oidc(core.CheckNonce, core.CheckPKCE)))
			a := p.signIn(b, "idp")
			if c.ok {
				a.wantRedirect(t, site)
				if b.user() != "Jane" {
					t.Errorf("%v", b.session())
				}
				return
			}
			a.wantError(t, configurationError)
			if b.hasSession() || b.session() != nil {
				t.Error("there is a session")
			}
			if p.count("GET /userinfo") > 0 || p.count("POST /token") != 1 {
				t.Errorf("asked %v", p.visits)
			}
		})
	}
}

// A nonce that nobody asked for is a token made for somebody else.
func TestUnaskedNonce(t *testing.T) {
	t.Parallel()
	for _, nonce := range []any{"x", "", jsonNull{}} {
		p := newIDP()
		p.claims = func(claims map[string]any) { claims["nonce"] = nonce }
		b := newBrowser(t, p.auth(t, p.oidc(core.CheckPKCE)))
		p.signIn(b, "idp").wantError(t, configurationError)
		if b.hasSession() {
			t.Errorf("nonce %v: there is a session", nonce)
		}
	}
}

// A plain OAuth provider's id_token is not needed, but one that contradicts the rest is refused.
func TestIDTokenOfPlainOAuth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		claim string
		value any
		ok    bool
	}{
		{"consistent", "iss", "https://authjs.dev", true},
		{"another issuer", "iss", "https://idp.example", false},
		{"another client", "aud", "another", false},
		{"expired", "exp", 1, false},
		{"somebody else than userinfo", "sub", "user-2", false},
	} {
		p := newIDP()
		p.tokens = func(answer map[string]any) {
			now := time.Now().Unix()
			claims := map[string]any{"iss": "https://authjs.dev", "sub": "user-1", "aud": "client", "iat": now, "exp": now + 60}
			claims[c.claim] = c.value
			answer["id_token"] = p.idToken(claims)
		}
		b := newBrowser(t, p.auth(t, p.hub()))
		a := p.signIn(b, "hub")
		if c.ok && a.status == http.StatusFound && b.user() == "Jane" {
			continue
		}
		if c.ok {
			t.Errorf("%s: %d %q", c.name, a.status, a.location())
			continue
		}
		a.wantError(t, configurationError)
		if b.hasSession() {
			t.Errorf("%s: there is a session", c.name)
		}
	}
}

// claims sets several claims.
func claims(pairs ...any) func(*idp) {
	return func(p *idp) {
		p.claims = func(claims map[string]any) {
			for i := 0; i < len(pairs); i += 2 {
				claims[pairs[i].(string)] = pairs[i+1]
			}
		}
	}
}

type jsonNull struct{}

func (jsonNull) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// publicPEM is the provider's public key as files hold it, the usual key of an HMAC forgery.
func publicPEM() []byte {
	der, err := x509.MarshalPKIXPublicKey(&rsaKey().PublicKey)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}
