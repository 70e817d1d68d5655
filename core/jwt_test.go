package core_test

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/go-jose/go-jose/v4"
)

// seal makes an encrypted token as protocol fact 57 describes it, with another library than
// the handler's own code. Members are iat and exp unless given; nil removes them.
func seal(t testing.TB, secret, salt string, claims map[string]any) string {
	t.Helper()
	all := map[string]any{"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(all, claims)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return sealRaw(t, secret, salt, raw, nil)
}

func sealRaw(t testing.TB, secret, salt string, payload []byte, header map[jose.HeaderKey]any) string {
	t.Helper()
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte(salt), "Auth.js Generated Encryption Key ("+salt+")", 64)
	if err != nil {
		t.Fatal(err)
	}
	options := &jose.EncrypterOptions{ExtraHeaders: header}
	e, err := jose.NewEncrypter(jose.A256CBC_HS512, jose.Recipient{Algorithm: jose.DIRECT, Key: key}, options)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := e.Encrypt(payload)
	if err != nil {
		t.Fatal(err)
	}
	out, err := sealed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A10, CVE-2023-48309: every kind of token the handler makes, in every other place for one,
// is worth nothing.
func TestTokenConfusion(t *testing.T) {
	t.Parallel()
	idp := newIDP()
	auth := idp.auth(t, idp.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce), idp.hub(core.CheckState, core.CheckPKCE), anyone)

	// The tokens of a browser that is signed in and has a sign-in under way.
	b := newBrowser(t, auth)
	b.signInAs("Ada")
	authorization := idp.start(b, "idp")
	kinds := map[string]string{
		sessionCookie: b.cookie(sessionCookie), stateCookie: b.cookie(stateCookie), pkceCookie: b.cookie(pkceCookie),
		nonceCookie: b.cookie(nonceCookie), "state parameter": authorization.Query().Get("state"),
		"CSRF cookie": b.cookie(csrfCookie),
	}
	for kind, token := range kinds {
		if token == "" {
			t.Fatalf("no %s", kind)
		}
		if kind == sessionCookie {
			continue
		}
		other := newBrowser(t, auth)
		other.set(sessionCookie, token)
		if s := other.session(); s != nil {
			t.Errorf("%s as a session: %v", kind, s)
		}
	}
	for _, slot := range []string{stateCookie, pkceCookie, nonceCookie} {
		for kind, token := range kinds {
			if kind == slot {
				continue
			}
			other := newBrowser(t, auth)
			callback := idp.approve(t, idp.start(other, "idp"))
			other.set(slot, token)
			exchanges := idp.count("POST /token")
			other.get(callback).wantError(t, configurationError)
			if other.hasSession() || idp.count("POST /token") != exchanges {
				t.Errorf("%s as %s: a token request or a session", kind, slot)
			}
		}
	}
	// The state parameter is no secret: it must not do as the state cookie, nor the other way round.
	other := newBrowser(t, auth)
	u := idp.start(other, "idp")
	query := u.Query()
	query.Set("state", other.cookie(stateCookie))
	u.RawQuery = query.Encode()
	other.get(idp.approve(t, u)).wantError(t, configurationError)
}

