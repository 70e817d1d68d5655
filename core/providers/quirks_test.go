package providers_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/providers"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// instead takes some requests over from a vendor.
type instead struct {
	vendor http.RoundTripper
	take   func(*http.Request) *http.Response // nil: the vendor's
}

func (i instead) RoundTrip(r *http.Request) (*http.Response, error) {
	if resp := i.take(r); resp != nil {
		return resp, nil
	}
	return i.vendor.RoundTrip(r)
}

const refused = site + "/auth/error?error=Configuration"

// Everybody with an account of Microsoft's can sign in, and nobody with another tenant's token.
func TestMicrosoft(t *testing.T) {
	t.Parallel()
	const tenant, other = "9122040d-6c67-4c5b-b112-36a304b66dad", "00000000-6c67-4c5b-b112-36a304b66dad"
	key := jose.JSONWebKey{Key: &signingKey().PublicKey, KeyID: "k1", Algorithm: "ES256", Use: "sig"}
	withIssuer := func(issuer string) json.RawMessage {
		var members map[string]any
		if err := json.Unmarshal(mustJSON(key), &members); err != nil {
			t.Fatal(err)
		}
		members["issuer"] = issuer
		return mustJSON(map[string]any{"keys": []any{members}})
	}
	for _, c := range []struct {
		name   string
		change func(v *vendor)
		take   func(*http.Request) *http.Response
		want   string
	}{
		{"a tenant", nil, nil, site},
		{"no tenant's name", func(v *vendor) { delete(v.profile, "tid") }, nil, refused},
		{"another tenant's name", func(v *vendor) {
			v.profile["tid"], v.issuer = other, "https://login.microsoftonline.com/"+tenant+"/v2.0"
		}, nil, refused},
		{"a tenant's name that is none", func(v *vendor) { v.profile["tid"] = 7 }, nil, refused},
		{"a key of all tenants", nil, func(r *http.Request) *http.Response {
			if strings.HasSuffix(r.URL.Path, "/keys") {
				return answer(200, withIssuer("https://login.microsoftonline.com/{tenantid}/v2.0"))
			}
			return nil
		}, site},
		{"a key of this tenant", nil, func(r *http.Request) *http.Response {
			if strings.HasSuffix(r.URL.Path, "/keys") {
				return answer(200, withIssuer("https://login.microsoftonline.com/"+tenant+"/v2.0"))
			}
			return nil
		}, site},
		{"a key of another tenant", nil, func(r *http.Request) *http.Response {
			if strings.HasSuffix(r.URL.Path, "/keys") {
				return answer(200, withIssuer("https://login.microsoftonline.com/"+other+"/v2.0"))
			}
			return nil
		}, refused},
		{"another discovery document", nil, func(r *http.Request) *http.Response {
			if strings.HasSuffix(r.URL.Path, "/openid-configuration") {
				return answer(200, map[string]any{"issuer": "https://evil.example/{tenantid}/v2.0", "authorization_endpoint": "https://login.microsoftonline.com/authorize"})
			}
			return nil
		}, ""},
		{"an error that is told as success", nil, func(r *http.Request) *http.Response {
			if strings.HasSuffix(r.URL.Path, "/token") {
				return answer(200, map[string]any{"error": "invalid_grant", "error_description": "AADSTS70008"})
			}
			return nil
		}, site + "/auth/signin?error=OAuthCallbackError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := &vendor{OAuth: prepared(t, "microsoft-entra-id", clientOf("microsoft-entra-id")), profile: standard()}
			v.profile["tid"] = tenant
			if c.change != nil {
				c.change(v)
			}
			take := c.take
			if take == nil {
				take = func(*http.Request) *http.Response { return nil }
			}
			a := newAppOver(t, v, instead{v, take})
			if c.want == "" {
				resp := a.send(map[string]string{}, "POST", site+"/auth/signin/"+v.ID, nil)
				if resp.Header.Get("Location") != refused {
					t.Errorf("sent to %s", resp.Header.Get("Location"))
				}
				return
			}
			got := a.signIn(t)
			if got.location != c.want || got.hasSession != (c.want == site) {
				t.Errorf("sent to %s, session %v", got.location, got.hasSession)
			}
		})
	}
}

