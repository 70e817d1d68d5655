package core_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

const (
	previewSite = "http://preview-1.example"
	proxySite   = "http://proxy.example"
	proxyURL    = proxySite + "/api/auth"
)

// relay is a preview app and the proxy in front of it, with browsers that know one of them each.
type relay struct {
	p              *idp
	preview, proxy *browser
	log            journal // the proxy's
}

// newRelay makes both of the same provider; change changes the preview's configuration.
func newRelay(t *testing.T, provider core.OAuth, p *idp, change func(config *core.Config)) *relay {
	r := &relay{p: p}
	config := core.Config{Providers: []core.Provider{provider, anyone}, Transport: p, RedirectProxyURL: proxyURL}
	proxy := config
	proxy.BasePath, proxy.Logger = "/api/auth", r.log.logger()
	if change != nil {
		change(&config)
	}
	r.preview, r.proxy = newBrowser(t, newAuth(t, config)), newBrowser(t, newAuth(t, proxy))
	r.preview.origin = previewSite
	r.proxy.origin, r.proxy.base = proxySite, "/api/auth"
	return r
}

// Facts 120 and 121: a full sign-in of a preview app by way of the proxy.
func TestRedirectProxy(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"idp", "hub"} {
		p := newIDP()
		provider := p.oidc()
		if id == "hub" {
			provider = p.hub()
		}
		r := newRelay(t, provider, p, nil)
		u := p.start(r.preview, id)
		if got := u.Query().Get("redirect_uri"); got != proxyURL+"/callback/"+id {
			t.Errorf("%s: redirect_uri=%s", id, got)
		}
		if u.Query().Get("state") == "" || r.preview.cookie(stateCookie) == "" || u.Query().Get("code_challenge") == "" {
			t.Errorf("%s: the state check is not added to the others: %v", id, u.Query())
		}
		if body := r.preview.get("/auth/providers").body; !strings.Contains(body, `"callbackUrl":"`+previewSite+`/auth/callback/`+id+`"`) || strings.Contains(body, "proxy") {
			t.Errorf("%s: providers %s", id, body)
		}

		// The provider sends the browser to the proxy, and that to the preview, with all it was given.
		p.callback = func(answer url.Values) { answer.Set("extra", "a b&ü") }
		path := p.approve(t, u)
		if !strings.HasPrefix(path, "/api/auth/callback/"+id+"?") {
			t.Fatalf("the provider leads to %s", path)
		}
		a := r.proxy.get(path)
		back, err := url.Parse(a.location())
		if err != nil || a.status != http.StatusFound || back.Scheme+"://"+back.Host+back.Path != previewSite+"/auth/callback/"+id {
			t.Fatalf("%s: the proxy answered %d %q", id, a.status, a.location())
		}
		_, query, _ := strings.Cut(path, "?")
		sent, _ := url.ParseQuery(query)
		if got := back.Query(); got.Encode() != sent.Encode() {
			t.Errorf("%s: passed on %v of %v", id, got, sent)
		}
		if n := p.count("POST /token"); n != 0 || r.proxy.hasSession() {
			t.Errorf("%s: the proxy made %d token requests, session %v", id, n, r.proxy.hasSession())
		}
		r.preview.get(back.RequestURI()).wantRedirect(t, previewSite)
		if r.preview.user() != "Jane" {
			t.Errorf("%s: %q is signed in", id, r.preview.user())
		}
		// Once only: the answer is of no use to the proxy, nor again to the preview.
		r.preview.copy().get(back.RequestURI()).wantRedirect(t, previewSite+"/auth/error?error=Configuration")

		// The proxy's own sign-ins take the usual way.
		u = p.start(r.proxy, id)
		if got := u.Query().Get("redirect_uri"); got != proxyURL+"/callback/"+id || u.Query().Get("state") == "" {
			t.Errorf("%s: the proxy's own request: %v", id, u.Query())
		}
		r.proxy.get(p.approve(t, u)).wantRedirect(t, proxySite)
		if r.proxy.user() != "Jane" {
			t.Errorf("%s: %q is signed in at the proxy", id, r.proxy.user())
		}
	}
}

