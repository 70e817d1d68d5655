package core_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

func TestSignInByOIDC(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		checks []core.Check
		params []string // what the checks add to the authorization request
	}{
		{"the default is PKCE", nil, []string{"code_challenge", "code_challenge_method"}},
		{"state", []core.Check{core.CheckState}, []string{"state"}},
		{"nonce", []core.Check{core.CheckNonce}, []string{"nonce"}},
		{"all of them", []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce}, []string{"code_challenge", "code_challenge_method", "state", "nonce"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			b := newBrowser(t, p.auth(t, p.oidc(c.checks...)))
			b.get("/auth/signin?callbackUrl=%2Fwelcome")
			u := p.start(b, "idp")
			want := url.Values{
				"client_id": {"client"}, "redirect_uri": {site + "/auth/callback/idp"},
				"response_type": {"code"}, "scope": {"openid profile email"},
			}
			got := u.Query()
			for _, name := range c.params {
				if !got.Has(name) {
					t.Errorf("no %s in %v", name, got)
				}
				got.Del(name)
			}
			if got.Encode() != want.Encode() {
				t.Errorf("authorization request\n got %s\nwant %s", got.Encode(), want.Encode())
			}
			a := b.get(p.approve(t, u))
			a.wantRedirect(t, site+"/welcome")
			for check, cookie := range checkCookies {
				if b.cookie(cookie) != "" {
					t.Errorf("the %s cookie stays after the sign-in", check)
				}
			}
			session := b.session()
			user, _ := session["user"].(map[string]any)
			if user["name"] != "Jane" || user["email"] != "jane@example.com" || len(user) != 2 {
				t.Errorf("session %v", session)
			}
			if p.count("POST /token") != 1 || p.count("GET /userinfo") != 0 {
				t.Errorf("asked %v", p.visits)
			}
		})
	}
}

// On https the cookies are those with a prefix, and the redirect URI is https.
func TestSignInOverHTTPS(t *testing.T) {
	t.Parallel()
	p := newIDP()
	b := newBrowser(t, p.auth(t, p.oidc(core.CheckPKCE, core.CheckState, core.CheckNonce)))
	b.origin = secureSite
	a := p.signIn(b, "idp")
	a.wantRedirect(t, secureSite)
	if b.cookie("__Secure-"+sessionCookie) == "" || b.cookie("__Host-"+csrfCookie) == "" || b.user() != "Jane" {
		t.Errorf("cookies %v", b.jar)
	}
}

// The query of the sign-in request is passed on, but can't change who asks for what (fact 64).
func TestAuthorizationParameters(t *testing.T) {
	t.Parallel()
	p := newIDP()
	provider := p.oidc(core.CheckState, core.CheckPKCE)
	provider.Authorization.Params = url.Values{"scope": {"openid"}, "audience": {"api"}}
	b := newBrowser(t, p.auth(t, provider))
	form := url.Values{"csrfToken": {b.csrf()}}
	asked := url.Values{
		"prompt": {"login"}, "login_hint": {"jane"}, "audience": {"other"},
		"client_id": {"evil"}, "redirect_uri": {"https://evil.example"}, "response_type": {"token"}, "response_mode": {"fragment"},
		"request": {"x"}, "request_uri": {"https://evil.example"}, "state": {"x"}, "code_challenge": {"x"}, "code_challenge_method": {"plain"},
		"csrfToken": {"x"},
	}
	a := b.send(http.MethodPost, "/auth/signin/idp?"+asked.Encode(), formType(), form.Encode())
	u, err := url.Parse(a.location())
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	for name, want := range map[string]string{
		"prompt": "login", "login_hint": "jane", "audience": "other", "scope": "openid", "client_id": "client",
		"redirect_uri": site + "/auth/callback/idp", "response_type": "code", "code_challenge_method": "S256",
	} {
		if len(query[name]) != 1 || query.Get(name) != want {
			t.Errorf("%s=%q, want %q", name, query[name], want)
		}
	}
	for _, name := range []string{"response_mode", "request", "request_uri", "csrfToken"} {
		if query.Has(name) {
			t.Errorf("%s=%q is passed on", name, query[name])
		}
	}
	for _, name := range []string{"state", "code_challenge"} {
		if query.Get(name) == "x" || len(query[name]) != 1 {
			t.Errorf("%s=%q is the client's", name, query[name])
		}
	}
	b.get(p.approve(t, u)).wantRedirect(t, site)
}

