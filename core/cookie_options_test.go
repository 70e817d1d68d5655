package core_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// cookieFields are the overrides of Config.Cookies that a sign-in meets, by the default name.
var cookieFields = map[string]func(c *core.Cookies) *core.Cookie{
	sessionCookie:     func(c *core.Cookies) *core.Cookie { return &c.SessionToken },
	callbackURLCookie: func(c *core.Cookies) *core.Cookie { return &c.CallbackURL },
	csrfCookie:        func(c *core.Cookies) *core.Cookie { return &c.CSRFToken },
	pkceCookie:        func(c *core.Cookies) *core.Cookie { return &c.PKCECodeVerifier },
	stateCookie:       func(c *core.Cookies) *core.Cookie { return &c.State },
	nonceCookie:       func(c *core.Cookies) *core.Cookie { return &c.Nonce },
}

// recorded is a handler that keeps every Set-Cookie line.
type recorded struct {
	http.Handler
	lines []string
}

func (h *recorded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.Handler.ServeHTTP(w, r)
	h.lines = append(h.lines, w.Header()["Set-Cookie"]...)
}

// named gives the lines about one cookie: those that set it and those that clear it.
func (h *recorded) named(t *testing.T, name string) (set, cleared []*http.Cookie) {
	t.Helper()
	for _, line := range h.lines {
		c, err := http.ParseSetCookie(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if c.Name == name && c.MaxAge < 0 {
			cleared = append(cleared, c)
		} else if c.Name == name {
			set = append(set, c)
		}
	}
	return set, cleared
}

// everyCookie goes through a sign-in with all checks and a sign-out, which set and clear every cookie.
func everyCookie(t *testing.T, origin string, cookies core.Cookies, useSecure core.Toggle) *recorded {
	t.Helper()
	p := newIDP()
	h := &recorded{Handler: newAuth(t, core.Config{
		Providers: []core.Provider{p.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce)}, Transport: p,
		Cookies: cookies, UseSecureCookies: useSecure,
	})}
	b := newBrowser(t, h)
	b.origin, b.isLax = origin, true
	b.post("/auth/signout", "callbackUrl", "/x")
	p.signIn(b, "idp").wantRedirect(t, origin+"/x")
	if b.user() != "Jane" {
		t.Fatal("nobody is signed in")
	}
	b.post("/auth/signout").wantRedirect(t, origin+"/x")
	return h
}

// Every attribute of every cookie is what the configuration says, when the cookie is set and
// when it is cleared; the other cookies stay as they are.
func TestCookieOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		custom core.Cookie
		is     func(c *http.Cookie) bool
	}{
		{"domain", core.Cookie{Domain: "example.com"}, func(c *http.Cookie) bool { return c.Domain == "example.com" }},
		{"path", core.Cookie{Path: "/app"}, func(c *http.Cookie) bool { return c.Path == "/app" }},
		{"strict", core.Cookie{SameSite: "strict"}, func(c *http.Cookie) bool { return c.SameSite == http.SameSiteStrictMode }},
		{"none", core.Cookie{SameSite: "None", Secure: core.On}, func(c *http.Cookie) bool { return c.SameSite == http.SameSiteNoneMode && c.Secure }},
		{"for scripts", core.Cookie{HTTPOnly: core.Off}, func(c *http.Cookie) bool { return !c.HttpOnly }},
		{"secure", core.Cookie{Secure: core.On}, func(c *http.Cookie) bool { return c.Secure }},
		{"partitioned", core.Cookie{Partitioned: true, Secure: core.On}, func(c *http.Cookie) bool { return c.Partitioned && c.Secure }},
	} {
		for field, of := range cookieFields {
			t.Run(c.name+"/"+field, func(t *testing.T) {
				t.Parallel()
				custom := c.custom
				custom.Name = "my-" + field
				var cookies core.Cookies
				*of(&cookies) = custom
				h := everyCookie(t, site, cookies, core.Auto)
				for other := range cookieFields {
					name, wanted := other, other == field
					if wanted {
						name = custom.Name
					}
					set, cleared := h.named(t, name)
					if len(set) == 0 || len(cleared) == 0 && other != csrfCookie && other != callbackURLCookie {
						t.Errorf("%s was set %d times and cleared %d times", name, len(set), len(cleared))
					}
					for _, one := range slices.Concat(set, cleared) {
						if c.is(one) != wanted {
							t.Errorf("%s: %s", other, one.Raw)
						}
					}
				}
				if set, _ := h.named(t, field); len(set) > 0 {
					t.Errorf("a cookie has the default name %s", field)
				}
			})
		}
	}
}

