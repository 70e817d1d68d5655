package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/go-jose/go-jose/v4"
)

const tokenSecret = "a secret for session tokens and nothing else"

// JWT.Secret seals session tokens; the checks, the CSRF cookie and the state stay with Secret.
func TestJWTSecret(t *testing.T) {
	t.Parallel()
	p := newIDP()
	provider := p.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce)
	app := func(secrets, tokenSecrets []string) *browser {
		return newBrowser(t, newAuth(t, core.Config{
			Providers: []core.Provider{provider, anyone}, Transport: p, Secret: secrets, JWT: core.JWTOptions{Secret: tokenSecrets},
		}))
	}
	b := app([]string{secret}, []string{tokenSecret})
	callback := p.approve(t, p.start(b, "idp"))
	// Who knows Secret alone reads the checks, and not the session.
	checks := app([]string{secret}, []string{"another " + tokenSecret})
	checks.jar = b.copy().jar
	checks.get(callback).wantRedirect(t, site)
	if checks.user() != "Jane" {
		t.Error("the checks are not sealed with Config.Secret")
	}
	b.signInAs("Ada")
	for _, c := range []struct {
		name                  string
		secrets, tokenSecrets []string
		user                  string
	}{
		{"the same", []string{secret}, []string{tokenSecret}, "Ada"},
		{"the token's secret alone", []string{"another " + secret}, []string{tokenSecret}, "Ada"},
		{"rotated", []string{secret}, []string{"newer " + tokenSecret, tokenSecret}, "Ada"},
		{"Config.Secret for both", []string{secret}, nil, ""},
		{"the token's secret for both", []string{tokenSecret}, nil, "Ada"},
		{"exchanged", []string{tokenSecret}, []string{secret}, ""},
	} {
		reader := app(c.secrets, c.tokenSecrets)
		reader.set(sessionCookie, b.cookie(sessionCookie))
		if got := reader.user(); got != c.user {
			t.Errorf("%s: %q is signed in, want %q", c.name, got, c.user)
		}
	}
	// And the CSRF cookie is bound to Config.Secret.
	other := app([]string{secret}, nil)
	other.set(csrfCookie, b.cookie(csrfCookie))
	if other.get("/auth/csrf").setsCookie(csrfCookie) {
		t.Error("the CSRF cookie is not bound to Config.Secret")
	}
}

// JWT.MaxAge is how long a token is valid, Session.MaxAge how long its cookie lives.
func TestJWTMaxAge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		token, session time.Duration
		valid          time.Duration
	}{
		{time.Hour, 0, time.Hour},
		{time.Hour, 10 * time.Hour, time.Hour},
		{20 * time.Hour, 10 * time.Hour, 20 * time.Hour},
		{0, 10 * time.Hour, 10 * time.Hour},
		{0, 0, 30 * 24 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &recorded{Handler: newAuth(t, core.Config{
				Providers: []core.Provider{anyone}, JWT: core.JWTOptions{MaxAge: c.token}, Session: core.SessionOptions{MaxAge: c.session},
			})}
			b := newBrowser(t, h)
			b.signInAs("Ada")
			kept := c.session
			if kept == 0 {
				kept = 30 * 24 * time.Hour
			}
			set, _ := h.named(t, sessionCookie)
			if end := time.Now().UTC().Add(kept).Truncate(time.Second); !set[0].Expires.Equal(end) {
				t.Errorf("%+v: the cookie expires at %v, want %v", c, set[0].Expires, end)
			}
			if got := b.copy().session()["expires"]; got != time.Now().UTC().Add(kept).Format("2006-01-02T15:04:05.000Z") {
				t.Errorf("%+v: the session expires at %v", c, got)
			}
			late := b.copy()
			time.Sleep(c.valid)
			if b.user() != "Ada" {
				t.Errorf("%+v: signed out too early", c)
			}
			time.Sleep(16 * time.Second) // 15 are tolerated
			if late.user() != "" {
				t.Errorf("%+v: signed in too long", c)
			}
		})
	}
}

// signedTokens are session tokens of an app that signs them and lets anybody read them.
func signedTokens(t testing.TB, calls *[]any) core.JWTOptions {
	key := []byte("0123456789abcdef0123456789abcdef")
	return core.JWTOptions{
		Secret: []string{tokenSecret}, MaxAge: time.Hour,
		Encode: func(_ context.Context, p core.JWTEncodeParams) (string, error) {
			*calls = append(*calls, p)
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: key}, nil)
			if err != nil {
				return "", err
			}
			p.Token["exp"] = time.Now().Add(p.MaxAge).Unix()
			signed, err := signer.Sign(mustJSON(p.Token))
			if err != nil {
				return "", err
			}
			return signed.CompactSerialize()
		},
		Decode: func(_ context.Context, p core.JWTDecodeParams) (core.JWT, error) {
			*calls = append(*calls, p)
			signed, err := jose.ParseSignedCompact(p.Token, []jose.SignatureAlgorithm{jose.HS256})
			if err != nil {
				return nil, err
			}
			raw, err := signed.Verify(key)
			if err != nil {
				return nil, err
			}
			var claims core.JWT
			err = json.Unmarshal(raw, &claims)
			if exp, _ := claims["exp"].(float64); exp < float64(time.Now().Unix()) {
				return nil, nil // no longer valid, which is not an error of this function
			}
			return claims, err
		},
	}
}

