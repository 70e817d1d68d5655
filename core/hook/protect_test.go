package hook_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/hook"
)

// What would redirect for ever, or lock everybody out, is refused when the middleware is made,
// or stays open.
func TestNoEndlessRedirects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pages    core.Pages
		patterns []string
		ok       bool
	}{
		{core.Pages{}, []string{"/"}, true},
		{core.Pages{}, []string{"/a"}, true},
		{core.Pages{}, []string{"/auth"}, false},
		{core.Pages{}, []string{"/auth/signin"}, false},
		{core.Pages{}, []string{"/auth/session/{$}"}, false},
		{core.Pages{SignIn: "/login"}, []string{"/"}, true},
		{core.Pages{SignIn: "/login?x=y"}, []string{"/"}, true},
		{core.Pages{SignIn: "/login"}, []string{"/login"}, false},
		{core.Pages{SignIn: "/login"}, []string{"/a", "/Login/{$}"}, false},
		{core.Pages{SignIn: "/login"}, []string{"/login", "!/login"}, true},
		{core.Pages{SignIn: "/members/login", Error: "/members/error", VerifyRequest: "/members/sent", SignOut: "/members/bye"}, []string{"/members"}, true},
		{core.Pages{}, nil, false},
		{core.Pages{}, []string{"a"}, false},
	} {
		auth := newHook(t, core.Config{Pages: c.pages, BasePathAliases: []string{"/api/auth"}})
		protect, err := auth.Protect(c.patterns...)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("%q with %+v: %v", c.patterns, c.pages, err)
		}
		if err != nil {
			continue
		}
		b := newBrowser(auth.Handle(protect(http.HandlerFunc(greet))))
		for _, page := range []string{"/a", "/members", c.pages.SignIn, c.pages.Error, c.pages.VerifyRequest, c.pages.SignOut, "/auth/signin", "/api/auth/session"} {
			path, open := page, page != "/a" && page != "/members" && page != "/auth/signin" // which leads to the app's own
			for hops := 0; path != ""; hops++ {
				w := b.get(path)
				if path = w.Header().Get("Location"); open && path != "" || hops > 3 {
					t.Errorf("%q with %+v: %s is sent to %s", c.patterns, c.pages, page, path)
					break
				}
			}
		}
		if w := b.get("/LOGIN"); c.patterns[0] == "/" && w.Code != http.StatusSeeOther {
			t.Errorf("an odd spelling of an open page: %d", w.Code)
		}
	}
	if _, err := newHook(t, core.Config{BasePathAliases: []string{"/api/auth"}}).Protect("/api/auth"); !errors.Is(err, core.ErrInvalidConfig) {
		t.Errorf("an alias of the base path: %v", err)
	}
	// With a configuration for each request nothing is known beforehand; the sign-in page is open
	// all the same.
	auth := hook.PerRequest(func(*http.Request) (core.Config, error) {
		return inTest(core.Config{Pages: core.Pages{SignIn: "/login"}}), nil
	})
	protect, err := auth.Protect("/login", "/a")
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(auth.Handle(protect(http.HandlerFunc(greet))))
	if w := b.get("/login?callbackUrl=%2Fa"); w.Body.String() != "nobody" {
		t.Errorf("the sign-in page, per request: %d %q", w.Code, w.Header())
	}
	if w := b.get("/a"); w.Header().Get("Location") != "/login?callbackUrl=%2Fa" {
		t.Errorf("a page, per request: %d %q", w.Code, w.Header())
	}
	// A sign-in page that requires a session.
	own := newHook(t, core.Config{Pages: core.Pages{SignIn: "/login"}})
	b = newBrowser(own.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := own.Require(w, r); ok {
			t.Error("let in")
		}
	})))
	if w := b.get("/login"); w.Code != http.StatusForbidden {
		t.Errorf("the sign-in page requires a session: %d", w.Code)
	}
}