// Errors of the provider go on to the app that asked, too.
func TestRedirectProxyPassesErrorsOn(t *testing.T) {
	t.Parallel()
	p := newIDP()
	r := newRelay(t, p.oidc(), p, nil)
	u := p.start(r.preview, "idp")
	a := r.proxy.get("/api/auth/callback/idp?error=access_denied&state=" + url.QueryEscape(u.Query().Get("state")))
	target, ok := strings.CutPrefix(a.location(), previewSite)
	if !ok || a.status != http.StatusFound {
		t.Fatalf("%d %q", a.status, a.location())
	}
	r.preview.get(target).wantRedirect(t, previewSite+"/auth/signin?error=OAuthCallbackError")
}

// The proxy sends answers nowhere but where a site with its secret has asked for: a state that
// nobody, somebody else or another part of the handler has made leads to the error page.
func TestRedirectProxyIsNoOpenRedirect(t *testing.T) {
	t.Parallel()
	const evil = "https://evil.example/take"
	p := newIDP()
	foreign := newRelay(t, p.oidc(), p, func(config *core.Config) { config.Secret = []string{"the attacker's own secret, long enough"} })
	foreignState := p.start(foreign.preview, "idp").Query().Get("state")
	r := newRelay(t, p.oidc(), p, nil)
	good := p.start(r.preview, "idp").Query().Get("state")
	claims := map[string]any{"origin": evil, "random": "x"}
	for name, state := range map[string]string{
		"no token":                evil,
		"empty parts":             "....",
		"JSON":                    `{"origin":"` + evil + `"}`,
		"base64 of JSON":          base64url(mustJSON(claims)),
		"unsigned":                compact(map[string]any{"alg": "none"}, claims, signNothing),
		"signed with the secret":  compact(map[string]any{"alg": "HS256"}, claims, signHS256([]byte(secret))),
		"another secret's":        foreignState,
		"sealed elsewhere":        seal(t, "another secret", "encodedState", claims),
		"a session token":         seal(t, secret, sessionCookie, claims),
		"a state cookie":          r.preview.cookie(stateCookie),
		"a PKCE cookie":           r.preview.cookie(pkceCookie),
		"one changed letter":      good[:len(good)-2] + flip(good[len(good)-2:]),
		"cut":                     good[:len(good)-1],
		"expired":                 seal(t, secret, "encodedState", map[string]any{"origin": evil, "exp": time.Now().Unix() - 60}),
		"a script as origin":      seal(t, secret, "encodedState", map[string]any{"origin": "javascript:alert(1)"}),
		"a relative origin":       seal(t, secret, "encodedState", map[string]any{"origin": "//evil.example"}),
		"a data URL":              seal(t, secret, "encodedState", map[string]any{"origin": "data:text/html,x"}),
		"a line break in between": seal(t, secret, "encodedState", map[string]any{"origin": "x\r\nSet-Cookie: a=b"}),
	} {
		a := r.proxy.copy().get("/api/auth/callback/idp?code=x&state=" + url.QueryEscape(state))
		a.wantRedirect(t, proxyURL+"/error?error=Configuration")
		if strings.Contains(a.location(), "evil") || a.setsCookie("") {
			t.Errorf("%s: %v", name, a.header)
		}
	}
	if !r.log.has(core.ErrInvalidCheck) {
		t.Errorf("logged %s", r.log.text())
	}
	// Without an origin, or with its own, it is the proxy's own answer, for which it has no cookie.
	for name, state := range map[string]string{
		"no origin":       seal(t, secret, "encodedState", map[string]any{"random": "x"}),
		"its own":         seal(t, secret, "encodedState", map[string]any{"origin": proxyURL + "/callback/idp"}),
		"no text":         seal(t, secret, "encodedState", map[string]any{"origin": 7}),
		"no state at all": "",
	} {
		a := r.proxy.copy().get("/api/auth/callback/idp?code=x&state=" + url.QueryEscape(state))
		if a.location() != proxyURL+"/error?error=Configuration" {
			t.Errorf("%s: %d %q", name, a.status, a.location())
		}
	}
	// And on a site that is no proxy a state with an origin leads nowhere either.
	b := newBrowser(t, p.auth(t, p.oidc(core.CheckState)))
	state := seal(t, secret, "encodedState", claims)
	b.get("/auth/callback/idp?code=x&state="+url.QueryEscape(state)).wantError(t, configurationError)
	if n := p.count("POST /token"); n > 0 {
		t.Errorf("%d token requests", n)
	}
}