// Secure follows UseSecureCookies, and a cookie's own setting wins.
func TestSecureCookies(t *testing.T) {
	t.Parallel()
	custom := core.Cookies{SessionToken: core.Cookie{Name: "session", Secure: core.Off}, State: core.Cookie{Name: "state", Secure: core.On}}
	for _, c := range []struct {
		origin    string
		useSecure core.Toggle
		csrf      string
		secure    bool
	}{
		{site, core.Auto, csrfCookie, false},
		{site, core.On, "__Host-" + csrfCookie, true},
		{secureSite, core.Auto, "__Host-" + csrfCookie, true},
		{secureSite, core.Off, csrfCookie, false},
	} {
		h := everyCookie(t, c.origin, custom, c.useSecure)
		for name, secure := range map[string]bool{c.csrf: c.secure, "session": false, "state": true} {
			set, _ := h.named(t, name)
			if len(set) == 0 || set[0].Secure != secure {
				t.Errorf("%s with UseSecureCookies %d: %s %v", c.origin, c.useSecure, name, set)
			}
		}
	}
}

// How long a check's cookie lives is how long a sign-in may take, in the browser and here.
func TestCheckCookieMaxAge(t *testing.T) {
	t.Parallel()
	rsaKey()
	for _, c := range []struct {
		maxAge, takes time.Duration
		ok            bool
	}{
		{0, 14 * time.Minute, true}, {0, 16 * time.Minute, false},
		{time.Minute, 50 * time.Second, true}, {time.Minute, 2 * time.Minute, false},
		{time.Hour, 50 * time.Minute, true}, {time.Hour, 62 * time.Minute, false},
	} {
		for check, name := range checkCookies {
			synctest.Test(t, func(t *testing.T) {
				p := newIDP()
				var cookies core.Cookies
				cookieFields[name](&cookies).MaxAge = c.maxAge
				h := &recorded{Handler: newAuth(t, core.Config{Providers: []core.Provider{p.oidc(check)}, Transport: p, Cookies: cookies})}
				b := newBrowser(t, h)
				callback := p.approve(t, p.start(b, "idp"))
				set, _ := h.named(t, name)
				if want := int(c.maxAge.Seconds()); want > 0 && set[0].MaxAge != want || c.maxAge > 0 && !set[0].Expires.Equal(time.Now().UTC().Truncate(time.Second).Add(c.maxAge)) {
					t.Errorf("%s, %v: %s", check, c.maxAge, set[0].Raw)
				}
				time.Sleep(c.takes)
				b.get(callback) // the jar here keeps cookies beyond their time, as an attacker would
				if b.hasSession() != c.ok {
					t.Errorf("%s with %v, after %v: session %v", check, c.maxAge, c.takes, b.hasSession())
				}
			})
		}
	}
}

// The key of a sealed cookie depends on its name: a value moved from one to another is worth nothing.
func TestCookieNameIsTheSalt(t *testing.T) {
	t.Parallel()
	app := func(name string) *browser {
		return newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{anyone}, Cookies: core.Cookies{SessionToken: core.Cookie{Name: name}}}))
	}
	mine := app("mine")
	mine.post("/auth/callback/credentials", "name", "Ada").wantRedirect(t, site)
	token := mine.cookie("mine")
	for name, user := range map[string]string{"mine": "Ada", "other": "", "mine.0": "", "": ""} {
		b := app(name)
		cookie := name
		if cookie == "" {
			cookie = sessionCookie
		}
		b.set(cookie, token)
		if b.user() != user {
			t.Errorf("a session cookie named %q: %q is signed in", cookie, b.user())
		}
	}
	// Another implementation that knows name and secret reads it: the key is that of fact 57.
	b := app("mine")
	b.set("mine", seal(t, secret, "mine", map[string]any{"name": "Ada", "sub": "1"}))
	if b.user() != "Ada" {
		t.Error("a token sealed for the custom name is not read")
	}
}

