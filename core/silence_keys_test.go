package core_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// A7 and P33, for what TestSilence does not go through: sign-ins by way of a redirect proxy, by
// a client that signs assertions, and tokens that are read elsewhere.
func TestSilenceOfProxiesAndKeys(t *testing.T) {
	t.Parallel()
	for _, method := range []core.ClientAuth{core.ClientSecretJWT, core.PrivateKeyJWT, core.ClientSecretPost} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			o := &overheard{texts: map[string]map[string]bool{}, secrets: map[string]string{}}
			p := newIDP()
			p.clientSecret = o.canary("client secret")
			o.secret("access token", "access-token")
			key := rsaKey()
			provider := p.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce)
			provider.ClientAuth, provider.ClientKey = method, core.ClientKey{PrivateKey: key, ID: "key-1"}
			keySecrets(o, key)

			var log journal
			config := core.Config{
				Secret: []string{o.canary("newest secret"), o.canary("oldest secret")}, JWT: core.JWTOptions{Secret: []string{o.canary("token secret")}},
				Providers: []core.Provider{provider, anyone}, Transport: p, RedirectProxyURL: proxyURL, Logger: log.logger(), Debug: true, ServerTiming: true,
			}
			preview := newAuth(t, config)
			config.BasePath = "/api/auth"
			proxy := newAuth(t, config)

			relayed := func() {
				b, relay := newBrowser(t, o.listen(preview, p.issuer)), newBrowser(t, o.listen(proxy, p.issuer))
				b.origin, relay.origin, relay.base = previewSite, proxySite, "/api/auth"
				u := p.start(b, "idp")
				o.secret("the state", u.Query().Get("state"))
				o.secret("the nonce", u.Query().Get("nonce"))
				path := p.approve(t, u)
				_, query, _ := strings.Cut(path, "?")
				given, _ := url.ParseQuery(query)
				o.secret("code", given.Get("code"))
				for _, answer := range []string{
					path, path + "0", "/api/auth/callback/idp?code=" + given.Get("code"),
					"/api/auth/callback/idp?state=" + o.canary("a state"), "/api/auth/callback/idp?state=" + given.Get("state") + "&error=access_denied",
				} {
					if back, ok := strings.CutPrefix(relay.get(answer).location(), previewSite); ok && !strings.Contains(back, "state=canary") {
						stranger := newBrowser(t, b.handler)
						stranger.origin = previewSite
						stranger.get(back)
						b.get(back)
						b.get(back)
					}
				}
				b.get("/auth/session")
			}
			repeat := func(status int, body func(form string) string) {
				p.transport = func(r *http.Request) (*http.Response, bool, error) {
					if r.URL.Path != "/token" {
						return nil, false, nil
					}
					raw, _ := io.ReadAll(r.Body)
					form, _ := url.ParseQuery(string(raw))
					o.secret("code verifier", form.Get("code_verifier"))
					o.secret("client assertion", form.Get("client_assertion"))
					if status == 0 {
						r.Body = io.NopCloser(strings.NewReader(string(raw)))
						r.SetBasicAuth("client", p.clientSecret)
						return nil, false, nil
					}
					return respond(status, body(string(raw))), true, nil
				}
			}
			repeat(0, nil)
			relayed()
			for _, status := range []int{200, 400, 401, 500} {
				repeat(status, func(form string) string { return form })
				relayed()
				repeat(status, func(form string) string {
					return string(mustJSON(map[string]string{"error": "invalid_client", "error_description": form, "token_type": form}))
				})
				relayed()
			}
			o.text("the log", log.text())
			o.wantSilence(t)
			if asserted := slices.Contains(slices.Collect(maps.Values(o.secrets)), "client assertion"); asserted != (method != core.ClientSecretPost) || len(log.lines) < 20 || len(o.texts["the relayed answer"]) == 0 {
				t.Errorf("too little was overheard: %d secrets, %d log lines", len(o.secrets), len(log.lines))
			}
		})
	}
}

// keySecrets are the parts of a key that nobody must see, in the forms that a careless %v gives.
func keySecrets(o *overheard, key *rsa.PrivateKey) {
	o.secret("the private exponent", key.D.String())
	o.secret("the private exponent", fmt.Sprintf("%x", key.D))
	o.secret("a prime", key.Primes[0].String())
	o.secret("the private key", base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(key)))
}

// No error of a TokenReader repeats the token, and none of New the key or a secret.
func TestSilenceOfErrors(t *testing.T) {
	t.Parallel()
	o := &overheard{texts: map[string]map[string]bool{}, secrets: map[string]string{}}
	readerSecret := o.canary("reader secret")
	reader := newTokenReader(t, core.TokenOptions{Secret: []string{readerSecret}})
	ours := seal(t, readerSecret, sessionCookie, map[string]any{"sub": o.canary("a claim"), "exp": 1})
	foreign := seal(t, "another secret", sessionCookie, map[string]any{"sub": "eve"})
	for _, token := range []string{
		ours, foreign, o.canary("opaque"), o.canary("a") + "." + o.canary("b") + "." + o.canary("c"), o.canary("percent") + "%zz",
		base64url([]byte(`{"alg":"dir","enc":"`+o.canary("enc")+`"}`)) + "....",
		base64url([]byte(`{"alg":"`+o.canary("alg")+`"}`)) + "....",
		sealRaw(t, readerSecret, sessionCookie, []byte(`{"exp":"`+o.canary("exp")+`"}`), nil),
		sealRaw(t, readerSecret, sessionCookie, []byte(o.canary("no JSON")), nil),
	} {
		o.secret("a token", token)
		for _, r := range []*http.Request{withHeaders("Cookie", sessionCookie+"="+token), withHeaders("Authorization", "Bearer "+token)} {
			claims, err := reader.GetToken(r)
			if err == nil {
				t.Errorf("%.40s is read: %v", token, claims)
				continue
			}
			o.text("an error of GetToken", err.Error())
		}
	}
	provider := newIDP().oidc()
	provider.ClientSecret = o.canary("client secret")[:31]
	o.secret("client secret", provider.ClientSecret)
	provider.ClientAuth = core.ClientSecretJWT
	keyed := provider
	keyed.ID, keyed.ClientAuth, keyed.ClientKey.PrivateKey = "keyed", core.PrivateKeyJWT, *rsaKey()
	keySecrets(o, rsaKey())
	var log journal
	_, err := core.New(inTest(core.Config{
		Providers: []core.Provider{provider, keyed, keyed}, Secret: []string{o.canary("short")[:20], ""}, Logger: log.logger(),
		Cookies: core.Cookies{SessionToken: core.Cookie{Name: "a b"}},
	}))
	if err == nil {
		t.Fatal("the configuration is fine")
	}
	o.text("an error of New", err.Error())
	o.wantSilence(t)
	if len(o.texts["an error of GetToken"]) < 3 {
		t.Errorf("errors %v", o.texts)
	}
}