// Nothing but the token as it was made is read: R10.
func TestTamperedTokens(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	good := newBrowser(t, auth)
	good.signInAs("Ada")
	token := good.cookie(sessionCookie)

	refuse := func(what, bad string) {
		t.Helper()
		b := newBrowser(t, auth)
		b.set(sessionCookie, bad)
		if a := b.get("/auth/session"); a.status != http.StatusOK || a.body != "null" {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
		if b.cookie(sessionCookie) != "" {
			t.Errorf("%s: the cookie stays", what)
		}
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range token {
		at := strings.IndexByte(alphabet, token[i])
		if at < 0 {
			continue
		}
		// The highest bit of each character: the lowest ones of a part's last may mean nothing.
		refuse(fmt.Sprint("a bit changed at ", i), token[:i]+string(alphabet[at^32])+token[i+1:])
	}
	for i := 1; i < len(token); i += 7 {
		refuse(fmt.Sprint("cut at ", i), token[:i])
	}
	parts := strings.Split(token, ".")
	refuse("four parts", strings.Join(parts[:4], "."))
	refuse("six parts", token+".AA")
	refuse("a part twice", strings.Join([]string{parts[0], parts[1], parts[2], parts[3], parts[3]}, "."))
	refuse("an encrypted key", parts[0]+".AAAA."+parts[2]+"."+parts[3]+"."+parts[4])
	refuse("no ciphertext", parts[0]+".."+parts[2]+".."+parts[4])
	refuse("dots", strings.Repeat(".", 4000))
	refuse("alg none", base64url([]byte(`{"alg":"none"}`))+"."+base64url([]byte(`{"name":"Ada"}`))+".")
	for _, header := range []string{
		`{"alg":"dir","enc":"A128CBC-HS256"}`, `{"alg":"A256KW","enc":"A256CBC-HS512"}`, `{"alg":"PBES2-HS256+A128KW","enc":"A256CBC-HS512","p2c":2147483647}`,
		`{"alg":"dir","enc":"A256CBC-HS512","zip":"DEF"}`, `{"alg":"dir","enc":"A256CBC-HS512","crit":["x"],"x":1}`, `null`, `[]`, `{}`, `{`, ``,
	} {
		refuse("the header "+header, base64url([]byte(header))+"."+strings.Join(parts[1:], "."))
	}
}

// Tokens that are well made and still not to be read.
func TestForeignTokens(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	now := time.Now().Unix()
	for _, c := range []struct {
		name  string
		token string
		reads bool
	}{
		{"ours", seal(t, secret, sessionCookie, map[string]any{"name": "Ada"}), true},
		{"without exp", seal(t, secret, sessionCookie, map[string]any{"name": "Ada", "exp": nil}), true},
		{"issued in the future", seal(t, secret, sessionCookie, map[string]any{"name": "Ada", "iat": now + 1e6}), true},
		{"just expired", seal(t, secret, sessionCookie, map[string]any{"name": "Ada", "exp": now - 10}), true},
		{"with unknown header parameters", sealRaw(t, secret, sessionCookie, []byte(`{"name":"Ada"}`), map[jose.HeaderKey]any{"typ": "x", "cty": "y"}), true},
		{"expired", seal(t, secret, sessionCookie, map[string]any{"name": "Ada", "exp": now - 16}), false},
		{"expired at no time", seal(t, secret, sessionCookie, map[string]any{"name": "Ada", "exp": "soon"}), false},
		{"not yet valid", seal(t, secret, sessionCookie, map[string]any{"name": "Ada", "nbf": now + 20}), false},
		{"of another secret", seal(t, "another secret of at least 32 characters", sessionCookie, map[string]any{"name": "Ada"}), false},
		{"of another cookie", seal(t, secret, "__Secure-"+sessionCookie, map[string]any{"name": "Ada"}), false},
		{"of another app's cookie", seal(t, secret, "next-auth.session-token", map[string]any{"name": "Ada"}), false},
		{"with another key's id", sealRaw(t, secret, sessionCookie, []byte(`{"name":"Ada"}`), map[jose.HeaderKey]any{"kid": "x"}), false},
		{"with an empty key id", sealRaw(t, secret, sessionCookie, []byte(`{"name":"Ada"}`), map[jose.HeaderKey]any{"kid": ""}), false},
		{"a list", sealRaw(t, secret, sessionCookie, []byte(`["Ada"]`), nil), false},
		{"null", sealRaw(t, secret, sessionCookie, []byte(`null`), nil), false},
		{"two values", sealRaw(t, secret, sessionCookie, []byte(`{"name":"Ada"}{}`), nil), false},
		{"bad UTF-8", sealRaw(t, secret, sessionCookie, []byte("{\"name\":\"\xff\"}"), nil), false},
	} {
		b := newBrowser(t, auth)
		b.set(sessionCookie, c.token)
		if got := b.session() != nil; got != c.reads {
			t.Errorf("%s: read %v, want %v", c.name, got, c.reads)
		}
		if b.hasSession() != c.reads {
			t.Errorf("%s: the cookie is there: %v", c.name, b.hasSession())
		}
	}
}

func TestSecretRotation(t *testing.T) {
	t.Parallel()
	old, fresh := "old "+secret, "new "+secret
	app := func(secrets ...string) http.Handler {
		return newAuth(t, core.Config{Providers: []core.Provider{anyone}, Secret: secrets})
	}
	b := newBrowser(t, app(old))
	b.signInAs("Ada")
	b.handler = app(fresh, old)
	csrf := b.cookie(csrfCookie)
	if b.user() != "Ada" {
		t.Fatal("a token of the old secret is not read")
	}
	if b.csrf(); b.cookie(csrfCookie) == csrf {
		t.Error("a CSRF cookie of the old list of secrets is accepted")
	}
	b.handler = app(fresh)
	if b.user() != "Ada" {
		t.Error("reading the session did not seal it with the new secret")
	}
	b.handler = app(old)
	if b.user() != "" || b.hasSession() {
		t.Error("a token of the new secret is read with the old one")
	}
}

// The check cookies and the state live for 15 minutes.
func TestChecksExpire(t *testing.T) {
	t.Parallel()
	rsaKey() // made outside of the bubble, for all tests
	for _, check := range []core.Check{core.CheckState, core.CheckPKCE, core.CheckNonce} {
		for _, late := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				idp := newIDP()
				b := newBrowser(t, idp.auth(t, idp.oidc(check)))
				u := idp.start(b, "idp")
				kept := b.copy() // a browser that keeps expired cookies
				time.Sleep(14 * time.Minute)
				if late {
					time.Sleep(2 * time.Minute)
				}
				a := kept.get(idp.approve(t, u))
				if late {
					a.wantError(t, configurationError)
				} else {
					a.wantRedirect(t, site)
				}
				if kept.hasSession() == late {
					t.Errorf("%s, late %v: session %v", check, late, kept.hasSession())
				}
			})
		}
	}
}

// What the provider is told must not tell what waits in the cookies.
func TestSecretsStayInTheCookies(t *testing.T) {
	t.Parallel()
	idp := newIDP()
	b := newBrowser(t, idp.auth(t, idp.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce)))
	seen := map[string]bool{}
	for range 20 {
		query := idp.start(b, "idp").Query()
		for _, name := range []string{"state", "code_challenge", "nonce"} {
			value := query.Get(name)
			if len(value) < 43 || seen[value] {
				t.Errorf("%s %q is short, or was used before", name, value)
			}
			seen[value] = true
		}
		for _, name := range []string{stateCookie, pkceCookie, nonceCookie} {
			if value := b.cookie(name); strings.Contains(url.Values(query).Encode(), value) || seen[value] {
				t.Errorf("the %s cookie is in the URL, or was used before", name)
			}
		}
	}
}
