package providers_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/providers"
	"github.com/go-jose/go-jose/v4"
)

const (
	site   = "https://app.example"
	secret = "CLIENT_SECRET-at-least-32-bytes-long" // HS256 wants so many
)

// client is the client of the tests, where the issuer has to be named.
var client = providers.Client{ID: "CLIENT_ID", Secret: secret, Issuer: "https://issuer.example"}

// prepared gives a provider as core.New would, with what its constructor can't know.
func prepared(t testing.TB, id string, c providers.Client) core.OAuth {
	t.Helper()
	p, ok := providers.ByID(id, c)
	if !ok {
		t.Fatalf("there is no provider %q", id)
	}
	switch id {
	case "bungie":
		p.RequestUserInfo = providers.BungieUserInfo("API_KEY")
	case "netsuite":
		p.UserInfo.URL = "https://1234567.restlets.api.netsuite.com/app/site/hosting/restlet.nl?script=1&deploy=1"
	}
	p, err := p.Prepare(p)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// needsIssuer reports whether a provider has no issuer or server of its own for everybody.
func needsIssuer(id string) bool {
	p, _ := providers.ByID(id, providers.Client{ID: "x", Secret: "x"})
	ready, err := p.Prepare(p)
	return err != nil && id != "bungie" || ready.OIDC && ready.Issuer == ""
}

// clientOf is the client with an issuer only where it must be.
func clientOf(id string) providers.Client {
	c := client
	if !needsIssuer(id) {
		c.Issuer = ""
	}
	if id == "netsuite" {
		c.Issuer = "https://1234567.app.netsuite.com"
	}
	return c
}

// vendor is a provider's server, in place of the network.
type vendor struct {
	core.OAuth
	profile map[string]any // what its userinfo endpoint tells, or its ID tokens
	inside  string         // where in the answer the profile is
	tokens  map[string]any // further members of the token endpoint's answer
	emails  string         // the answer of GitHub's second endpoint
	issuer  string         // of ID tokens; empty: as it should be

	nonce string
	token *http.Request // the token request, its form parsed
	asked []asked       // the requests for the profile
}

// asked is one request for a profile.
type asked struct {
	Method, URL, Body string
	Headers           map[string]string
}

var signingKey = sync.OnceValue(func() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
})

func (v *vendor) root() string { return strings.TrimSuffix(v.Issuer, "/") }

func or(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

// RoundTrip implements http.RoundTripper.
func (v *vendor) RoundTrip(r *http.Request) (*http.Response, error) {
	address, _, _ := strings.Cut(r.URL.String(), "?")
	userinfo, _, _ := strings.Cut(or(v.UserInfo.URL, v.root()+"/userinfo"), "?")
	userinfo, _, _ = strings.Cut(userinfo, "{")
	token, _, _ := strings.Cut(or(v.Token.URL, v.root()+"/token"), "?")
	switch {
	case r.URL.String() == or(v.WellKnown, v.root()+"/.well-known/openid-configuration"):
		return answer(http.StatusOK, map[string]any{
			"issuer": or(v.TenantIssuer, v.Issuer), "authorization_endpoint": v.root() + "/authorize", "token_endpoint": v.root() + "/token",
			"userinfo_endpoint": v.root() + "/userinfo", "jwks_uri": v.root() + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"},
		}), nil
	case address == v.root()+"/keys":
		return answer(http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &signingKey().PublicKey, KeyID: "k1", Algorithm: "ES256", Use: "sig"}}}), nil
	case address == token:
		return v.exchange(r)
	case v.ID == "microsoft-entra-id" || v.ID == "azure-ad" || strings.HasPrefix(address, userinfo):
		return v.describe(r)
	}
	return nil, errors.New("a request to somebody else: " + r.URL.String())
}

