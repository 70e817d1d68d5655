package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// Facts 26 to 29: what a browser is told about an error, and on which page.
func TestErrorsInTheBrowser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		page string
		kind core.Kind // logged
	}{
		{core.CredentialsSignin(""), "signin?error=CredentialsSignin&code=credentials", core.ErrCredentialsSignin},
		{core.CredentialsSignin("locked"), "signin?error=CredentialsSignin&code=locked", core.ErrCredentialsSignin},
		{core.CredentialsSignin("a b&c=é"), "signin?error=CredentialsSignin&code=a+b%26c%3D%C3%A9", core.ErrCredentialsSignin},
		{fmt.Errorf("wrapped: %w", core.CredentialsSignin("locked")), "signin?error=CredentialsSignin&code=locked", core.ErrCredentialsSignin},
		{nil, "signin?error=CredentialsSignin&code=credentials", core.ErrCredentialsSignin}, // and no user
		{&core.Error{Kind: core.ErrOAuthAccountNotLinked}, "signin?error=OAuthAccountNotLinked", core.ErrOAuthAccountNotLinked},
		{&core.Error{Kind: core.ErrOAuthCallback}, "signin?error=OAuthCallbackError", core.ErrOAuthCallback},
		{&core.Error{Kind: core.ErrMissingCSRF}, "signin?error=MissingCSRF", core.ErrMissingCSRF},
		{&core.Error{Kind: core.ErrAccountNotLinked}, "signin?error=AccountNotLinked", core.ErrAccountNotLinked},
		{&core.Error{Kind: core.ErrAccessDenied}, "error?error=AccessDenied", core.ErrAccessDenied},
		{&core.Error{Kind: core.ErrVerification}, "error?error=Verification", core.ErrVerification},
		{errors.New("the database said no"), configurationError, core.ErrCallbackRoute},
		{&core.Error{Kind: core.ErrAdapter}, configurationError, core.ErrAdapter},
		{&core.Error{Kind: "SomethingElse"}, configurationError, "SomethingElse"},
	} {
		var log journal
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{core.Credentials{Authorize: func(context.Context, map[string]any, *http.Request) (*core.User, error) {
				return nil, c.err
			}}},
			Logger: log.logger(),
		})
		b := newBrowser(t, auth)
		b.post("/auth/callback/credentials").wantError(t, c.page)
		if !log.has(c.kind) {
			t.Errorf("%v: logged %s", c.err, log.text())
		}
	}
}

// Response.Err tells the cause to whoever asks in Go.
func TestResponseErr(t *testing.T) {
	t.Parallel()
	cause := errors.New("the database said no")
	auth := newAuth(t, core.Config{SkipCSRFCheck: true, Providers: []core.Provider{core.Credentials{Authorize: func(context.Context, map[string]any, *http.Request) (*core.User, error) {
		return nil, cause
	}}}})
	resp := auth.Handle(httptest.NewRequest(http.MethodPost, "/auth/callback/credentials", nil))
	if !errors.Is(resp.Err, cause) || !errors.Is(resp.Err, core.ErrCallbackRoute) || errors.Is(resp.Err, core.ErrAdapter) {
		t.Errorf("Err = %v", resp.Err)
	}
	if resp := auth.Handle(httptest.NewRequest(http.MethodGet, "/auth/session", nil)); resp.Err != nil || resp.Session != nil {
		t.Errorf("without a failure: %v %v", resp.Err, resp.Session)
	}
	for err, want := range map[*core.Error]string{
		{Kind: core.ErrAdapter}:                                            "core: AdapterError",
		{Kind: core.ErrAdapter, Message: "getUser"}:                        "core: AdapterError: getUser",
		{Kind: core.ErrAdapter, Message: "getUser", Err: cause}:            "core: AdapterError: getUser: the database said no",
		{Kind: core.ErrAdapter, Err: errors.Join(cause, context.Canceled)}: "core: AdapterError: the database said no\ncontext canceled",
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err.Error(), want)
		}
	}
}

// Facts 30, 31 and 34, and that nothing of the query reaches the page.
func TestErrorPage(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{anyone}}))
	for query, want := range map[string]struct {
		status  int
		heading string
	}{
		"?error=Configuration": {500, "Server error"},
		"?error=AccessDenied":  {403, "Access Denied"},
		"?error=Verification":  {403, "Unable to sign in"},
		"?error=configuration": {200, "Error"},
		"?error=constructor":   {200, "Error"},
		"?error=__proto__":     {200, "Error"},
		"?error=":              {200, "Error"},
		"":                     {200, "Error"},
		"?error=AccessDenied&error=Configuration":                  {403, "Access Denied"}, // of two the first counts: fact 14
		"?error=%3Cscript%3E&error_description=%22%3E%3Cscript%3E": {200, "Error"},
	} {
		a := b.get("/auth/error" + query)
		if a.status != want.status || !strings.Contains(a.body, "<h1>"+want.heading+"</h1>") {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
		if strings.Contains(a.body, "<script") {
			t.Errorf("%s: a script on the page", query)
		}
	}
}

// Every page: S-13, C9, and no request to anybody else.
func TestPageHeaders(t *testing.T) {
	t.Parallel()
	p := newIDP()
	b := newBrowser(t, p.auth(t, p.oidc(), anyone))
	for _, path := range []string{"signin", "signin?error=x", "signout", "error", "error?error=Configuration", "verify-request"} {
		a := b.get("/auth/" + path)
		for name, want := range map[string]string{
			"Content-Type": "text/html", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "same-origin", "Cache-Control": "private, no-cache, no-store",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s %q, want %q", path, name, got, want)
			}
		}
		policy := a.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: no %s in %q", path, part, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(a.body, "src=") || strings.Contains(a.body, "@import") {
			t.Errorf("%s: %q, %s", path, policy, a.body)
		}
		if a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s allows other origins", path)
		}
	}
}

