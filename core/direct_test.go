package core_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// direct is a request to some route of the app, with the browser's cookies.
func (b *browser) direct(header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, b.origin+"/some/page", strings.NewReader("not=read"))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if cookies := b.cookieHeader(); cookies != "" {
		r.Header.Set("Cookie", cookies)
	}
	return r
}

// take gives the browser the cookies of a response, and its Location.
func (b *browser) take(resp *core.Response) string {
	b.t.Helper()
	for _, line := range resp.Header["Set-Cookie"] {
		b.store(line)
	}
	return resp.Header.Get("Location")
}

// A sign-in that was started directly is finished by the callback route, as any other.
func TestSignInDirectly(t *testing.T) {
	t.Parallel()
	p := newIDP()
	var mails mailbox
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{p.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce), anyone, mails.provider()}, Transport: p,
		Adapter: adaptertest.Memory(), Session: core.SessionOptions{Strategy: core.StrategyJWT},
	})

	b := newBrowser(t, auth)
	resp := auth.SignIn(b.direct("X-Auth-Return-Redirect", "1"), core.SignInRequest{
		Provider: "idp", CallbackURL: "/after", Params: url.Values{"prompt": {"login"}, "client_id": {"another"}},
	})
	if resp.Err != nil || resp.Status != http.StatusFound {
		t.Fatalf("OpenID Connect: %d, %v", resp.Status, resp.Err)
	}
	authorization, err := url.Parse(b.take(resp))
	if err != nil || authorization.Query().Get("prompt") != "login" || authorization.Query().Get("client_id") == "another" {
		t.Errorf("OpenID Connect: sent to %v, %v", authorization, err)
	}
	b.get(p.approve(t, authorization)).wantRedirect(t, site+"/after")
	if b.user() != "Jane" {
		t.Errorf("OpenID Connect: signed in as %q", b.user())
	}

	b = newBrowser(t, auth)
	resp = auth.SignIn(b.direct(), core.SignInRequest{Provider: "credentials", CallbackURL: "/after", Fields: url.Values{"name": {"Eve", "Ada"}, "empty": {}}})
	if location := b.take(resp); resp.Err != nil || location != site+"/after" || b.user() != "Ada" {
		t.Errorf("credentials: %q as %q, %v", location, b.user(), resp.Err)
	}

	b = newBrowser(t, auth)
	resp = auth.SignIn(b.direct(), core.SignInRequest{Provider: "email", Fields: url.Values{"email": {"Ada@Example.com"}}})
	if location := b.take(resp); location != site+"/auth/verify-request?provider=email&type=email" || mails.count() != 1 {
		t.Errorf("e-mail: %q, %d mails, %v", location, mails.count(), resp.Err)
	}
	b.get(mails.last(t)).wantRedirect(t, site)
	if !b.hasSession() {
		t.Error("e-mail: the link does not sign in")
	}

	b = newBrowser(t, auth)
	resp = auth.SignIn(b.direct(), core.SignInRequest{CallbackURL: "/after?a=b"})
	if location := b.take(resp); location != site+"/auth/signin?callbackUrl="+url.QueryEscape(site+"/after?a=b") {
		t.Errorf("no provider: %q, %v", location, resp.Err)
	}
}

// What fails is told twice: as an error, and as the response that a browser would get.
func TestSignInDirectlyFails(t *testing.T) {
	t.Parallel()
	var log journal
	wrong := errors.New("the directory is down")
	auth := newAuth(t, core.Config{Logger: log.logger(), Pages: core.Pages{SignIn: "/login"}, Providers: []core.Provider{
		core.Credentials{Authorize: refusing(core.CredentialsSignin("locked"))},
		core.Credentials{ID: "broken", Authorize: refusing(wrong)},
		core.Credentials{ID: "nobody", Authorize: refusing(nil)},
	}})
	for _, c := range []struct {
		name     string
		in       core.SignInRequest
		kind     core.Kind
		code     string
		location string
	}{
		{"refused with a code", core.SignInRequest{Provider: "credentials"}, core.ErrCredentialsSignin, "locked", "/login?error=CredentialsSignin&code=locked"},
		{"nobody", core.SignInRequest{Provider: "nobody"}, core.ErrCredentialsSignin, "", "/login?error=CredentialsSignin&code=credentials"},
		{"authorize failed", core.SignInRequest{Provider: "broken"}, core.ErrCallbackRoute, "", "/auth/error?error=Configuration"},
		{"unknown provider", core.SignInRequest{Provider: "none"}, core.ErrInvalidProvider, "", "/auth/error?error=Configuration"},
		{"no URL to return to", core.SignInRequest{Provider: "credentials", CallbackURL: "http://["}, core.ErrInvalidCallbackURL, "", "/auth/error?error=Configuration"},
	} {
		b := newBrowser(t, auth)
		resp := auth.SignIn(b.direct("X-Auth-Return-Redirect", "1"), c.in)
		if resp.Err == nil || resp.Err.Kind != c.kind || resp.Err.Code != c.code {
			t.Errorf("%s: %v, want %s with code %q", c.name, resp.Err, c.kind, c.code)
		}
		if location := resp.Header.Get("Location"); location != site+c.location || len(resp.Header["Set-Cookie"]) > 0 {
			t.Errorf("%s: sent to %q with cookies %q", c.name, location, resp.Header["Set-Cookie"])
		}
		if !log.has(c.kind) {
			t.Errorf("%s: not logged", c.name)
		}
	}
	r := newBrowser(t, auth).direct()
	r.Host = "not a host"
	if resp := auth.SignIn(r, core.SignInRequest{}); resp.Err == nil || resp.Status != http.StatusBadRequest {
		t.Errorf("no host: %d, %v", resp.Status, resp.Err)
	}
}

