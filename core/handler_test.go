package core_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// A whole request as it comes over the wire. Whatever it is, the handler answers it, sends
// nobody away from the site but to the provider, and sets well-formed cookies only.
func FuzzHandler(f *testing.F) {
	p := newIDP()
	var mails mailbox
	config := core.Config{
		Providers: []core.Provider{p.oidc(core.CheckState, core.CheckPKCE), p.hub(), mails.provider(), anyone},
		Transport: p, Adapter: adaptertest.Memory(), Session: core.SessionOptions{Strategy: core.StrategyJWT},
		Getenv: environment(map[string]string{"AUTH_URL": site}), BasePath: "/auth",
	}
	checked := newAuth(f, config)
	config.SkipCSRFCheck = true // lets a fuzzer past the token it can't guess
	open := newAuth(f, config)

	b := newBrowser(f, checked)
	callback := p.approve(f, p.start(b, "idp"))
	b.signInAs("Ada")
	cookies := "Cookie: " + b.cookieHeader() + "\r\n"
	form := "Content-Type: application/x-www-form-urlencoded\r\n"
	post := func(target, header, body string) string {
		return "POST " + target + " HTTP/1.1\r\nHost: app.example\r\n" + header + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	}
	get := func(target, header string) string {
		return "GET " + target + " HTTP/1.1\r\nHost: app.example\r\n" + header + "\r\n"
	}
	for _, seed := range []string{
		get("/auth/session", cookies), get("/auth/csrf", ""), get("/auth/signin?error=x&callbackUrl=/x", ""), get("/auth/signout?callbackUrl=//evil.example", cookies),
		get(callback, cookies), get("/auth/callback/hub?error=access_denied", cookies), get("/auth/callback/email?token=x&email=a@b", ""),
		get("/auth/error?error=%00%0d%0a", "X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\n"), get("http://evil.example/auth/x/../session;x", ""),
		get("/auth/verify-request?a=b", "X-Auth-Return-Redirect: 1\r\nAuthorization: Bearer %\r\n"), get("/auth/%2e%2e/providers", ""),
		post("/auth/signin/idp?prompt=login", form+cookies, "csrfToken=x&callbackUrl=%2F%5Cevil.example"), post("/auth/signin/email", form, "email=Ada%40example.com"),
		post("/auth/callback/credentials", form, "name=Ada"), post("/auth/callback/credentials", "Content-Type: application/json\r\n", `{"name":"Ada","callbackUrl":"http:evil.example"}`),
		post("/auth/session", "Content-Type: application/json\r\n"+cookies, `{"data":{"a":[1,2,{}]}}`), post("/auth/signout", form+cookies, "callbackUrl=http%3A%2F%2Fevil.example"),
		get("/auth/session", "Cookie: authjs.session-token.0=a; authjs.session-token.1=b; authjs.session-token=%; =; ;;authjs.callback-url=javascript:x\r\n"),
		"POST /auth/session HTTP/1.1\r\nHost: app.example\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"HEAD /auth/session HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET * HTTP/1.0\r\n\r\n", "CONNECT app.example:80 HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, auth := range []*core.Auth{checked, open} {
			r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
			if err != nil {
				return
			}
			resp := auth.Handle(r)
			switch resp.Status {
			case http.StatusOK, http.StatusFound, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge:
			case http.StatusInternalServerError:
				if !bytes.Contains(resp.Body, []byte("server configuration")) {
					t.Errorf("%q: 500 %s", raw, resp.Body)
				}
			default:
				t.Errorf("%q: %d", raw, resp.Status)
			}
			if resp.Err != nil && resp.Err.Kind == core.ErrPanic {
				t.Errorf("%q: %v", raw, resp.Err)
			}
			wantSafe(t, resp.Header, p.issuer)
		}
	})
}

