package core_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

var (
	rsaKey   = sync.OnceValue(newRSAKey)
	otherKey = sync.OnceValue(newRSAKey)
	ecKey    = sync.OnceValue(func() *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		return key
	})
)

func newRSAKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

// idp is a provider in place of the network: OpenID Connect at its issuer, and plain OAuth
// at the same endpoints. It is honest unless told otherwise before it is used.
type idp struct {
	issuer       string
	clientSecret string
	isOIDC       bool // also for providers of another id than "idp"
	conduct

	mu     sync.Mutex
	grants map[string]grant
	visits []string // "POST /token", in order
	codes  int
}

// conduct is what a provider says. A nil function changes nothing.
type conduct struct {
	discovery func(document map[string]any)
	claims    func(claims map[string]any) // of the ID token
	idToken   func(claims map[string]any) string
	tokens    func(answer map[string]any) // of the token endpoint
	keys      func() []map[string]any
	userinfo  func() (status int, body string)
	callback  func(answer url.Values)                                          // what the browser brings back
	transport func(*http.Request) (resp *http.Response, taken bool, err error) // may take a request over
}

// grant is what a code stands for.
type grant struct{ nonce, challenge, redirectURI string }

func newIDP() *idp {
	p := &idp{issuer: "https://idp.example", clientSecret: "client-secret", grants: map[string]grant{}}
	p.keys = func() []map[string]any {
		return []map[string]any{rsaJWK("rsa-1", &rsaKey().PublicKey), ecJWK("ec-1", &ecKey().PublicKey)}
	}
	p.idToken = func(claims map[string]any) string {
		return compact(map[string]any{"alg": "RS256", "kid": "rsa-1"}, claims, signRS256(rsaKey()))
	}
	p.userinfo = func() (int, string) {
		return http.StatusOK, `{"sub":"user-1","name":"Jane","email":"Jane@Example.com"}`
	}
	return p
}

// oidc is this provider for a configuration.
func (p *idp) oidc(checks ...core.Check) core.OAuth {
	return core.OAuth{ID: "idp", Name: "IdP", OIDC: true, Issuer: p.issuer, ClientID: "client", ClientSecret: p.clientSecret, Checks: checks}
}

// hub is this provider without OpenID Connect.
func (p *idp) hub(checks ...core.Check) core.OAuth {
	return core.OAuth{
		ID: "hub", ClientID: "client", ClientSecret: p.clientSecret, Checks: checks,
		Authorization: core.Endpoint{URL: p.issuer + "/authorize"},
		Token:         core.Endpoint{URL: p.issuer + "/token"},
		UserInfo:      core.Endpoint{URL: p.issuer + "/userinfo"},
	}
}

// auth is an Auth with the given ways to sign in, for which this provider is the network.
func (p *idp) auth(t testing.TB, providers ...core.Provider) *core.Auth {
	return newAuth(t, core.Config{Providers: providers, Transport: p})
}

// start begins a sign-in and gives the authorization URL.
func (p *idp) start(b *browser, provider string) *url.URL {
	b.t.Helper()
	a := b.post(b.base + "/signin/" + provider)
	if a.status != http.StatusFound || !strings.HasPrefix(a.location(), p.issuer+"/authorize?") {
		b.t.Fatalf("POST signin/%s: %d %q", provider, a.status, a.location())
	}
	u, err := url.Parse(a.location())
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// approve is what the provider does when the person agrees: it gives the path that the
// browser is sent back to.
func (p *idp) approve(t testing.TB, authorization *url.URL) string {
	t.Helper()
	asked := authorization.Query()
	if asked.Get("response_type") != "code" || asked.Get("client_id") != "client" {
		t.Fatalf("authorization request: %v", asked)
	}
	if asked.Has("code_challenge") && asked.Get("code_challenge_method") != "S256" {
		t.Errorf("code_challenge_method=%q", asked.Get("code_challenge_method"))
	}
	p.mu.Lock()
	p.codes++
	code := "code-" + strconv.Itoa(p.codes)
	p.grants[code] = grant{asked.Get("nonce"), asked.Get("code_challenge"), asked.Get("redirect_uri")}
	p.mu.Unlock()
	answer := url.Values{"code": {code}}
	if asked.Has("state") {
		answer.Set("state", asked.Get("state"))
	}
	if p.callback != nil {
		p.callback(answer)
	}
	back, err := url.Parse(asked.Get("redirect_uri"))
	if err != nil {
		t.Fatal(err)
	}
	return back.Path + "?" + answer.Encode()
}

// signIn goes all the way and gives the answer to the callback.
func (p *idp) signIn(b *browser, provider string) *answer {
	b.t.Helper()
	return b.get(p.approve(b.t, p.start(b, provider)))
}

// count is how often a path was asked for.
func (p *idp) count(visit string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, v := range p.visits {
		if v == visit {
			n++
		}
	}
	return n
}

// RoundTrip implements http.RoundTripper.
func (p *idp) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.visits = append(p.visits, r.Method+" "+r.URL.Path)
	p.mu.Unlock()
	if p.transport != nil {
		if resp, taken, err := p.transport(r); taken {
			return resp, err
		}
	}
	if !strings.HasPrefix(r.URL.String(), p.issuer+"/") {
		return nil, errors.New("a request to somebody else: " + r.URL.Host)
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /.well-known/openid-configuration":
		document := map[string]any{
			"issuer": p.issuer, "authorization_endpoint": p.issuer + "/authorize", "token_endpoint": p.issuer + "/token",
			"userinfo_endpoint": p.issuer + "/userinfo", "jwks_uri": p.issuer + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		}
		if p.discovery != nil {
			p.discovery(document)
		}
		return respondJSON(document), nil
	case "GET /keys":
		return respondJSON(map[string]any{"keys": p.keys()}), nil
	case "POST /token":
		return p.exchange(r), nil
	case "GET /userinfo":
		if r.Header.Get("Authorization") != "Bearer access-token" {
			return respond(http.StatusUnauthorized, `{"error":"invalid_token"}`), nil
		}
		return respond(p.userinfo()), nil
	}
	return respond(http.StatusNotFound, ""), nil
}