// Encode and Decode make session tokens of the app's own, and nothing else.
func TestJWTEncodeAndDecode(t *testing.T) {
	t.Parallel()
	p := newIDP()
	var calls []any
	var log journal
	b := newBrowser(t, newAuth(t, core.Config{
		Providers: []core.Provider{p.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce)}, Transport: p,
		JWT: signedTokens(t, &calls), Logger: log.logger(),
		Cookies: core.Cookies{SessionToken: core.Cookie{Name: "sid"}},
	}))
	callback := p.approve(t, p.start(b, "idp"))
	for _, cookie := range checkCookies {
		// Sealed with Config.Secret all the same: fact 57.
		if got := len(strings.Split(b.cookie(cookie), ".")); got != 5 {
			t.Errorf("%s has %d parts", cookie, got)
		}
	}
	if len(calls) > 0 {
		t.Errorf("called for a check: %v", calls)
	}
	b.get(callback).wantRedirect(t, site)
	if len(calls) != 1 || len(strings.Split(b.cookie("sid"), ".")) != 3 {
		t.Fatalf("calls %v, cookie %q", calls, b.cookie("sid"))
	}
	encode := calls[0].(core.JWTEncodeParams)
	if encode.Salt != "sid" || !reflect.DeepEqual(encode.Secret, []string{tokenSecret}) || encode.MaxAge != time.Hour || encode.Token["name"] != "Jane" {
		t.Errorf("Encode was given %+v", encode)
	}
	token := b.cookie("sid")
	if b.user() != "Jane" {
		t.Fatalf("the signed token is not read: %s", log.text())
	}
	decode := calls[1].(core.JWTDecodeParams)
	if decode.Token != token || decode.Salt != "sid" || !reflect.DeepEqual(decode.Secret, []string{tokenSecret}) {
		t.Errorf("Decode was given %+v", decode)
	}
	b.post("/auth/signout").wantRedirect(t, site)
	if b.cookie("sid") != "" {
		t.Error("the cookie stays after signing out")
	}

	// Decode alone decides: one changed letter, a sealed token, an end that has passed.
	head, tail, _ := strings.Cut(token, ".")
	for name, forged := range map[string]string{
		"changed": head + "." + "A" + tail[1:],
		"sealed":  seal(t, tokenSecret, "sid", map[string]any{"name": "Eve"}),
		"expired": compact(map[string]any{"alg": "HS256"}, map[string]any{"name": "Eve", "exp": 1}, signHS256([]byte("0123456789abcdef0123456789abcdef"))),
	} {
		b.set("sid", forged)
		if b.user() != "" || b.cookie("sid") != "" {
			t.Errorf("%s: a session", name)
		}
	}
	if !log.has(core.ErrJWTSession) {
		t.Errorf("logged %s", log.text())
	}
}

// An Encode that fails signs nobody in, and drops nobody's session that it could read.
func TestJWTEncodeFails(t *testing.T) {
	t.Parallel()
	fails := false
	options := signedTokens(t, new([]any))
	encode := options.Encode
	options.Encode = func(ctx context.Context, p core.JWTEncodeParams) (string, error) {
		if fails {
			return "", errors.New("the key is gone")
		}
		return encode(ctx, p)
	}
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}, JWT: options})
	b := newBrowser(t, auth)
	fails = true
	b.post("/auth/callback/credentials", "name", "Ada").wantError(t, configurationError)
	if b.hasSession() {
		t.Error("there is a session")
	}
}

// A long token of the app's own is cut into chunks as any other.
func TestLongTokenOfOnesOwn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ab", 5000)
	b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{anyone}, JWT: core.JWTOptions{
		Encode: func(context.Context, core.JWTEncodeParams) (string, error) { return long, nil },
		Decode: func(_ context.Context, p core.JWTDecodeParams) (core.JWT, error) {
			if p.Token != long {
				return nil, errors.New("cut")
			}
			return core.JWT{"name": "Ada"}, nil
		},
	}}))
	b.signInAs("Ada")
	if b.cookie(sessionCookie+".2") == "" || b.user() != "Ada" {
		t.Errorf("%d cookies, user %q", len(b.jar), b.user())
	}
}