// RFC 6749, sections 2.3.1 and 4.1.3.
func TestTokenRequest(t *testing.T) {
	t.Parallel()
	const password = "p:w+ü /%"
	for method, check := range map[core.ClientAuth]func(t *testing.T, header http.Header, form url.Values){
		"": func(t *testing.T, header http.Header, form url.Values) {
			r := &http.Request{Header: header}
			if id, got, _ := r.BasicAuth(); id != "client" || got != "p%3Aw%2B%C3%BC+%2F%25" || form.Has("client_id") || form.Has("client_secret") {
				t.Errorf("Basic %q %q, form %v", id, got, form)
			}
		},
		core.ClientSecretPost: func(t *testing.T, header http.Header, form url.Values) {
			if header.Get("Authorization") != "" || form.Get("client_id") != "client" || form.Get("client_secret") != password {
				t.Errorf("%v %v", header, form)
			}
		},
		core.ClientAuthNone: func(t *testing.T, header http.Header, form url.Values) {
			if header.Get("Authorization") != "" || form.Get("client_id") != "client" || form.Has("client_secret") {
				t.Errorf("%v %v", header, form)
			}
		},
	} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			p.clientSecret = password
			provider := p.oidc()
			if provider.ClientAuth = method; method == core.ClientAuthNone {
				provider.ClientSecret, p.clientSecret = "", ""
			}
			p.transport = func(r *http.Request) (*http.Response, bool, error) {
				if r.URL.Path != "/token" {
					return nil, false, nil
				}
				raw, _ := io.ReadAll(r.Body)
				form, err := url.ParseQuery(string(raw))
				if err != nil {
					t.Error(err)
				}
				check(t, r.Header, form)
				if len(form.Get("code_verifier")) < 43 || form.Get("redirect_uri") != site+"/auth/callback/idp" ||
					form.Get("grant_type") != "authorization_code" || r.Header.Get("Accept") != "application/json" ||
					r.Header.Get("Content-Type") != "application/x-www-form-urlencoded;charset=UTF-8" {
					t.Errorf("%v %v", r.Header, form)
				}
				r.Body = io.NopCloser(strings.NewReader(string(raw)))
				return nil, false, nil
			}
			b := newBrowser(t, p.auth(t, provider))
			p.signIn(b, "idp").wantRedirect(t, site)
		})
	}
}

// A code is sent once by a browser, whatever the browser does. B3.
func TestCodeIsSentOnce(t *testing.T) {
	t.Parallel()
	p := newIDP()
	b := newBrowser(t, p.auth(t, p.oidc(core.CheckState, core.CheckPKCE)))
	callback := p.approve(t, p.start(b, "idp"))
	b.get(callback).wantRedirect(t, site)
	for range 5 {
		b.get(callback).wantError(t, configurationError)
	}
	if n := p.count("POST /token"); n != 1 {
		t.Errorf("the code was sent %d times", n)
	}
	if b.user() != "Jane" {
		t.Error("a repeated callback ended the session")
	}
	// A failing token request is not repeated either.
	p.tokens = func(answer map[string]any) { delete(answer, "access_token") }
	p.signIn(newBrowser(t, b.handler), "idp").wantError(t, configurationError)
	if n := p.count("POST /token"); n != 2 {
		t.Errorf("%d token requests, want 2", n)
	}
}