// A long session under a name of one's own is cut into chunks of that name, and cleared whole.
func TestChunkedCustomSession(t *testing.T) {
	t.Parallel()
	pad := strings.Repeat("x", 9000)
	h := &recorded{Handler: newAuth(t, core.Config{
		Providers: []core.Provider{anyone},
		Cookies:   core.Cookies{SessionToken: core.Cookie{Name: "sid", Path: "/", SameSite: "strict"}},
		Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
			p.Token["pad"] = pad
			return p.Token, nil
		}},
	})}
	b := newBrowser(t, h)
	b.isLax = true
	b.post("/auth/callback/credentials", "name", "Ada").wantRedirect(t, site)
	if b.cookie("sid.3") == "" || b.cookie("sid") != "" || b.user() != "Ada" {
		t.Fatalf("cookies %v, user %q", b.jar, b.user())
	}
	for _, name := range []string{"sid.0", "sid.3"} {
		if set, _ := h.named(t, name); set[0].SameSite != http.SameSiteStrictMode || set[0].Expires.IsZero() {
			t.Errorf("%s", set[0].Raw)
		}
	}
	// A longer name that only begins like it is another cookie.
	b.set("sid-other", "kept")
	pad = ""
	if b.user() != "Ada" || b.cookie("sid") == "" || b.cookie("sid.0")+b.cookie("sid.3") != "" {
		t.Errorf("after it became short: %v", b.jar)
	}
	b.post("/auth/signout")
	if b.cookie("sid") != "" || b.cookie("sid-other") != "kept" {
		t.Errorf("after signing out: %v", b.jar)
	}
}

// A database session is found and ended under its custom name, too.
func TestCustomDatabaseCookie(t *testing.T) {
	t.Parallel()
	p := newIDP()
	store := adaptertest.Memory()
	b := newBrowser(t, newAuth(t, core.Config{
		Providers: []core.Provider{p.oidc()}, Transport: p, Adapter: store, Cookies: core.Cookies{SessionToken: core.Cookie{Name: "sid"}},
	}))
	p.signIn(b, "idp").wantRedirect(t, site)
	token := b.cookie("sid")
	if session, _, _ := store.GetSessionAndUser(t.Context(), token); session == nil || b.user() != "Jane" || b.hasSession() {
		t.Errorf("cookies %v, session %v", b.jar, session)
	}
	b.post("/auth/signout")
	if session, _, _ := store.GetSessionAndUser(t.Context(), token); session != nil || b.cookie("sid") != "" {
		t.Errorf("after signing out: cookies %v, session %v", b.jar, session)
	}
}

