package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

func newTokenReader(t testing.TB, o core.TokenOptions) *core.TokenReader {
	t.Helper()
	reader, err := core.NewTokenReader(o)
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

// withHeaders is a request to a back end.
func withHeaders(pairs ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "https://api.example/orders", nil)
	for i := 0; i < len(pairs); i += 2 {
		r.Header.Add(pairs[i], pairs[i+1])
	}
	return r
}

// chunked is a Cookie header with a value cut as the handler cuts it: fact 55.
func chunked(name, value string) string {
	const size = 3936
	var parts []string
	for i := 0; i*size < len(value); i++ {
		parts = append(parts, fmt.Sprintf("%s.%d=%s", name, i, value[i*size:min(len(value), (i+1)*size)]))
	}
	return strings.Join(parts, "; ")
}

// Where a token is found, and which of several counts.
func TestTokenReader(t *testing.T) {
	t.Parallel()
	token := func(user, salt string) string {
		return seal(t, secret, salt, map[string]any{"sub": user, "name": user})
	}
	const secureCookie = "__Secure-" + sessionCookie
	plain, secure, mine := token("plain", sessionCookie), token("secure", secureCookie), token("mine", "mine")
	long := seal(t, secret, sessionCookie, map[string]any{"sub": "long", "pad": strings.Repeat("x", 9000)})
	percent := strings.ReplaceAll(url.QueryEscape(plain), ".", "%2E")
	for _, c := range []struct {
		name    string
		options core.TokenOptions
		request *http.Request
		user    string // empty: none
		fails   bool
	}{
		{"none", core.TokenOptions{}, withHeaders(), "", false},
		{"the cookie", core.TokenOptions{}, withHeaders("Cookie", "a=b; "+sessionCookie+"="+plain), "plain", false},
		{"the cookie of an https site", core.TokenOptions{SecureCookie: true}, withHeaders("Cookie", secureCookie+"="+secure), "secure", false},
		{"the cookie of the other kind of site", core.TokenOptions{SecureCookie: true}, withHeaders("Cookie", sessionCookie+"="+plain), "", false},
		{"a token of http under the name of https", core.TokenOptions{SecureCookie: true}, withHeaders("Cookie", secureCookie+"="+plain), "", true},
		{"two Cookie headers", core.TokenOptions{}, withHeaders("Cookie", "a=b", "Cookie", sessionCookie+"="+plain), "plain", false},
		{"chunks", core.TokenOptions{}, withHeaders("Cookie", chunked(sessionCookie, long)), "long", false},
		{"a missing chunk", core.TokenOptions{}, withHeaders("Cookie", strings.Replace(chunked(sessionCookie, long), ".1=", ".x=", 1)), "", true},
		{"a custom name", core.TokenOptions{CookieName: "mine"}, withHeaders("Cookie", "mine="+mine), "mine", false},
		{"a custom name wins over SecureCookie", core.TokenOptions{CookieName: "mine", SecureCookie: true}, withHeaders("Cookie", "mine="+mine), "mine", false},
		{"a custom salt", core.TokenOptions{CookieName: "other", Salt: "mine"}, withHeaders("Cookie", "other="+mine), "mine", false},
		{"the name is not the salt", core.TokenOptions{CookieName: "other"}, withHeaders("Cookie", "other="+mine), "", true},
		{"an empty cookie", core.TokenOptions{}, withHeaders("Cookie", sessionCookie+"="), "", false},
		{"another secret", core.TokenOptions{Secret: []string{"another " + secret}}, withHeaders("Cookie", sessionCookie+"="+plain), "", true},
		{"a rotated secret", core.TokenOptions{Secret: []string{"newer " + secret, secret}}, withHeaders("Cookie", sessionCookie+"="+plain), "", true}, // without a kid only the newest is tried: fact 59
		{"a bearer token", core.TokenOptions{}, withHeaders("Authorization", "Bearer "+plain), "plain", false},
		{"a bearer token, percent-encoded", core.TokenOptions{}, withHeaders("Authorization", "Bearer "+percent), "plain", false},
		{"a bearer token with something behind it", core.TokenOptions{}, withHeaders("Authorization", "Bearer "+plain+" x"), "plain", false},
		{"a malformed bearer token", core.TokenOptions{}, withHeaders("Authorization", "Bearer %zz"), "", true},
		{"a bearer token of bad UTF-8", core.TokenOptions{}, withHeaders("Authorization", "Bearer %ff"), "", true},
		{"an unreadable bearer token", core.TokenOptions{}, withHeaders("Authorization", "Bearer x"), "", true},
		{"an empty bearer token", core.TokenOptions{}, withHeaders("Authorization", "Bearer "), "", false},
		{"no bearer token", core.TokenOptions{}, withHeaders("Authorization", "Bearer"), "", false},
		{"two blanks", core.TokenOptions{}, withHeaders("Authorization", "Bearer  "+plain), "", false},
		{"another scheme", core.TokenOptions{}, withHeaders("Authorization", "Basic "+plain), "", false},
		{"bearer in lower case, as in the reference", core.TokenOptions{}, withHeaders("Authorization", "bearer "+plain), "", false},
		{"the cookie wins", core.TokenOptions{}, withHeaders("Cookie", sessionCookie+"="+plain, "Authorization", "Bearer "+long), "plain", false},
		{"a bad cookie wins, too", core.TokenOptions{}, withHeaders("Cookie", sessionCookie+"=x", "Authorization", "Bearer "+plain), "", true},
	} {
		if c.options.Secret == nil {
			c.options.Secret = []string{secret}
		}
		claims, err := newTokenReader(t, c.options).GetToken(c.request)
		if c.fails != (err != nil) || c.fails && !errors.Is(err, core.ErrJWTSession) || claims.String("sub") != c.user || (c.user == "") != (claims == nil) {
			t.Errorf("%s: %v, %v", c.name, claims, err)
		}
		if err != nil && (strings.Contains(err.Error(), plain) || strings.Contains(err.Error(), secret)) {
			t.Errorf("%s: the error tells too much: %v", c.name, err)
		}
	}
}