// Under "/" everything is protected but what is excepted by name.
func TestProtectEverything(t *testing.T) {
	t.Parallel()
	auth := newHook(t, core.Config{Pages: core.Pages{SignIn: "/login"}})
	protect, err := auth.Protect("/", "!/signin/{$}", "!/assets")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /signin", auth.SignInAction)
	mux.HandleFunc("/", greet)
	b := newBrowser(auth.Handle(protect(mux)))
	for path, want := range map[string]int{"/login": http.StatusOK, "/assets/a.css": http.StatusOK, "/": http.StatusSeeOther, "/x": http.StatusSeeOther, "/assets/../x": http.StatusSeeOther} {
		if w := b.get(path); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	if w := b.post("/signin", "providerId", "credentials", "name", "Ada", "redirectTo", "/x"); w.Header().Get("Location") != site+"/x" {
		t.Errorf("the form action: %d %q", w.Code, w.Header())
	}
	if w := b.get("/x"); w.Body.String() != "Ada" {
		t.Errorf("signed in: %d %s", w.Code, w.Body)
	}
}

// When the session can't be read, or the middleware stands where no Handle is, nobody is let in.
func TestProtectionFailsClosed(t *testing.T) {
	t.Parallel()
	var log journal
	config := broken(t)
	config.Logger = log.logger()
	auth, other := newHook(t, config), newHook(t, core.Config{})
	protect, err := auth.Protect("/a")
	if err != nil {
		t.Fatal(err)
	}
	require := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := auth.Require(w, r); ok {
			t.Error("let in")
		}
	})
	leave := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("let in") })
	for _, c := range []struct {
		name    string
		handler http.Handler
		want    int
		logged  string
	}{
		{"Protect", auth.Handle(protect(leave)), http.StatusServiceUnavailable, "SessionTokenError"},
		{"Require", auth.Handle(require), http.StatusServiceUnavailable, "SessionTokenError"},
		{"Protect alone", protect(leave), http.StatusInternalServerError, "CallbackRouteError"},
		{"Require alone", require, http.StatusInternalServerError, "CallbackRouteError"},
		{"Protect before Handle", protect(auth.Handle(leave)), http.StatusInternalServerError, "CallbackRouteError"},
		{"Protect after another's Handle", other.Handle(protect(leave)), http.StatusInternalServerError, "CallbackRouteError"},
		{"Require after another's Handle", other.Handle(require), http.StatusInternalServerError, "CallbackRouteError"},
	} {
		log.text.Reset()
		b := newBrowser(c.handler)
		b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
		w := b.get("/a")
		if w.Code != c.want || w.Header().Get("Location") != "" || b.cookie(sessionCookie) != "ada" || strings.Contains(w.Body.String(), "down") {
			t.Errorf("%s: %d %q", c.name, w.Code, w.Header())
		}
		if !log.has(c.logged) {
			t.Errorf("%s: logged %q", c.name, log.text.String())
		}
		r := b.request("GET", "/a", "")
		r.Host = "not a host"
		if w := b.do(r); c.want == http.StatusServiceUnavailable && w.Code != http.StatusBadRequest {
			t.Errorf("%s: no host: %d", c.name, w.Code)
		}
	}
}

// No header switches the protection off, or carries a session.
func TestProtectIgnoresHeaders(t *testing.T) {
	t.Parallel()
	auth := newHook(t, core.Config{})
	protect, err := auth.Protect("/admin")
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(auth.Handle(protect(http.HandlerFunc(greet))))
	b.signIn(t, "Ada")
	token := b.cookie(sessionCookie)
	b.jar = nil
	for name, value := range map[string]string{
		"X-Middleware-Subrequest": "middleware:middleware:middleware:middleware:middleware", "X-Middleware-Rewrite": "/", "X-Original-Url": "/", "X-Rewrite-Url": "/",
		"X-Forwarded-Uri": "/", "X-Forwarded-Prefix": "/open", "X-Http-Method-Override": "OPTIONS", "X-Forwarded-For": "127.0.0.1", "Upgrade": "websocket",
		"Authorization": "Bearer " + token, "X-Session-Token": token, "X-Auth-Session": token, "Set-Cookie": sessionCookie + "=" + token,
	} {
		r := b.request("GET", "/admin", "")
		r.Header.Set(name, value)
		if w := b.do(r); w.Code != http.StatusSeeOther {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}