func (v *vendor) exchange(r *http.Request) (*http.Response, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	v.token = r
	tokens := map[string]any{"access_token": "access-token", "token_type": "Bearer", "expires_in": 3600}
	if v.OIDC {
		tokens["id_token"] = v.idToken()
	}
	switch v.ID {
	case "click-up", "foursquare", "instagram", "threads", "vk", "wechat":
		delete(tokens, "token_type")
	case "mailchimp":
		delete(tokens, "token_type")
		tokens["scope"], tokens["expires_in"] = nil, 0
	case "twitch":
		tokens["scope"] = []string{"openid", "user:read:email"}
	}
	maps.Copy(tokens, v.tokens)
	return answer(http.StatusOK, tokens), nil
}

func (v *vendor) idToken() string {
	claims := map[string]any{}
	if v.UserInfoProfile && v.RequestUserInfo == nil {
		claims["sub"] = v.profile["sub"]
	} else {
		maps.Copy(claims, v.profile)
		delete(claims, "user") // Apple posts it
	}
	claims["iss"], claims["aud"] = v.Issuer, client.ID
	claims["iat"], claims["exp"] = time.Now().Unix(), time.Now().Add(time.Hour).Unix()
	if tid, ok := claims["tid"].(string); ok {
		claims["iss"] = "https://login.microsoftonline.com/" + tid + "/v2.0"
	}
	if v.issuer != "" {
		claims["iss"] = v.issuer
	}
	if v.nonce != "" {
		claims["nonce"] = v.nonce
	}
	return v.sign(claims)
}

func (v *vendor) sign(claims map[string]any) string {
	key := jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: signingKey(), KeyID: "k1"}}
	if v.IDTokenAlg == "HS256" {
		key = jose.SigningKey{Algorithm: jose.HS256, Key: []byte(secret)}
	}
	signer, err := jose.NewSigner(key, nil)
	if err != nil {
		panic(err)
	}
	signed, err := signer.Sign(mustJSON(claims))
	if err != nil {
		panic(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return compact
}

// describe is the userinfo endpoint.
func (v *vendor) describe(r *http.Request) (*http.Response, error) {
	one := asked{Method: r.Method, URL: r.URL.String(), Headers: map[string]string{}}
	for name := range r.Header {
		if name != "User-Agent" && name != "Accept" {
			one.Headers[strings.ToLower(name)] = r.Header.Get(name)
		}
	}
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		one.Body = string(raw)
	}
	v.asked = append(v.asked, one)
	switch {
	case r.URL.Host == "graph.microsoft.com":
		return answer(http.StatusNotFound, map[string]any{"error": map[string]any{"code": "ImageNotFound"}}), nil
	case r.URL.Path == "/user/emails" && v.emails == "":
		return answer(http.StatusNotFound, nil), nil
	case r.URL.Path == "/user/emails":
		return answer(http.StatusOK, json.RawMessage(v.emails)), nil
	case v.ID == "bankid-no":
		resp := answer(http.StatusOK, nil)
		resp.Header.Set("Content-Type", "application/jwt")
		resp.Body = io.NopCloser(strings.NewReader(v.sign(v.profile)))
		return resp, nil
	}
	var body any = v.profile
	for _, name := range slices.Backward(strings.Split(v.inside, ".")) {
		switch name {
		case "":
		case "0":
			body = []any{body}
		default:
			body = map[string]any{name: body}
		}
	}
	return answer(http.StatusOK, body), nil
}

func answer(status int, body any) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(mustJSON(body))),
	}
}

// signedIn is what a sign-in made.
type signedIn struct {
	authorization *url.URL
	location      string // where the browser is sent at the end
	hasSession    bool
	user          *core.User
	account       *core.Account
	profile       core.Profile
}

// app is a site with one way to sign in, and the provider behind it.
type app struct {
	auth   *core.Auth
	vendor *vendor
	last   *core.SignInParams
	log    *bytes.Buffer
}

func newApp(t testing.TB, v *vendor) *app { return newAppOver(t, v, v) }