// A back end reads what the handler makes, and keeps reading it while the secret is replaced.
func TestTokenReaderReadsSessions(t *testing.T) {
	t.Parallel()
	const newer = "a newer secret of at least thirty-two characters"
	for _, origin := range []string{site, secureSite} {
		for _, pad := range []int{0, 9000} {
			b := newBrowser(t, newAuth(t, core.Config{
				Providers: []core.Provider{anyone},
				Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
					p.Token["pad"] = strings.Repeat("x", pad)
					return p.Token, nil
				}},
			}))
			b.origin = origin
			b.signInAs("Ada")
			r := withHeaders("Cookie", b.cookieHeader())
			for _, secrets := range [][]string{{secret}, {newer, secret}, {secret, newer}} {
				reader := newTokenReader(t, core.TokenOptions{Secret: secrets, SecureCookie: origin == secureSite})
				claims, err := reader.GetToken(r)
				if err != nil || claims["name"] != "Ada" || claims["sub"] != "id-of-Ada" || len(claims.String("pad")) != pad {
					t.Errorf("%s with %d more: %.100v, %v", origin, pad, claims, err)
				}
				if raw, err := reader.Raw(r); err != nil || strings.Count(raw, ".") != 4 {
					t.Errorf("%s: Raw gives %.50q, %v", origin, raw, err)
				}
			}
			if _, err := newTokenReader(t, core.TokenOptions{Secret: []string{newer}, SecureCookie: origin == secureSite}).GetToken(r); !errors.Is(err, core.ErrJWTSession) {
				t.Errorf("without the old secret: %v", err)
			}
		}
	}
}

// A token that has expired, or that was changed in any letter, is none.
func TestTokenReaderRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader := newTokenReader(t, core.TokenOptions{Secret: []string{secret}})
		token := seal(t, secret, sessionCookie, map[string]any{"sub": "1"}) // for an hour
		read := func(token string) (core.JWT, error) {
			return reader.GetToken(withHeaders("Cookie", sessionCookie+"="+token))
		}
		if claims, err := read(token); err != nil || claims["sub"] != "1" {
			t.Fatalf("%v, %v", claims, err)
		}
		for i := 0; i < len(token); i += 7 {
			if claims, err := read(token[:i] + flip(token[i:])); err == nil && token[i] != '.' {
				t.Errorf("letter %d changed: %v", i, claims)
			}
		}
		time.Sleep(time.Hour + 16*time.Second) // 15 are tolerated
		if claims, err := read(token); !errors.Is(err, core.ErrJWTSession) || claims != nil {
			t.Errorf("expired: %v, %v", claims, err)
		}
	})
}