// flip changes a text without changing its length or alphabet.
func flip(text string) string {
	if text[0] == 'A' {
		return "B" + text[1:]
	}
	return "A" + text[1:]
}

// A state is good for as long as the sign-in may take.
func TestRedirectProxyStateExpires(t *testing.T) {
	t.Parallel()
	rsaKey()
	synctest.Test(t, func(t *testing.T) {
		p := newIDP()
		r := newRelay(t, p.oidc(), p, nil)
		path := p.approve(t, p.start(r.preview, "idp"))
		time.Sleep(16 * time.Minute)
		r.proxy.get(path).wantRedirect(t, proxyURL+"/error?error=Configuration")
	})
}

// Where the proxy's URL comes from, and who does without.
func TestRedirectProxyURL(t *testing.T) {
	t.Parallel()
	const other = "https://other.example/auth"
	variables := environment(map[string]string{"AUTH_REDIRECT_PROXY_URL": proxyURL})
	for _, c := range []struct {
		name          string
		config, own   string
		getenv        func(string) string
		formPost      bool
		want          string // of redirect_uri
		withoutChecks bool
	}{
		{name: "none", want: previewSite + "/auth/callback/idp"},
		{name: "the configuration's", config: proxyURL, want: proxyURL + "/callback/idp"},
		{name: "the environment's", getenv: variables, want: proxyURL + "/callback/idp"},
		{name: "the configuration's wins", config: other, getenv: variables, want: other + "/callback/idp"},
		{name: "the provider's wins", config: proxyURL, own: other, getenv: variables, want: other + "/callback/idp"},
		{name: "the provider's alone", own: other, want: other + "/callback/idp"},
		{name: "form_post does without", config: proxyURL, own: other, formPost: true, want: previewSite + "/auth/callback/idp"},
		{name: "without other checks", config: proxyURL, withoutChecks: true, want: proxyURL + "/callback/idp"},
		{name: "the site's own", config: previewSite + "/elsewhere", want: previewSite + "/auth/callback/idp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			provider := p.oidc()
			if c.withoutChecks {
				provider.Checks = []core.Check{core.CheckNone}
			}
			if provider.RedirectProxyURL = c.own; c.formPost {
				provider.Authorization.Params = url.Values{"response_mode": {"form_post"}}
			}
			r := newRelay(t, provider, p, func(config *core.Config) { config.RedirectProxyURL, config.Getenv = c.config, c.getenv })
			r.preview.isLax = true
			asked := p.start(r.preview, "idp").Query()
			viaProxy := !strings.HasPrefix(c.want, previewSite)
			if asked.Get("redirect_uri") != c.want || viaProxy && !asked.Has("state") || asked.Has("code_challenge") == c.withoutChecks {
				t.Errorf("the authorization request: %v", asked)
			}
		})
	}
}

// A proxy URL that is none breaks the OAuth routes, and those only: fact 121.
func TestRedirectProxyURLThatIsNone(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"proxy.example/auth", "/api/auth", "http://", "https://a b/"} {
		p := newIDP()
		var log journal
		b := newBrowser(t, newAuth(t, core.Config{
			Providers: []core.Provider{p.oidc(), anyone}, Transport: p, RedirectProxyURL: bad, Logger: log.logger(),
		}))
		b.post("/auth/signin/idp").wantError(t, configurationError)
		b.get("/auth/callback/idp?code=x").wantError(t, configurationError)
		if len(p.visits) > 0 || !log.has(core.ErrInvalidConfig) || !strings.Contains(log.text(), "AUTH_REDIRECT_PROXY_URL") {
			t.Errorf("%q: visits %v, log %s", bad, p.visits, log.text())
		}
		if a := b.get("/auth/signin"); a.status != http.StatusOK {
			t.Errorf("%q: GET signin: %d", bad, a.status)
		}
		b.signInAs("Ada")
		if b.user() != "Ada" {
			t.Errorf("%q: credentials don't sign in", bad)
		}
	}
}