// wantSafe checks what every answer's header must keep to.
func wantSafe(t *testing.T, header http.Header, issuer string) {
	t.Helper()
	for name, values := range header {
		for _, value := range values {
			if strings.ContainsAny(name+value, "\r\n\x00") {
				t.Errorf("the header %s: %q", name, value)
			}
		}
	}
	for _, line := range header.Values("Set-Cookie") {
		if _, err := http.ParseSetCookie(line); err != nil {
			t.Errorf("Set-Cookie: %q: %v", line, err)
		}
	}
	location := header.Get("Location")
	if location == "" || strings.HasPrefix(location, issuer+"/authorize?") {
		return
	}
	if got := browserOrigin(location, site+"/auth/signin"); got != site {
		t.Errorf("Location %q leads to %s", location, got)
	}
}

// A5 (CVE-2022-31093): any callback URL, from any source, on the way in and on the way out.
func FuzzCallbackURL(f *testing.F) {
	for _, hostile := range hostileURLs {
		f.Add(hostile)
	}
	auth := newAuth(f, core.Config{Providers: []core.Provider{anyone}, SkipCSRFCheck: true})
	f.Fuzz(func(t *testing.T, asked string) {
		query := "?callbackUrl=" + url.QueryEscape(asked)
		body := url.Values{"callbackUrl": {asked}, "name": {"Ada"}}.Encode()
		for _, c := range []struct{ method, target, body, cookie string }{
			{http.MethodGet, "/auth/signin" + query, "", ""},
			{http.MethodPost, "/auth/signout" + query, "", ""},
			{http.MethodPost, "/auth/callback/credentials", body, ""},
			{http.MethodPost, "/auth/signout", "", callbackURLCookie + "=" + url.QueryEscape(asked)},
			{http.MethodPost, "/auth/signout", "", callbackURLCookie + "=" + asked},
		} {
			r := httptest.NewRequest(c.method, site+c.target, strings.NewReader(c.body))
			r.Header = formType()
			r.Header.Set("Cookie", c.cookie)
			resp := auth.Handle(r)
			if resp.Status >= 500 && !bytes.Contains(resp.Body, []byte("server configuration")) {
				t.Errorf("%s %s: %d %s", c.method, c.target, resp.Status, resp.Body)
			}
			wantSafe(t, resp.Header, "https://idp.example")
		}
	})
}

// The handler answers over a real connection as it does in Go: status, headers, body.
func TestServeHTTP(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	w := httptest.NewRecorder()
	w.Header().Set("Set-Cookie", "of=the-app")
	auth.ServeHTTP(w, httptest.NewRequest(http.MethodGet, site+"/auth/csrf", nil))
	resp := w.Result()
	body, err := io.ReadAll(resp.Body)
	if cookies := resp.Header.Values("Set-Cookie"); err != nil || resp.StatusCode != http.StatusOK || len(cookies) != 3 || cookies[0] != "of=the-app" {
		t.Errorf("%d %v %s %v", resp.StatusCode, resp.Header, body, err)
	}
	// The request's context reaches the callbacks.
	type key struct{}
	auth = newAuth(t, core.Config{Providers: []core.Provider{core.Credentials{Authorize: func(ctx context.Context, _ map[string]any, r *http.Request) (*core.User, error) {
		if ctx.Value(key{}) != "value" || r.Header.Get("X-Test") != "1" {
			t.Error("neither the context nor the request is the caller's")
		}
		return nil, nil
	}}}, SkipCSRFCheck: true})
	r := httptest.NewRequest(http.MethodPost, site+"/auth/callback/credentials", nil)
	r.Header.Set("X-Test", "1")
	auth.Handle(r.WithContext(context.WithValue(r.Context(), key{}, "value")))
}

// Every action of the table is one, and nothing else.
func TestIsAction(t *testing.T) {
	t.Parallel()
	for _, segment := range []string{"signin", "signout", "callback", "session", "csrf", "providers", "error", "verify-request", "webauthn-options"} {
		if !core.IsAction(segment) {
			t.Errorf("%q is no action", segment)
		}
	}
	for _, segment := range []string{"", "SIGNIN", "signin/", "_log", "constructor"} {
		if core.IsAction(segment) {
			t.Errorf("%q is an action", segment)
		}
	}
}