// Decode takes over the reading, with what it needs to know.
func TestTokenReaderDecode(t *testing.T) {
	t.Parallel()
	var given []core.JWTDecodeParams
	answer, failure := core.JWT{"sub": "1"}, error(nil)
	reader := newTokenReader(t, core.TokenOptions{
		CookieName: "sid", Salt: "salt", Secret: []string{"a", "b"},
		Decode: func(ctx context.Context, p core.JWTDecodeParams) (core.JWT, error) {
			if ctx == nil {
				t.Error("no context")
			}
			given = append(given, p)
			return answer, failure
		},
	})
	r := withHeaders("Cookie", "sid=opaque")
	claims, err := reader.GetToken(r)
	if err != nil || claims["sub"] != "1" || !reflect.DeepEqual(given, []core.JWTDecodeParams{{Token: "opaque", Salt: "salt", Secret: []string{"a", "b"}}}) {
		t.Errorf("%v, %v, given %+v", claims, err, given)
	}
	// Neither an error nor a nil token may look like a request without one.
	answer, failure = nil, errors.New("revoked")
	if claims, err := reader.GetToken(r); !errors.Is(err, core.ErrJWTSession) || !errors.Is(err, failure) || claims != nil {
		t.Errorf("%v, %v", claims, err)
	}
	failure = nil
	if claims, err := reader.GetToken(r); !errors.Is(err, core.ErrJWTSession) || claims != nil {
		t.Errorf("%v, %v", claims, err)
	}
	if claims, err := reader.GetToken(withHeaders()); err != nil || claims != nil || len(given) != 3 {
		t.Errorf("without a token: %v, %v, Decode called %d times", claims, err, len(given))
	}
	if _, err := core.NewTokenReader(core.TokenOptions{Decode: func(context.Context, core.JWTDecodeParams) (core.JWT, error) { return nil, nil }}); err != nil {
		t.Errorf("Decode without a secret: %v", err)
	}
}

func TestTokenReaderNeedsASecret(t *testing.T) {
	t.Parallel()
	for _, secrets := range [][]string{nil, {}, {""}, {secret, ""}} {
		if reader, err := core.NewTokenReader(core.TokenOptions{Secret: secrets}); !errors.Is(err, core.ErrMissingSecret) || reader != nil {
			t.Errorf("%q: %v", secrets, err)
		}
	}
}

// A token of the reference is read, from a cookie and as a bearer token.
func TestTokenReaderReadsTheReference(t *testing.T) {
	t.Parallel()
	var tasks []map[string]any
	salts := []string{sessionCookie, "__Secure-" + sessionCookie}
	for _, salt := range salts {
		tasks = append(tasks, map[string]any{
			"action": "encode", "secret": secret, "salt": salt,
			"token": map[string]any{"sub": "1", "name": "é 日本 😀", "big": 9007199254740991, "pad": strings.Repeat("x", 5000)},
		})
	}
	for i, result := range inNode(t, tasks) {
		token, _ := result["value"].(string)
		reader := newTokenReader(t, core.TokenOptions{Secret: []string{"newer " + secret, secret}, SecureCookie: i == 1})
		for where, r := range map[string]*http.Request{
			"cookies":       withHeaders("Cookie", chunked(salts[i], token)),
			"Authorization": withHeaders("Authorization", "Bearer "+token),
		} {
			claims, err := reader.GetToken(r)
			if err != nil || claims["sub"] != "1" || claims["name"] != "é 日本 😀" || fmt.Sprint(claims["big"]) != "9007199254740991" || len(claims.String("pad")) != 5000 {
				t.Errorf("%s, %s: %.200v, %v", salts[i], where, claims, err)
			}
		}
	}
}

// Whatever is in the headers, nothing panics, and no token is read that wasn't sealed with the secret.
func FuzzTokenReader(f *testing.F) {
	ours := seal(f, secret, sessionCookie, map[string]any{"sub": "ours"})
	foreign := seal(f, "another "+secret, sessionCookie, map[string]any{"sub": "eve"})
	for _, token := range []string{ours, foreign, "", "x", "....", compact(map[string]any{"alg": "none"}, map[string]any{"sub": "eve"}, signNothing), url.QueryEscape(ours), "%zz"} {
		f.Add(sessionCookie+"="+token, "")
		f.Add("", "Bearer "+token)
		f.Add(sessionCookie+".0="+token+"; "+sessionCookie+".1=x", "Bearer "+token)
	}
	f.Add(chunked(sessionCookie, ours+strings.Repeat("A", 8000)), "")
	f.Add(sessionCookie+".0="+ours[:40]+"; "+sessionCookie+".1="+ours[40:], "")
	reader := newTokenReader(f, core.TokenOptions{Secret: []string{secret}})
	f.Fuzz(func(t *testing.T, cookies, authorization string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header["Cookie"] = []string{cookies}
		r.Header["Authorization"] = []string{authorization}
		claims, err := reader.GetToken(r)
		switch {
		case err != nil && (!errors.Is(err, core.ErrJWTSession) || claims != nil):
			t.Errorf("%v, %v", claims, err)
		case err == nil && claims != nil && claims["sub"] != "ours":
			t.Errorf("a token nobody has sealed is read: %v", claims)
		}
		raw, rawErr := reader.Raw(r)
		if rawErr == nil && raw == "" && (claims != nil || err != nil) {
			t.Errorf("there is no token, and %v, %v", claims, err)
		}
	})
}