func newAppOver(t testing.TB, v *vendor, transport http.RoundTripper) *app {
	t.Helper()
	a := &app{vendor: v, log: &bytes.Buffer{}}
	auth, err := core.New(core.Config{
		Providers: []core.Provider{v.OAuth}, Transport: transport, TrustHost: core.On, SkipCSRFCheck: true,
		Secret: []string{"0123456789abcdef0123456789abcdef"},
		Getenv: func(string) string { return "" },
		Logger: core.Logger{Error: func(msg string, args ...any) { fmt.Fprintln(a.log, msg, args) }, Warn: func(string, ...any) {}},
		Callbacks: core.Callbacks{SignIn: func(_ context.Context, p core.SignInParams) (core.Verdict, error) {
			a.last = &p
			return core.Allow, nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	a.auth = auth
	return a
}

// signIn goes all the way, as a browser would.
func (a *app) signIn(t testing.TB) signedIn {
	t.Helper()
	jar := map[string]string{}
	a.last, a.vendor.nonce, a.vendor.token, a.vendor.asked = nil, "", nil, nil
	resp := a.send(jar, "POST", site+"/auth/signin/"+a.vendor.ID, url.Values{"callbackUrl": {site}})
	out := signedIn{location: resp.Header.Get("Location")}
	var err error
	if out.authorization, err = url.Parse(out.location); err != nil || out.authorization.Host == "app.example" {
		t.Fatalf("POST signin: %d %q", resp.StatusCode, out.location)
	}
	sent := out.authorization.Query()
	a.vendor.nonce = sent.Get("nonce")
	back := url.Values{"code": {"the-code"}}
	if sent.Has("state") {
		back.Set("state", sent.Get("state"))
	}
	callback := site + "/auth/callback/" + a.vendor.ID
	if sent.Get("redirect_uri") != callback {
		t.Errorf("redirect_uri %q", sent.Get("redirect_uri"))
	}
	if sent.Get("response_mode") == "form_post" {
		if user, ok := a.vendor.profile["user"]; ok {
			back.Set("user", string(mustJSON(user)))
		}
		resp = a.send(jar, "POST", callback, back)
	} else {
		resp = a.send(jar, "GET", callback+"?"+back.Encode(), nil)
	}
	out.location, out.hasSession = resp.Header.Get("Location"), jar["__Secure-authjs.session-token"] != ""
	if a.last != nil {
		out.user, out.account, out.profile = a.last.User, a.last.Account, a.last.Profile
	}
	return out
}

func (a *app) send(jar map[string]string, method, target string, form url.Values) *http.Response {
	r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range jar {
		r.Header.Add("Cookie", name+"="+value)
	}
	w := httptest.NewRecorder()
	a.auth.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if jar[c.Name] = c.Value; c.MaxAge < 0 || c.Value == "" {
			delete(jar, c.Name)
		}
	}
	return w.Result()
}

// json is the user and the account as JSON: what is compared.
func (s signedIn) json() string {
	if s.user == nil {
		return "null"
	}
	out := map[string]any{"id": s.account.ProviderAccountID}
	for name, text := range map[string]string{"name": s.user.Name, "email": s.user.Email, "image": s.user.Image} {
		if text != "" {
			out[name] = text
		}
	}
	maps.Copy(out, s.user.Extra)
	return string(mustJSON(out))
}

func mustJSON(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// readJSON reads a file of testdata, with its numbers as they are.
func readJSON(t testing.TB, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatal(name, err)
	}
}

// recorded is an entry of testdata/profiles.json.
type recorded struct {
	Profile map[string]any
	Inside  string
	Tokens  map[string]any
}

// standard are the claims of providers whose entry has no profile.
func standard() map[string]any {
	return map[string]any{
		"sub": "5b10", "name": "Jane Doe", "nickname": "jane", "preferred_username": "jane.doe",
		"email": "Jane@Example.com", "picture": "https://avatar.example/jane",
	}
}

// vendors gives a server for each provider of the catalogue.
func vendors(t testing.TB) map[string]*vendor {
	var profiles map[string]recorded
	readJSON(t, "profiles.json", &profiles)
	out := map[string]*vendor{}
	for id, r := range profiles {
		if r.Profile == nil {
			r.Profile = standard()
		}
		out[id] = &vendor{OAuth: prepared(t, id, clientOf(id)), profile: r.Profile, inside: r.Inside, tokens: r.Tokens}
	}
	if len(out) < 93 {
		t.Fatal("only " + strconv.Itoa(len(out)) + " profiles")
	}
	return out
}
