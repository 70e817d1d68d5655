package core_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/go-jose/go-jose/v4"
)

func newECKey(curve elliptic.Curve) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

func newEdKey() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// tokenRequests makes a provider that keeps the token requests, lets the wrong client
// authentication pass, and asks the test for its opinion.
func tokenRequests(p *idp) *[]url.Values {
	var requests []url.Values
	p.transport = func(r *http.Request) (*http.Response, bool, error) {
		if r.URL.Path != "/token" {
			return nil, false, nil
		}
		raw, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(raw))
		form["Authorization"] = r.Header.Values("Authorization")
		requests = append(requests, form)
		r.SetBasicAuth("client", url.QueryEscape(p.clientSecret))
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		return nil, false, nil
	}
	return &requests
}

// RFC 7523, section 3, and OpenID Connect Core 1.0, section 9: what a client assertion says,
// and that it is signed.
func TestClientAssertions(t *testing.T) {
	t.Parallel()
	p256, p384, p521, ed := newECKey(elliptic.P256()), newECKey(elliptic.P384()), newECKey(elliptic.P521()), newEdKey()
	const clientSecret = "a client secret of thirty-two chars and more"
	for _, c := range []struct {
		name   string
		method core.ClientAuth
		key    core.ClientKey
		verify any // the key that the provider has
		alg    jose.SignatureAlgorithm
	}{
		{"HS256", core.ClientSecretJWT, core.ClientKey{}, []byte(clientSecret), jose.HS256},
		{"RS256", core.PrivateKeyJWT, core.ClientKey{PrivateKey: rsaKey(), ID: "key-1"}, &rsaKey().PublicKey, jose.RS256},
		{"PS256", core.PrivateKeyJWT, core.ClientKey{PrivateKey: rsaKey(), ID: "key-1", PSS: true}, &rsaKey().PublicKey, jose.PS256},
		{"ES256", core.PrivateKeyJWT, core.ClientKey{PrivateKey: p256, ID: "key-1"}, &p256.PublicKey, jose.ES256},
		{"ES384", core.PrivateKeyJWT, core.ClientKey{PrivateKey: p384}, &p384.PublicKey, jose.ES384},
		{"ES512", core.PrivateKeyJWT, core.ClientKey{PrivateKey: p521}, &p521.PublicKey, jose.ES512},
		{"EdDSA", core.PrivateKeyJWT, core.ClientKey{PrivateKey: ed, ID: "ключ"}, ed.Public(), jose.EdDSA},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newIDP()
				p.clientSecret = clientSecret
				requests := tokenRequests(p)
				provider := p.oidc()
				provider.ClientAuth, provider.ClientKey = c.method, c.key
				if c.method == core.PrivateKeyJWT {
					provider.ClientSecret = ""
				}
				b := newBrowser(t, p.auth(t, provider))
				seen := map[string]bool{}
				for range 2 {
					p.signIn(b, "idp").wantRedirect(t, site)
					form := (*requests)[len(*requests)-1]
					if len(form["Authorization"]) > 0 || form.Has("client_secret") || form.Get("client_id") != "client" ||
						form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" {
						t.Errorf("the token request: %v", form)
					}
					jws, err := jose.ParseSignedCompact(form.Get("client_assertion"), []jose.SignatureAlgorithm{c.alg})
					if err != nil {
						t.Fatal(err)
					}
					raw, err := jws.Verify(c.verify)
					if err != nil {
						t.Fatal(err)
					}
					if head := jws.Signatures[0].Protected; head.KeyID != c.key.ID || head.ExtraHeaders["typ"] != "JWT" || head.JSONWebKey != nil {
						t.Errorf("the assertion's header: %+v", head)
					}
					var claims struct {
						Iss, Sub, Jti string
						Aud           any
						Iat, Nbf, Exp int64
					}
					if err := json.Unmarshal(raw, &claims); err != nil {
						t.Fatal(err)
					}
					aud := string(mustJSON(claims.Aud))
					wantAud := `"` + p.issuer + `"`
					if c.method == core.PrivateKeyJWT {
						wantAud = `["` + p.issuer + `","` + p.issuer + `/token"]`
					}
					now := time.Now().Unix()
					if claims.Iss != "client" || claims.Sub != "client" || aud != wantAud {
						t.Errorf("the assertion's claims: %s", raw)
					}
					if claims.Iat != now || claims.Nbf != now || claims.Exp <= now || claims.Exp > now+60 {
						t.Errorf("at %d: %s", now, raw)
					}
					if seen[claims.Jti] || len(claims.Jti) != 36 {
						t.Errorf("jti %q was there before", claims.Jti)
					}
					seen[claims.Jti] = true
				}
			})
		})
	}
}