// W7, CVE-2024-47764, and what a browser would silently refuse: RFC 6265bis, section 5.7.
func TestNewRefusesCookies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		custom core.Cookie
		ok     bool
	}{
		{"a plain name", core.Cookie{Name: "sid"}, true},
		{"every character of a token", core.Cookie{Name: "a!#$%&'*+-.^_`|~Z9"}, true},
		{"a name with a semicolon", core.Cookie{Name: "sid; Path=/"}, false},
		{"a name with a blank", core.Cookie{Name: "my sid"}, false},
		{"a name with a comma", core.Cookie{Name: "a,b"}, false},
		{"a name with an equals sign", core.Cookie{Name: "a=b"}, false},
		{"a name with a line break", core.Cookie{Name: "sid\r\nSet-Cookie: x=y"}, false},
		{"a name beyond ASCII", core.Cookie{Name: "sîd"}, false},
		{"a domain", core.Cookie{Name: "sid", Domain: "example.com"}, true},
		{"a domain with a dot", core.Cookie{Name: "sid", Domain: ".example.com"}, true},
		{"a domain with a semicolon", core.Cookie{Name: "sid", Domain: "example.com; Path=/x"}, false},
		{"a domain with a port", core.Cookie{Name: "sid", Domain: "example.com:80"}, false},
		{"a domain with a line break", core.Cookie{Name: "sid", Domain: "a\r\nX: y"}, false},
		{"a path", core.Cookie{Name: "sid", Path: "/app"}, true},
		{"a path with a semicolon", core.Cookie{Name: "sid", Path: "/; Domain=evil.example"}, false},
		{"a path with a line break", core.Cookie{Name: "sid", Path: "/\r\n"}, false},
		{"a path that browsers ignore", core.Cookie{Name: "sid", Path: "app"}, false},
		{"an unknown SameSite", core.Cookie{Name: "sid", SameSite: "lux"}, false},
		{"SameSite in capitals", core.Cookie{Name: "sid", SameSite: "STRICT"}, true},
		{"SameSite none, not secure", core.Cookie{Name: "sid", SameSite: "none", Secure: core.Off}, false},
		{"partitioned, not secure", core.Cookie{Name: "sid", Partitioned: true, Secure: core.Off}, false},
		{"a __Host- name", core.Cookie{Name: "__Host-sid"}, true},
		{"a __Host- name with a domain", core.Cookie{Name: "__Host-sid", Domain: "example.com"}, false},
		{"a __Host- name with a path", core.Cookie{Name: "__Host-sid", Path: "/app"}, false},
		{"a __Host- name, not secure", core.Cookie{Name: "__Host-sid", Secure: core.Off}, false},
		{"a __hOST- name with a domain", core.Cookie{Name: "__hOST-sid", Domain: "example.com"}, false},
		{"a __Secure- name", core.Cookie{Name: "__Secure-sid", Domain: "example.com", Path: "/app"}, true},
		{"a __Secure- name, not secure", core.Cookie{Name: "__Secure-sid", Secure: core.Off}, false},
		{"the default name, not secure", core.Cookie{Secure: core.Off}, false},
		{"a negative MaxAge", core.Cookie{Name: "sid", MaxAge: -time.Second}, false},
	} {
		for field, of := range cookieFields {
			config := inTest(core.Config{Providers: []core.Provider{anyone}})
			*of(&config.Cookies) = c.custom
			if _, err := core.New(config); c.ok && err != nil || !c.ok && !errors.Is(err, core.ErrInvalidConfig) {
				t.Errorf("%s for %s: %v", c.name, field, err)
			}
		}
	}
	for name, c := range map[string]struct {
		cookies core.Cookies
		use     core.Toggle
		ok      bool
	}{
		"the default __Host- name with a domain":      {core.Cookies{CSRFToken: core.Cookie{Domain: "example.com"}}, core.Auto, false},
		"the same where no cookie is secure":          {core.Cookies{CSRFToken: core.Cookie{Domain: "example.com"}}, core.Off, true},
		"the default __Secure- name with a domain":    {core.Cookies{SessionToken: core.Cookie{Domain: "example.com"}}, core.Auto, true},
		"a __Host- name where no cookie is secure":    {core.Cookies{SessionToken: core.Cookie{Name: "__Host-sid"}}, core.Off, false},
		"a __Host- name that is secure where none is": {core.Cookies{SessionToken: core.Cookie{Name: "__Host-sid", Secure: core.On}}, core.Off, true},
		"SameSite none where no cookie is secure":     {core.Cookies{SessionToken: core.Cookie{SameSite: "none"}}, core.Off, false},
		"one name twice":                                  {core.Cookies{State: core.Cookie{Name: "x"}, Nonce: core.Cookie{Name: "x"}}, core.Auto, false},
		"the default name of another cookie":              {core.Cookies{State: core.Cookie{Name: "__Secure-" + nonceCookie}}, core.Auto, false},
		"two mistakes, of which the first is named first": {core.Cookies{State: core.Cookie{Path: "x"}, Nonce: core.Cookie{Path: "x"}}, core.Auto, false},
	} {
		_, err := core.New(inTest(core.Config{Providers: []core.Provider{anyone}, Cookies: c.cookies, UseSecureCookies: c.use}))
		if c.ok && err != nil || !c.ok && !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