// refusing is an Authorize function that lets nobody in.
func refusing(err error) func(context.Context, map[string]any, *http.Request) (*core.User, error) {
	return func(context.Context, map[string]any, *http.Request) (*core.User, error) { return nil, err }
}

func TestSignOutDirectly(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		p := newIDP()
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{p.oidc()}, Transport: p, Adapter: adaptertest.Memory(), Session: core.SessionOptions{Strategy: strategy},
		})
		b := newBrowser(t, auth)
		p.signIn(b, "idp")
		old := b.copy()
		resp := auth.SignOut(b.direct(), "/bye")
		if location := b.take(resp); resp.Err != nil || location != site+"/bye" || b.hasSession() {
			t.Errorf("%s: sent to %q, session %t, %v", strategy, location, b.hasSession(), resp.Err)
		}
		if strategy == core.StrategyDatabase && old.user() != "" {
			t.Error("the session lives on in the store")
		}
		if resp := auth.SignOut(b.direct(), ""); resp.Err != nil || b.take(resp) != site+"/bye" {
			t.Errorf("%s: signing out without a session: %v", strategy, resp.Err)
		}
	}
}

func TestIsRoute(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path  string
		bases []string
		want  bool
	}{
		{"/auth/session", []string{"/auth"}, true},
		{"/auth/session/", []string{"/auth"}, true},
		{"/auth//session", []string{"/auth/"}, true},
		{"/auth/x/../session", []string{"auth"}, true},
		{"/auth/signin/github/more", []string{"/auth"}, true}, // a bad request, but not the app's
		{"/api/auth/callback/github", []string{"/auth", "/api/auth"}, true},
		{"/session", []string{"/"}, true},
		{"/session", []string{""}, true},
		{"/auth/webauthn-options/passkey", []string{"/auth"}, true},
		{"/authsession", []string{"/auth"}, false},
		{"/auth", []string{"/auth"}, false},
		{"/auth/", []string{"/auth"}, false},
		{"/auth/SESSION", []string{"/auth"}, false},
		{"/auth/%73ession", []string{"/auth"}, false},
		{"/auth/session/../other", []string{"/auth"}, false},
		{"/AUTH/session", []string{"/auth"}, false},
		{"/other/auth/session", []string{"/auth"}, false},
		{"/auth/sessions", []string{"/auth"}, false},
		{"/auth/session", nil, false},
	} {
		if got := core.IsRoute(httptest.NewRequest(http.MethodGet, site+c.path, nil), c.bases...); got != c.want {
			t.Errorf("%s under %q: %t", c.path, c.bases, got)
		}
	}
}

// SameOrigin is CSRFOrigin's question, whatever the method.
func TestSameOrigin(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		for _, c := range []struct {
			site, origin string
			want         bool
		}{
			{"same-origin", "", true}, {"", site, true}, {"", "", false}, {"cross-site", "", false}, {"same-site", "", false},
			{"", "https://evil.example", false}, {"same-origin", "null", false},
		} {
			r := httptest.NewRequest(method, site+"/page", nil)
			r.Header["Sec-Fetch-Site"], r.Header["Origin"] = one(c.site), one(c.origin)
			if got := auth.SameOrigin(r); got != c.want || r.Method != method {
				t.Errorf("%s from %q, %q: %t", method, c.site, c.origin, got)
			}
		}
	}
}

func one(value string) []string {
	return slices.DeleteFunc([]string{value}, func(v string) bool { return v == "" })
}

func TestLoggerWithDefaults(t *testing.T) {
	t.Parallel()
	var log journal
	for _, debug := range []bool{false, true} {
		l := log.logger().WithDefaults(debug)
		l.Debug("seen", "debug", debug)
	}
	if got := log.text(); got != "debug seen debugtrue" && got != "debug seen debug true" {
		t.Errorf("logged %q", got)
	}
	if l := (core.Logger{}).WithDefaults(false); l.Error == nil || l.Warn == nil || l.Debug == nil {
		t.Error("a function is missing")
	}
}