// exchange is the token endpoint. It is strict, so that whatever is missing is noticed.
func (p *idp) exchange(r *http.Request) *http.Response {
	raw, _ := io.ReadAll(r.Body)
	form, err := url.ParseQuery(string(raw))
	id, password, _ := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	password, _ = url.QueryUnescape(password)
	if id == "" {
		id, password = form.Get("client_id"), form.Get("client_secret")
	}
	if err != nil || id != "client" || password != p.clientSecret {
		return respond(http.StatusUnauthorized, `{"error":"invalid_client"}`)
	}
	p.mu.Lock()
	g, known := p.grants[form.Get("code")]
	delete(p.grants, form.Get("code"))
	p.mu.Unlock()
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	switch {
	case form.Get("grant_type") != "authorization_code", !known, form.Get("redirect_uri") != g.redirectURI,
		g.challenge != "" && base64url(sum[:]) != g.challenge, g.challenge == "" && form.Has("code_verifier"):
		return respond(http.StatusBadRequest, `{"error":"invalid_grant"}`)
	}
	claims := map[string]any{
		"iss": p.issuer, "sub": "user-1", "aud": "client", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		"name": "Jane", "email": "Jane@Example.com",
	}
	if g.nonce != "" {
		claims["nonce"] = g.nonce
	}
	if p.claims != nil {
		p.claims(claims)
	}
	answer := map[string]any{"access_token": "access-token", "token_type": "Bearer", "expires_in": 3600}
	if p.isOIDC || strings.HasSuffix(g.redirectURI, "/idp") {
		answer["id_token"] = p.idToken(claims)
	}
	if p.tokens != nil {
		p.tokens(answer)
	}
	return respondJSON(answer)
}

func respond(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func respondJSON(value any) *http.Response {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return respond(http.StatusOK, string(raw))
}

// compact makes a JWS in compact form (RFC 7515, section 7.1).
func compact(header, claims map[string]any, sign func(input []byte) []byte) string {
	var parts [2]string
	for i, part := range [...]map[string]any{header, claims} {
		raw, err := json.Marshal(part)
		if err != nil {
			panic(err)
		}
		parts[i] = base64url(raw)
	}
	input := parts[0] + "." + parts[1]
	return input + "." + base64url(sign([]byte(input)))
}

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func signRS256(key *rsa.PrivateKey) func([]byte) []byte {
	return func(input []byte) []byte {
		sum := sha256.Sum256(input)
		signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
		if err != nil {
			panic(err)
		}
		return signature
	}
}

func signES256(key *ecdsa.PrivateKey) func([]byte) []byte {
	return func(input []byte) []byte {
		sum := sha256.Sum256(input)
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			panic(err)
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
}

func signHS256(key []byte) func([]byte) []byte {
	return func(input []byte) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write(input)
		return mac.Sum(nil)
	}
}

func signNothing([]byte) []byte { return nil }

func rsaJWK(kid string, key *rsa.PublicKey) map[string]any {
	return map[string]any{
		"kty": "RSA", "kid": kid, "use": "sig", "n": base64url(key.N.Bytes()), "e": base64url(big.NewInt(int64(key.E)).Bytes()),
	}
}

func ecJWK(kid string, key *ecdsa.PublicKey) map[string]any {
	point, err := key.Bytes()
	if err != nil {
		panic(err)
	}
	x, y := point[1:33], point[33:]
	return map[string]any{"kty": "EC", "kid": kid, "crv": "P-256", "x": base64url(bytes.Clone(x)), "y": base64url(bytes.Clone(y))}
}

// byHost is a network of several providers.
type byHost map[string]*idp

func (n byHost) RoundTrip(r *http.Request) (*http.Response, error) { return n[r.URL.Host].RoundTrip(r) }