// Facts 115 to 117: pages of the app in place of the built-in ones.
func TestCustomPages(t *testing.T) {
	t.Parallel()
	p := newIDP()
	pages := core.Pages{SignIn: "/in", SignOut: "/out", Error: "/oops?lang=en", VerifyRequest: "/sent", NewUser: "/hello"}
	auth := newAuth(t, core.Config{Providers: []core.Provider{p.oidc(), anyone}, Transport: p, Pages: pages, Adapter: adaptertest.Memory()})
	b := newBrowser(t, auth)
	b.get("/auth/signin").wantRedirect(t, "/in?callbackUrl=http%3A%2F%2Fapp.example")
	b.get("/auth/signin?callbackUrl=/x%20y&error=CredentialsSignin&code=locked").wantRedirect(t, "/in?callbackUrl=http%3A%2F%2Fapp.example%2Fx+y&error=CredentialsSignin")
	b.get("/auth/signout").wantRedirect(t, "/out")
	b.get("/auth/verify-request?provider=email&type=email").wantRedirect(t, "/sent?provider=email&type=email")
	b.get("/auth/error?error=AccessDenied").wantRedirect(t, "/oops?lang=en&error=AccessDenied")
	b.get("/auth/error").wantRedirect(t, "/oops?lang=en&error=undefined")
	b.post("/auth/signin").wantRedirect(t, site+"/auth/signin")
	// Errors lead to them at once, by an absolute URL.
	b.post("/auth/callback/credentials").wantRedirect(t, site+"/in?error=CredentialsSignin&code=credentials")
	// New users are greeted, others are not.
	b.get("/auth/signin?callbackUrl=/x")
	p.signIn(b, "idp").wantRedirect(t, "/hello?callbackUrl=http%3A%2F%2Fapp.example%2Fx")
	b.post("/auth/signout")
	b.get("/auth/signin?callbackUrl=/x")
	p.signIn(b, "idp").wantRedirect(t, site+"/x")
}

// Facts 35 and 36: the answers while the configuration is wrong.
func TestMisconfigured(t *testing.T) {
	t.Parallel()
	const message = `{"message":"There was a problem with the server configuration. Check the server logs for more information."}`
	for _, custom := range []string{"", "/oops"} {
		var log journal
		config := inTest(core.Config{Secret: []string{}, Providers: []core.Provider{anyone}, Pages: core.Pages{Error: custom}, Logger: log.logger()})
		_, err := core.New(config)
		if err == nil {
			t.Fatal("the configuration is fine")
		}
		b := newBrowser(t, core.Misconfigured(config, err))
		for _, target := range []string{"signin", "signin/idp", "signout", "error", "verify-request", "error?callbackUrl=/x", "error?callbackUrl=/oops/x"} {
			a := b.get("/auth/" + target)
			if custom != "" && !strings.Contains(target, custom) {
				a.wantRedirect(t, site+"/oops?error=Configuration")
			} else if a.status != http.StatusInternalServerError || !strings.Contains(a.body, "Server error") || a.setsCookie("") {
				t.Errorf("GET %s: %d %.80s", target, a.status, a.body)
			}
		}
		for _, request := range []string{
			"GET session", "GET csrf", "GET providers", "GET callback/idp", "GET webauthn-options",
			"POST session", "POST signin", "POST signin/idp", "POST signout", "POST callback/credentials", "POST error",
		} {
			method, path, _ := strings.Cut(request, " ")
			header := formType()
			header["X-Auth-Return-Redirect"] = []string{"1"}
			a := b.send(method, "/auth/"+path, header, "x=y")
			if a.status != http.StatusInternalServerError || a.body != message || a.setsCookie("") || a.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s", request, a.status, a.body)
			}
		}
		for _, request := range []string{"HEAD session", "GET nowhere", "POST session/x"} {
			method, path, _ := strings.Cut(request, " ")
			if a := b.send(method, "/auth/"+path, nil, ""); a.status != http.StatusBadRequest {
				t.Errorf("%s: %d", request, a.status)
			}
		}
		if !log.has(core.ErrMissingSecret) {
			t.Errorf("logged %s", log.text())
		}
	}
}

// Fact 47.
func TestProvidersRoute(t *testing.T) {
	t.Parallel()
	p := newIDP()
	hub := p.hub()
	hub.Name = `The "Hub" </script>`
	b := newBrowser(t, p.auth(t, p.oidc(), hub, anyone))
	a := b.get("/auth/providers?callbackUrl=/x")
	want := `{"credentials":{"id":"credentials","name":"Credentials","type":"credentials","signinUrl":"` + site + `/auth/signin/credentials","callbackUrl":"` + site + `/auth/callback/credentials"},` +
		`"hub":{"id":"hub","name":"The \"Hub\" \u003c/script\u003e","type":"oauth","signinUrl":"` + site + `/auth/signin/hub","callbackUrl":"` + site + `/auth/callback/hub"},` +
		`"idp":{"id":"idp","name":"IdP","type":"oidc","signinUrl":"` + site + `/auth/signin/idp","callbackUrl":"` + site + `/auth/callback/idp"}}`
	if a.status != http.StatusOK || a.body != want || a.setsCookie("") {
		t.Errorf("%d %s\nwant %s\n%v", a.status, a.body, want, a.header)
	}
}
