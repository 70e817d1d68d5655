package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// Every mistake has a kind, and a message that names what is wrong and what to do.
func TestNewFindsMistakes(t *testing.T) {
	t.Parallel()
	idp := newIDP()
	with := func(change func(*core.OAuth)) []core.Provider {
		p := idp.oidc()
		change(&p)
		return []core.Provider{p}
	}
	hubWith := func(change func(*core.OAuth)) []core.Provider {
		p := idp.hub()
		change(&p)
		return []core.Provider{p}
	}
	mail := core.Email{Send: func(context.Context, core.VerificationRequest) error { return nil }}
	adapterWithout := func(remove func(*core.Adapter)) *core.Adapter {
		a := adaptertest.Memory()
		remove(a)
		return a
	}
	ok := []core.Provider{anyone}
	for _, c := range []struct {
		name   string
		config core.Config
		kind   core.Kind
		says   string // what the message must contain, separated by |
	}{
		{"no secret", core.Config{Providers: ok, Secret: []string{}}, core.ErrMissingSecret, "AUTH_SECRET|Config.Secret|openssl"},
		{"an empty secret", core.Config{Providers: ok, Secret: []string{secret, ""}}, core.ErrMissingSecret, "Config.Secret|remove"},
		{"an untrusted host", core.Config{Providers: ok, TrustHost: core.Off}, core.ErrUntrustedHost, "AUTH_URL|AUTH_TRUST_HOST|Config.TrustHost"},
		{"no providers", core.Config{}, core.ErrInvalidProvider, "Config.Providers|at least one"},
		{"no id", core.Config{Providers: with(func(p *core.OAuth) { p.ID = "" })}, core.ErrInvalidProvider, `""|path segment`},
		{"an id with a slash", core.Config{Providers: with(func(p *core.OAuth) { p.ID = "a/b" })}, core.ErrInvalidProvider, `"a/b"|path segment`},
		{"an id with a percent sign", core.Config{Providers: with(func(p *core.OAuth) { p.ID = "a%62" })}, core.ErrInvalidProvider, `"a%62"`},
		{"the id that counts as none", core.Config{Providers: with(func(p *core.OAuth) { p.ID = "undefined" })}, core.ErrInvalidProvider, `"undefined"`},
		{"one id twice", core.Config{Providers: []core.Provider{anyone, anyone}}, core.ErrInvalidProvider, `"credentials"|another`},
		{"no client id", core.Config{Providers: with(func(p *core.OAuth) { p.ClientID = "" })}, core.ErrInvalidProvider, `"idp"|ClientID|AUTH_IDP_ID`},
		{"no client secret", core.Config{Providers: with(func(p *core.OAuth) { p.ClientSecret = "" })}, core.ErrInvalidProvider, `"idp"|ClientSecret|AUTH_IDP_SECRET`},
		{"no issuer", core.Config{Providers: with(func(p *core.OAuth) { p.Issuer = "" })}, core.ErrInvalidEndpoints, `"idp"|Issuer|AUTH_IDP_ISSUER`},
		{"an issuer that is no URL", core.Config{Providers: with(func(p *core.OAuth) { p.Issuer = "idp.example" })}, core.ErrInvalidEndpoints, `"idp"|Issuer|URL`},
		{"an issuer of another scheme", core.Config{Providers: with(func(p *core.OAuth) { p.Issuer = "file:///etc" })}, core.ErrInvalidEndpoints, `Issuer|http`},
		{"an endpoint that is no URL", core.Config{Providers: hubWith(func(p *core.OAuth) { p.Token.URL = "/token" })}, core.ErrInvalidEndpoints, `"hub"|Token|URL`},
		{"a missing endpoint", core.Config{Providers: hubWith(func(p *core.OAuth) { p.UserInfo.URL = "" })}, core.ErrInvalidEndpoints, `"hub"|issuer|userinfo`},
		{"an unknown client authentication", core.Config{Providers: with(func(p *core.OAuth) { p.ClientAuth = "tls" })}, core.ErrInvalidProvider, `ClientAuth|"tls"`},
		{"an unknown check", core.Config{Providers: with(func(p *core.OAuth) { p.Checks = []core.Check{"pcke"} })}, core.ErrInvalidProvider, `check|"pcke"`},
		{"e-mail without Send", core.Config{Providers: []core.Provider{core.Email{}}, Adapter: adaptertest.Memory()}, core.ErrInvalidProvider, `"email"|Send`},
		{"credentials without Authorize", core.Config{Providers: []core.Provider{core.Credentials{}}}, core.ErrMissingAuthorize, `"credentials"|Authorize`},
		{"e-mail without an adapter", core.Config{Providers: []core.Provider{mail}}, core.ErrMissingAdapter, "Config.Adapter"},
		{"the database strategy without an adapter", core.Config{Providers: with(func(*core.OAuth) {}), Session: core.SessionOptions{Strategy: core.StrategyDatabase}}, core.ErrMissingAdapter, "Config.Adapter"},
		{"the database strategy with credentials only", core.Config{Providers: ok, Adapter: adaptertest.Memory(), Session: core.SessionOptions{Strategy: core.StrategyDatabase}}, core.ErrUnsupportedStrategy, "jwt"},
		{"an unknown strategy", core.Config{Providers: ok, Session: core.SessionOptions{Strategy: "cookie"}}, core.ErrUnsupportedStrategy, `"cookie"|"jwt"|"database"`},
		{"an adapter without users", core.Config{Providers: with(func(*core.OAuth) {}), Adapter: adapterWithout(func(a *core.Adapter) { a.CreateUser, a.LinkAccount = nil, nil })}, core.ErrMissingAdapterMethods, "createUser|linkAccount"},
		{"an adapter without sessions", core.Config{Providers: with(func(*core.OAuth) {}), Adapter: adapterWithout(func(a *core.Adapter) { a.GetSessionAndUser = nil })}, core.ErrMissingAdapterMethods, "getSessionAndUser"},
		{"an adapter without links", core.Config{Providers: []core.Provider{mail}, Adapter: adapterWithout(func(a *core.Adapter) { a.UseVerificationToken = nil })}, core.ErrMissingAdapterMethods, "useVerificationToken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			auth, err := core.New(inTest(c.config))
			if auth != nil || !errors.Is(err, c.kind) {
				t.Fatalf("New gave %v, want %v", err, c.kind)
			}
			for _, part := range strings.Split(c.says, "|") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not name %s", err, part)
				}
			}
			var one *core.Error
			if !errors.As(err, &one) || one.Kind != c.kind {
				t.Errorf("errors.As gives %v", one)
			}
			if strings.Contains(err.Error(), idp.clientSecret) {
				t.Error("the message tells the client secret")
			}
		})
	}
}

func TestNewReportsAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	config := inTest(core.Config{
		Secret: []string{}, TrustHost: core.Off,
		Providers: []core.Provider{core.OAuth{ID: "a", OIDC: true}, core.Credentials{}},
		Session:   core.SessionOptions{Strategy: core.StrategyDatabase},
	})
	_, err := core.New(config)
	for _, kind := range []core.Kind{
		core.ErrMissingSecret, core.ErrUntrustedHost, core.ErrInvalidProvider, core.ErrInvalidEndpoints,
		core.ErrMissingAuthorize, core.ErrMissingAdapter,
	} {
		if !errors.Is(err, kind) {
			t.Errorf("%v is not reported in %v", kind, err)
		}
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines < 7 {
		t.Errorf("%d mistakes reported, want at least 7:\n%v", lines, err)
	}
}

// What is fine must not be refused.
func TestNewAccepts(t *testing.T) {
	t.Parallel()
	idp := newIDP()
	public := idp.oidc(core.CheckPKCE)
	public.ClientSecret, public.ClientAuth = "", core.ClientAuthNone
	unchecked := idp.hub(core.CheckNone)
	onlyUsers := adaptertest.Memory()
	onlyUsers.CreateSession, onlyUsers.GetSessionAndUser, onlyUsers.UpdateSession, onlyUsers.DeleteSession = nil, nil, nil, nil
	for name, config := range map[string]core.Config{
		"a public client":                    {Providers: []core.Provider{public}},
		"a provider without checks":          {Providers: []core.Provider{unchecked}},
		"credentials beside database":        {Providers: []core.Provider{anyone, public}, Adapter: adaptertest.Memory()},
		"a jwt strategy without sessions":    {Providers: []core.Provider{public}, Adapter: onlyUsers, Session: core.SessionOptions{Strategy: core.StrategyJWT}},
		"two providers of one kind":          {Providers: []core.Provider{public, unchecked}},
		"a base path without a slash before": {Providers: []core.Provider{anyone}, BasePath: "api/auth"},
	} {
		if _, err := core.New(inTest(config)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// New copies its argument: what is changed later has no effect, and nothing is changed by New.
func TestNewLeavesTheConfigAlone(t *testing.T) {
	t.Parallel()
	oauth := newIDP().oidc()
	oauth.Checks, oauth.ClientID = nil, ""
	oauth.Authorization.Params = url.Values{"scope": {"openid"}}
	fresh := func() core.Config {
		return core.Config{
			Providers: []core.Provider{oauth, anyone},
			Secret:    []string{secret},
			Session:   core.SessionOptions{MaxAge: time.Hour},
		}
	}
	config := fresh()
	// Functions are never equal to reflect: they are set in a copy.
	given := config
	given.Getenv = environment(map[string]string{"AUTH_IDP_ID": "client", "AUTH_TRUST_HOST": "true"})
	given.Logger = new(journal).logger()
	auth, err := core.New(given)
	if err != nil {
		t.Fatal(err)
	}
	want := fresh()
	config.Providers[1], want.Providers[1] = nil, nil
	if !reflect.DeepEqual(config, want) {
		t.Errorf("New changed the configuration:\n%+v\n%+v", config, want)
	}
	given.Secret[0] = "changed afterwards"
	given.Providers[0] = core.OAuth{ID: "changed"}
	b := newBrowser(t, auth)
	if !strings.Contains(b.get("/auth/providers").body, `"idp"`) {
		t.Error("a provider changed after New had an effect")
	}
	b.set(sessionCookie, seal(t, secret, sessionCookie, map[string]any{"name": "Ada"}))
	if b.user() != "Ada" {
		t.Error("a secret changed after New had an effect")
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	var log journal
	newAuth(t, core.Config{Providers: []core.Provider{anyone}, Secret: []string{"short"}, Debug: true, SkipCSRFCheck: true, Logger: log.logger()})
	for _, code := range []string{"short-secret", "debug-enabled", "csrf-disabled"} {
		if !strings.Contains(log.text(), "warn "+code) {
			t.Errorf("no warning %s in %q", code, log.text())
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	idp := newIDP()
	idp.clientSecret = "from the environment"
	variables := map[string]string{
		"AUTH_SECRET": "oldest " + secret, "AUTH_SECRET_1": "first " + secret, "AUTH_SECRET_2": "second " + secret, "AUTH_SECRET_3": "newest " + secret,
		"AUTH_URL":            site + "/api/auth",
		"AUTH_MY_IDP_ID":      "client",
		"AUTH_MY_IDP_SECRET":  idp.clientSecret,
		"AUTH_MY_IDP_ISSUER":  idp.issuer,
		"AUTH_OTHER_IDP_ID":   "another",
		"AUTH_CREDENTIALS_ID": "none of ours",
	}
	auth, err := core.New(core.Config{
		Providers: []core.Provider{core.OAuth{ID: "my-idp", OIDC: true}, anyone},
		Getenv:    environment(variables), Transport: idp, Logger: new(journal).logger(),
	})
	if err != nil {
		t.Fatal(err)
	}

	t.Run("AUTH_URL", func(t *testing.T) {
		t.Parallel()
		b := newBrowser(t, auth)
		b.origin = "http://10.0.0.1:8080" // what the proxy in front connects to
		if a := b.get("/auth/session"); a.status != http.StatusBadRequest {
			t.Errorf("GET /auth/session outside of the base path: %d", a.status)
		}
		a := b.send(http.MethodGet, "/api/auth/providers", http.Header{"X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"https"}}, "")
		if !strings.Contains(a.body, `"callbackUrl":"`+site+`/api/auth/callback/my-idp"`) {
			t.Errorf("GET providers: %s", a.body)
		}
	})
	t.Run("the provider's variables", func(t *testing.T) {
		t.Parallel()
		b := newBrowser(t, auth)
		a := b.send(http.MethodPost, "/api/auth/signin/my-idp", formType(), "csrfToken="+csrfAt(b, "/api/auth"))
		u, err := url.Parse(a.location())
		if err != nil || u.Query().Get("client_id") != "client" || u.Host != "idp.example" {
			t.Errorf("POST signin: %d %q", a.status, a.location())
		}
	})
	t.Run("the order of the secrets", func(t *testing.T) {
		t.Parallel()
		b := newBrowser(t, auth)
		b.send(http.MethodPost, "/api/auth/callback/credentials", formType(), "name=Ada&csrfToken="+csrfAt(b, "/api/auth"))
		// An Auth that only knows the newest one can read what was sealed.
		newest := newAuth(t, core.Config{Providers: []core.Provider{anyone}, Secret: []string{variables["AUTH_SECRET_3"]}})
		reader := newBrowser(t, newest)
		reader.set(sessionCookie, b.cookie(sessionCookie))
		if reader.user() != "Ada" {
			t.Error("the token is not sealed with AUTH_SECRET_3")
		}
		// And what any of them has sealed can be read.
		for _, name := range []string{"AUTH_SECRET", "AUTH_SECRET_1", "AUTH_SECRET_2", "AUTH_SECRET_3"} {
			writer := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{anyone}, Secret: []string{variables[name]}}))
			writer.signInAs("Bob")
			b := newBrowser(t, auth)
			b.set(sessionCookie, writer.cookie(sessionCookie))
			if a := b.get("/api/auth/session"); !strings.Contains(a.body, "Bob") {
				t.Errorf("a token sealed with %s: %s", name, a.body)
			}
		}
	})
	t.Run("fields win", func(t *testing.T) {
		t.Parallel()
		oauth := core.OAuth{ID: "my-idp", OIDC: true, ClientID: "mine", ClientSecret: "mine", Issuer: "https://mine.example"}
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{oauth}, Getenv: environment(variables), BasePath: "/auth", Secret: []string{secret},
			Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.URL.Host != "mine.example" {
					return nil, fmt.Errorf("asked %s", r.URL.Host)
				}
				return respondJSON(map[string]any{"issuer": "https://mine.example", "authorization_endpoint": "https://mine.example/authorize"}), nil
			}),
		})
		b := newBrowser(t, auth)
		a := b.post("/auth/signin/my-idp")
		if !strings.HasPrefix(a.location(), "https://mine.example/authorize?") || !strings.Contains(a.location(), "client_id=mine") {
			t.Errorf("POST signin: %d %q", a.status, a.location())
		}
	})
}

func TestTrustHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		variables map[string]string
		toggle    core.Toggle
		ok        bool
	}{
		{nil, core.Auto, false},
		{nil, core.On, true},
		{map[string]string{"AUTH_TRUST_HOST": "true"}, core.Auto, true},
		{map[string]string{"AUTH_TRUST_HOST": "true"}, core.Off, false},
		{map[string]string{"AUTH_TRUST_HOST": "false"}, core.Auto, false},
		{map[string]string{"AUTH_TRUST_HOST": "yes"}, core.Auto, false},
		{map[string]string{"VERCEL": "1"}, core.Auto, true},
		{map[string]string{"CF_PAGES": "1"}, core.Auto, true},
		{map[string]string{"AUTH_URL": site}, core.Auto, true},
		{map[string]string{"AUTH_URL": site}, core.Off, true},
		{map[string]string{"AUTH_URL": "nonsense"}, core.Auto, false},
	} {
		_, err := core.New(core.Config{
			Providers: []core.Provider{anyone}, Secret: []string{secret}, TrustHost: c.toggle,
			Getenv: environment(c.variables), Logger: new(journal).logger(),
		})
		if c.ok && err != nil || !c.ok && !errors.Is(err, core.ErrUntrustedHost) {
			t.Errorf("%v, TrustHost %d: %v", c.variables, c.toggle, err)
		}
	}
}

// csrfAt is a CSRF token from an Auth with this base path.
func csrfAt(b *browser, base string) string {
	b.get(base + "/csrf")
	token, _, _ := strings.Cut(b.cookie(csrfCookie), "%7C")
	return token
}