// Whatever a provider sends, it makes no session and no crash.
func TestBrokenProviders(t *testing.T) {
	t.Parallel()
	const huge = 4 << 20
	faults := map[string]func(*http.Request) (*http.Response, error){
		"down":        func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"500":         func(*http.Request) (*http.Response, error) { return respond(500, `{"error":"server_error"}`), nil },
		"204":         func(*http.Request) (*http.Response, error) { return respond(204, ""), nil },
		"not JSON":    func(*http.Request) (*http.Response, error) { return respond(200, "<html>"), nil },
		"half JSON":   func(*http.Request) (*http.Response, error) { return respond(200, `{"issuer":`), nil },
		"JSON null":   func(*http.Request) (*http.Response, error) { return respond(200, "null"), nil },
		"a JSON list": func(*http.Request) (*http.Response, error) { return respond(200, "[]"), nil },
		"empty JSON":  func(*http.Request) (*http.Response, error) { return respond(200, "{}"), nil },
		"deep JSON":   func(*http.Request) (*http.Response, error) { return respond(200, strings.Repeat("[", 1<<20)), nil },
		"more than 1MB": func(*http.Request) (*http.Response, error) {
			return respond(200, `{"x":"`+strings.Repeat("x", huge)+`"}`), nil
		},
		"endless": func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(endless{})}, nil
		},
		"cut off": func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"issuer"`), broken{}))}, nil
		},
		"redirecting": func(r *http.Request) (*http.Response, error) {
			out := respond(http.StatusTemporaryRedirect, "")
			out.Header.Set("Location", "https://elsewhere.example"+r.URL.Path)
			return out, nil
		},
	}
	for name, fault := range faults {
		for _, path := range []string{"/.well-known/openid-configuration", "/token", "/keys", "/userinfo"} {
			if path == "/userinfo" && name == "empty JSON" {
				continue // a profile, of somebody without a name
			}
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				p := newIDP()
				b := newBrowser(t, p.auth(t, p.oidc(), p.hub()))
				id := "idp"
				if path == "/userinfo" {
					id = "hub"
				}
				fail := func(r *http.Request) (*http.Response, bool, error) {
					if r.URL.Path != path {
						return nil, false, nil
					}
					resp, err := fault(r)
					return resp, true, err
				}
				if path == "/.well-known/openid-configuration" {
					p.transport = fail
					b.post("/auth/signin/idp").wantError(t, configurationError)
				} else {
					u := p.start(b, id)
					p.transport = fail
					b.get(p.approve(t, u)).wantError(t, configurationError)
				}
				if b.hasSession() || p.count("POST /token") > 1 || p.count("GET "+path) > 1 {
					t.Errorf("a session, or more requests than one: %v", p.visits)
				}
				// The next sign-in works: nothing of the failure was kept.
				p.transport = nil
				p.signIn(b, id).wantRedirect(t, site)
			})
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Whoever waits for a slow provider is let go with the request's context.
func TestSlowProvider(t *testing.T) {
	t.Parallel()
	rsaKey()
	synctest.Test(t, func(t *testing.T) {
		p := newIDP()
		auth := p.auth(t, p.oidc())
		b := newBrowser(t, auth)
		callback := p.approve(t, p.start(b, "idp"))
		p.transport = func(r *http.Request) (*http.Response, bool, error) {
			<-r.Context().Done()
			return nil, true, r.Context().Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, site+callback, nil)
		r.Header.Set("Cookie", b.cookieHeader())
		begin := time.Now()
		resp := auth.Handle(r)
		if waited := time.Since(begin); waited != 5*time.Second {
			t.Errorf("answered after %v", waited)
		}
		if resp.Header.Get("Location") != site+"/auth/"+configurationError || !errors.Is(resp.Err, context.DeadlineExceeded) {
			t.Errorf("%d %v %v", resp.Status, resp.Header, resp.Err)
		}
	})
}

// Sign-ins that happen at once get their own codes, checks and sessions. -race watches.
func TestConcurrentSignIns(t *testing.T) {
	t.Parallel()
	p := newIDP()
	auth := p.auth(t, p.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce))
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			b := newBrowser(t, auth)
			a := b.post("/auth/signin/idp")
			u, err := url.Parse(a.location())
			if err != nil {
				t.Error(err)
				return
			}
			if b.get(p.approve(t, u)); b.user() != "Jane" {
				t.Error("nobody is signed in")
			}
		})
	}
	wait.Wait()
}