// The picture of a Microsoft account is a data URL.
func TestMicrosoftPhoto(t *testing.T) {
	t.Parallel()
	v := &vendor{OAuth: prepared(t, "azure-ad", clientOf("azure-ad")), profile: standard()}
	v.profile["tid"], v.profile["photo"] = "9122040d-6c67-4c5b-b112-36a304b66dad", "https://evil.example/"
	var asked *http.Request
	a := newAppOver(t, v, instead{v, func(r *http.Request) *http.Response {
		if r.URL.Host != "graph.microsoft.com" {
			return nil
		}
		asked = r
		return answer(200, "jpeg")
	}})
	got := a.signIn(t)
	if got.user == nil || got.user.Image != "data:image/jpeg;base64, ImpwZWci" {
		t.Errorf("%+v", got.user)
	}
	if asked == nil || asked.URL.String() != "https://graph.microsoft.com/v1.0/me/photos/48x48/$value" || asked.Header.Get("Authorization") != "Bearer access-token" {
		t.Errorf("asked for %+v", asked)
	}
	if got := newApp(t, v).signIn(t); got.user == nil || got.user.Image != "" || !got.hasSession {
		t.Errorf("without a picture: %+v", got.user)
	}
}

// LINE's tokens are signed with the client's secret: with nothing else.
func TestLINE(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(v *vendor){
		"another secret": func(v *vendor) {
			v.IDTokenAlg = ""
			v.tokens = map[string]any{"id_token": hs256(t, v, "another secret of 32 characters!!")}
		},
		"a public key": func(v *vendor) { v.IDTokenAlg = "" },
		"no signature": func(v *vendor) {
			v.tokens = map[string]any{"id_token": strings.TrimRight(hs256(t, v, secret), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")}
		},
		"the secret, HS256": nil,
	} {
		t.Run(name, func(t *testing.T) {
			v := &vendor{OAuth: prepared(t, "line", clientOf("line")), profile: standard()}
			a := newApp(t, v)
			if change != nil {
				change(v)
			}
			if got := a.signIn(t); got.hasSession != (change == nil) {
				t.Errorf("session %v, sent to %s", got.hasSession, got.location)
			}
		})
	}
}

// hs256 is an ID token for a vendor that is signed with that secret.
func hs256(t *testing.T, v *vendor, with string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(with)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	claims := standard()
	claims["iss"], claims["aud"], claims["iat"], claims["exp"] = v.Issuer, client.ID, time.Now().Unix(), time.Now().Add(time.Hour).Unix()
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// BankID signs its userinfo answer: a forged one is refused, and so is one about somebody else.
func TestSignedUserInfo(t *testing.T) {
	t.Parallel()
	forger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: forger, KeyID: "k1"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &vendor{OAuth: prepared(t, "bankid-no", clientOf("bankid-no")), profile: standard()}
	forged, err := jwt.Signed(signer).Claims(standard()).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	another := standard()
	another["sub"] = "another"
	for name, body := range map[string]string{"forged": forged, "somebody else": v.sign(another), "half": "eyJhbGciOiJFUzI1NiJ9", "none": ""} {
		a := newAppOver(t, v, instead{v, func(r *http.Request) *http.Response {
			if !strings.HasSuffix(r.URL.Path, "/userinfo") {
				return nil
			}
			resp := answer(200, nil)
			resp.Body = http.NoBody
			if body != "" {
				resp.Body = readCloser{strings.NewReader(body)}
			}
			return resp
		}})
		if got := a.signIn(t); got.hasSession || got.location != refused {
			t.Errorf("%s: session %v, sent to %s", name, got.hasSession, got.location)
		}
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// An answer that is an error, or none, signs nobody in, and no token is told.
func TestFailingUserInfo(t *testing.T) {
	t.Parallel()
	for id, v := range vendors(t) {
		if v.OIDC {
			continue
		}
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			for name, take := range map[string]func() (*http.Response, error){
				"401":        func() (*http.Response, error) { return answer(401, v.profile), nil },
				"500":        func() (*http.Response, error) { return answer(500, nil), nil },
				"an error":   func() (*http.Response, error) { return answer(200, map[string]any{"error": "expired"}), nil },
				"null":       func() (*http.Response, error) { return answer(200, nil), nil },
				"a list":     func() (*http.Response, error) { return answer(200, []any{}), nil },
				"not there":  func() (*http.Response, error) { return nil, errors.New("Get https://x/access-token: timeout") },
				"not at all": func() (*http.Response, error) { return nil, errors.New("dial: no route") },
				"a large one": func() (*http.Response, error) {
					return answer(200, map[string]any{"x": strings.Repeat("x", 1<<20)}), nil
				},
			} {
				a := newAppOver(t, v, roundTripper(func(r *http.Request) (*http.Response, error) {
					if r.Method+r.URL.Path == "POST"+pathOf(v.Token.URL) {
						return v.RoundTrip(r)
					}
					return take()
				}))
				got := a.signIn(t)
				if got.hasSession || got.user != nil {
					t.Errorf("%s: signed in as %s", name, got.json())
				}
				// What core itself asks, it asks with the token in a header only.
				if v.RequestUserInfo != nil && strings.Contains(a.log.String(), "access-token") {
					t.Errorf("%s: the log has the token: %s", name, a.log.String())
				}
			}
		})
	}
}

// Some requests have a secret in their URL. An error of the transport that repeats the URL is not told.
func TestSecretsInURLs(t *testing.T) {
	t.Parallel()
	const token = "a/token+canary=="
	for id, v := range vendors(t) {
		if v.OIDC {
			continue
		}
		v.tokens = maps.Clone(v.tokens)
		if v.tokens == nil {
			v.tokens = map[string]any{}
		}
		v.tokens["access_token"] = token
		for _, isTokenLost := range []bool{true, false} {
			a := newAppOver(t, v, roundTripper(func(r *http.Request) (*http.Response, error) {
				if !isTokenLost && r.Method+r.URL.Path == "POST"+pathOf(v.Token.URL) {
					return v.RoundTrip(r)
				}
				return nil, errors.New("fetching " + r.URL.String() + " failed")
			}))
			got := a.signIn(t)
			log := a.log.String()
			if got.hasSession || log == "" || strings.Contains(log, "canary") || strings.Contains(log, secret) {
				t.Errorf("%s: session %v, the log is %q", id, got.hasSession, log)
			}
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func pathOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	_, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(path, "?")
	return "/" + path
}

// What vendors say that the recorded profiles don't.
func TestProfiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, id, profile, want string }{
		{"Threads, without data", "threads", `{"id":"1","username":"jane"}`, `{"id":"1","image":null,"name":"jane"}`},
		{"Discord, a still picture", "discord", `{"id":"80351110224678912","username":"jane","avatar":"abc"}`,
			`{"id":"80351110224678912","image":"https://cdn.discordapp.com/avatars/80351110224678912/abc.png","name":"jane"}`},
		{"Discord, no picture", "discord", `{"id":"80351110224678912","username":"jane","discriminator":"0","avatar":null}`,
			`{"id":"80351110224678912","image":"https://cdn.discordapp.com/embed/avatars/5.png","name":"jane"}`},
		{"Discord, a former name", "discord", `{"id":"80351110224678912","username":"jane","discriminator":"1337","avatar":null}`,
			`{"id":"80351110224678912","image":"https://cdn.discordapp.com/embed/avatars/2.png","name":"jane"}`},
		{"Yandex, no picture", "yandex", `{"id":"1","display_name":"jane","is_avatar_empty":true,"default_avatar_id":"0/0-0"}`, `{"id":"1","image":null,"name":"jane"}`},
		{"Yandex, another address", "yandex", `{"id":"1","display_name":"jane","emails":["a@b.example"]}`, `{"email":"a@b.example","id":"1","image":null,"name":"jane"}`},
		{"FusionAuth, no name", "fusionauth", `{"sub":"1","given_name":"Jane","family_name":"Doe"}`, `{"id":"1","name":"Jane Doe"}`},
		{"a number with many digits", "github", `{"id":12345678901234567890,"login":"jane"}`, `{"id":"12345678901234567890","name":"jane"}`},
		{"Apple, later", "apple", `{"sub":"1","email":"jane@apple.example"}`, `{"email":"jane@apple.example","id":"1","image":null,"name":"jane@apple.example"}`},
		{"Apple, a name of blanks", "apple", `{"sub":"1","email":"jane@apple.example","user":{"name":{"firstName":"","lastName":""}}}`,
			`{"email":"jane@apple.example","id":"1","image":null,"name":"jane@apple.example"}`},
	} {
		v := &vendor{OAuth: prepared(t, c.id, clientOf(c.id))}
		d := json.NewDecoder(strings.NewReader(c.profile))
		d.UseNumber()
		if err := d.Decode(&v.profile); err != nil {
			t.Fatal(err)
		}
		if got := newApp(t, v).signIn(t); got.json() != c.want || !got.hasSession {
			t.Errorf("%s: %s, want %s", c.name, got.json(), c.want)
		}
	}
}

// GitHub's second request is for those who hide their address, and never keeps them out.
func TestGitHubEmails(t *testing.T) {
	t.Parallel()
	for emails, want := range map[string]string{
		``:                          "",
		`[]`:                        "",
		`{}`:                        "",
		`[{"email":"a@b.example"}]`: "a@b.example",
		`[{"email":"a@b.example"},{"email":"c@d.example","primary":true}]`: "c@d.example",
	} {
		v := &vendor{OAuth: prepared(t, "github", clientOf("github")), profile: map[string]any{"id": 1, "login": "jane", "email": nil}, emails: emails}
		got := newApp(t, v).signIn(t)
		if got.user == nil || got.user.Email != want || len(v.asked) != 2 {
			t.Errorf("%s: %+v, asked %v", emails, got.user, v.asked)
		}
	}
}

// The secret for Apple is as Apple wants it.
func TestAppleSecret(t *testing.T) {
	t.Parallel()
	text, err := providers.AppleSecret("TEAM", "com.example.web", "KEY", signingKey())
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || token.Headers[0].KeyID != "KEY" {
		t.Fatal(err, token)
	}
	var claims jwt.Claims
	if err := token.Claims(&signingKey().PublicKey, &claims); err != nil {
		t.Fatal(err)
	}
	wanted := jwt.Expected{Issuer: "TEAM", Subject: "com.example.web", AnyAudience: jwt.Audience{"https://appleid.apple.com"}, Time: time.Now()}
	if err := claims.Validate(wanted); err != nil {
		t.Error(err)
	}
	if life := claims.Expiry.Time().Sub(claims.IssuedAt.Time()); life > 15777000*time.Second || life < 24*time.Hour {
		t.Errorf("it is valid for %v", life) // Apple's limit is 15777000 seconds
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]*ecdsa.PrivateKey{"none": nil, "empty": {}, "P-384": p384} {
		if text, err := providers.AppleSecret("TEAM", "client", "KEY", key); err == nil || text != "" {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// The sign-in page has each provider's name and colour, and no image of anybody's.
func TestSignInPage(t *testing.T) {
	t.Parallel()
	var all []core.Provider
	var styles []string
	for _, v := range vendors(t) {
		all = append(all, v.OAuth)
		styles = append(styles, v.BrandColor)
	}
	auth, err := core.New(core.Config{
		Providers: all, TrustHost: core.On, Secret: []string{"0123456789abcdef0123456789abcdef"}, Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	resp := (&app{auth: auth}).send(map[string]string{}, "GET", site+"/auth/signin", nil)
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	page := body.String()
	for _, p := range all {
		name := strings.ReplaceAll(p.(core.OAuth).Name, "&", "&amp;")
		if !strings.Contains(page, "Sign in with "+name+"<") {
			t.Errorf("no button for %s", name)
		}
	}
	for _, color := range styles {
		if color != "" && !strings.Contains(page, `fill="`+color+`"`) {
			t.Errorf("the colour %s is not used", color)
		}
	}
	if strings.Contains(page, "<img") || strings.Contains(page, "url(") {
		t.Error("the page has images")
	}
}

// What testdata/reference.json has is what @auth/core gives.
func TestReferenceIsCurrent(t *testing.T) {
	t.Parallel()
	const folder = "../../edge/worker"
	node, err := exec.LookPath("node")
	_, missing := os.Stat(folder + "/node_modules/@auth/core")
	if err != nil || missing != nil {
		if os.Getenv("CI_STRICT") == "1" {
			t.Fatal("this test needs Node 20 or later and @auth/core: run npm ci in edge/worker")
		}
		t.Skip("this test needs Node 20 or later and @auth/core: run npm ci in edge/worker")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, node, "testdata/reference.mjs", folder)
	cmd.Stderr = &stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	want, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("testdata/reference.json is stale: run testdata/reference.mjs")
	}
}