// RFC 6749, section 2.3.1: id and secret are form-encoded before they become Basic credentials.
func TestBasicClientAuthentication(t *testing.T) {
	t.Parallel()
	for given, encoded := range map[string]string{
		"plain":              "plain",
		"p:w+ü /%&=?#":       "p%3Aw%2B%C3%BC+%2F%25%26%3D%3F%23",
		"-_.!~*'()":          "-_.!~*'()",
		"tab\tand\x00":       "tab%09and%00",
		"日本😀":                "%E6%97%A5%E6%9C%AC%F0%9F%98%80",
		"%41 stays as it is": "%2541+stays+as+it+is",
	} {
		p := newIDP()
		p.clientSecret = given
		requests := tokenRequests(p)
		provider := p.oidc()
		provider.ClientAuth = core.ClientSecretBasic
		p.signIn(newBrowser(t, p.auth(t, provider)), "idp").wantRedirect(t, site)
		form := (*requests)[0]
		r := &http.Request{Header: http.Header{"Authorization": form["Authorization"]}}
		id, got, ok := r.BasicAuth()
		if unescaped, err := url.QueryUnescape(got); !ok || id != "client" || got != encoded || err != nil || unescaped != given {
			t.Errorf("%q: %q:%q, want %q", given, id, got, encoded)
		}
		if form.Has("client_id") || form.Has("client_secret") || form.Has("client_assertion") {
			t.Errorf("%q: the form says %v as well", given, form)
		}
	}
}

// The other methods put nothing into the header, and no more into the form than they need.
func TestClientAuthenticationInTheForm(t *testing.T) {
	t.Parallel()
	const odd = "p:w+ü /%&="
	for method, want := range map[core.ClientAuth]url.Values{
		core.ClientSecretPost: {"client_id": {"client"}, "client_secret": {odd}},
		core.ClientAuthNone:   {"client_id": {"client"}},
	} {
		p := newIDP()
		p.clientSecret = odd
		requests := tokenRequests(p)
		provider := p.oidc()
		provider.ClientAuth = method
		p.signIn(newBrowser(t, p.auth(t, provider)), "idp").wantRedirect(t, site)
		form := (*requests)[0]
		for _, name := range []string{"grant_type", "code", "redirect_uri", "code_verifier"} {
			if form.Get(name) == "" {
				t.Errorf("%s: no %s", method, name)
			}
			form.Del(name)
		}
		delete(form, "Authorization")
		if form.Encode() != want.Encode() {
			t.Errorf("%s: %v, want %v", method, form, want)
		}
		if len((*requests)[0]["Authorization"]) > 0 {
			t.Errorf("%s: an Authorization header", method)
		}
	}
}

// New tells a key that can't sign from one that can.
func TestNewChecksClientKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key crypto.PrivateKey
		ok  bool
	}{
		"RSA":               {rsaKey(), true},
		"P-256":             {ecKey(), true},
		"Ed25519":           {newEdKey(), true},
		"none":              {nil, false},
		"a public RSA key":  {&rsaKey().PublicKey, false},
		"a public P-256":    {&ecKey().PublicKey, false},
		"a public Ed25519":  {newEdKey().Public(), false},
		"an RSA value":      {*rsaKey(), false},
		"P-224":             {newECKey(elliptic.P224()), false},
		"PEM":               {"-----BEGIN PRIVATE KEY-----", false},
		"bytes":             {[]byte(secret), false},
		"a nil RSA key":     {(*rsa.PrivateKey)(nil), false},
		"a nil ECDSA key":   {(*ecdsa.PrivateKey)(nil), false},
		"an empty RSA key":  {new(rsa.PrivateKey), false},
		"an empty ECDSA":    {new(ecdsa.PrivateKey), false},
		"a short Ed25519":   {ed25519.PrivateKey("short"), false},
		"a nil Ed25519 key": {ed25519.PrivateKey(nil), false},
	} {
		provider := newIDP().oidc()
		provider.ClientAuth, provider.ClientSecret, provider.ClientKey = core.PrivateKeyJWT, "", core.ClientKey{PrivateKey: c.key}
		_, err := core.New(inTest(core.Config{Providers: []core.Provider{provider}}))
		if c.ok && err != nil || !c.ok && (!errors.Is(err, core.ErrInvalidProvider) || !strings.Contains(err.Error(), "ClientKey")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A key is asked for by the method, not by being there.
	provider := newIDP().oidc()
	provider.ClientKey = core.ClientKey{PrivateKey: "unused"}
	if _, err := core.New(inTest(core.Config{Providers: []core.Provider{provider}})); err != nil {
		t.Error(err)
	}
	for _, method := range []core.ClientAuth{core.ClientSecretBasic, core.ClientSecretPost, core.ClientSecretJWT} {
		provider := newIDP().oidc()
		provider.ClientAuth, provider.ClientSecret = method, ""
		if _, err := core.New(inTest(core.Config{Providers: []core.Provider{provider}})); !errors.Is(err, core.ErrInvalidProvider) {
			t.Errorf("%s without a secret: %v", method, err)
		}
	}
	for length, ok := range map[int]bool{31: false, 32: true} {
		provider := newIDP().oidc()
		provider.ClientAuth, provider.ClientSecret = core.ClientSecretJWT, strings.Repeat("x", length)
		if _, err := core.New(inTest(core.Config{Providers: []core.Provider{provider}})); ok != (err == nil) {
			t.Errorf("HS256 with %d bytes: %v", length, err)
		}
	}
}
