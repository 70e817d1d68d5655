package route_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/route"
)

// loader is a page that asks for its visitor.
func loader(routes *route.Routes) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if session, ok := routes.Require(w, r); ok {
			name := "nobody"
			if session.User != nil {
				name = session.User.Name
			}
			_, _ = io.WriteString(w, "page of "+name)
		}
	})
}

// Rule 1: a page's loader redirects to / when the session or its user is missing, and hands the
// session to the page otherwise.
func TestIntegrationA_Rule1_Loader(t *testing.T) {
	t.Parallel()
	var session func(*core.Session) *core.Session
	routes := newRoutes(t, route.Config{Config: core.Config{Callbacks: core.Callbacks{
		Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) { return session(p.Session), nil },
	}}})
	page := loader(routes)
	b := newBrowser(routes.Handle(page))
	denied := func(name string) {
		t.Helper()
		w := b.get("/protected")
		if w.Code != http.StatusFound || w.Header().Get("Location") != "/" || strings.Contains(w.Body.String(), "page of") {
			t.Errorf("%s: %d %q %s", name, w.Code, w.Header().Get("Location"), w.Body)
		}
	}
	denied("no session")
	b.signIn(t, "/api/auth", "Ada")
	session = func(s *core.Session) *core.Session { return &core.Session{Expires: s.Expires} }
	denied("a session without a user")
	session = func(s *core.Session) *core.Session {
		return &core.Session{User: s.User, Extra: map[string]any{"user": nil}}
	}
	denied("a session whose user is null")
	session = func(*core.Session) *core.Session { return nil }
	denied("a session that the callback ends")
	session = func(s *core.Session) *core.Session { return s }
	if w := b.get("/protected"); w.Code != http.StatusOK || w.Body.String() != "page of Ada" || len(w.Result().Cookies()) == 0 {
		t.Errorf("signed in: %d %s, cookies %v", w.Code, w.Body, w.Result().Cookies())
	}
	session = func(*core.Session) *core.Session {
		return &core.Session{Extra: map[string]any{"user": map[string]any{"name": "Ada"}}}
	}
	if w := b.get("/protected"); w.Code != http.StatusOK {
		t.Errorf("a user of the callback's own making: %d", w.Code)
	}
}

// Rule 2: a middleware compares the path with a list and redirects to / when there is no
// session, and forwards the request otherwise.
func TestIntegrationA_Rule2_Middleware(t *testing.T) {
	t.Parallel()
	routes := newRoutes(t, route.Config{})
	protect, err := routes.Protect("/protected", "/files/{$}")
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := routes.GetSession(r)
		if err != nil || session != nil && session.User == nil {
			t.Errorf("the page behind the middleware: %v, %v", session, err)
		}
		reads++
		_, _ = io.WriteString(w, "page")
	})
	b := newBrowser(routes.Handle(protect(page)))
	for _, method := range []string{"GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PROPFIND"} {
		for _, path := range []string{"/protected", "/protected/", "/protected/deeper?x=y", "/files", "/files/"} {
			w := b.do(b.request(method, path, ""))
			if w.Code != http.StatusFound || w.Header().Get("Location") != "/" || reads != 0 || !strings.Contains(w.Header().Get("Cache-Control"), "no-store") {
				t.Fatalf("%s %s: %d %q", method, path, w.Code, w.Header())
			}
		}
	}
	for _, path := range []string{"/", "/other", "/protectedelse", "/files/deeper", "/other/protected"} {
		if w := b.get(path); w.Code != http.StatusOK || len(w.Header()["Set-Cookie"]) > 0 {
			t.Errorf("%s: %d %q", path, w.Code, w.Header())
		}
	}
	b.signIn(t, "/api/auth", "Ada")
	if w := b.get("/protected"); w.Code != http.StatusOK || len(w.Result().Cookies()) != 1 {
		t.Errorf("signed in: %d, cookies %v", w.Code, w.Result().Cookies())
	}
}

// A session without a user passes the middleware: the rule asks for a session only.
func TestIntegrationA_Rule2_NoUser(t *testing.T) {
	t.Parallel()
	routes := newRoutes(t, route.Config{Config: core.Config{Callbacks: core.Callbacks{
		Session: func(context.Context, core.SessionParams) (*core.Session, error) { return &core.Session{}, nil },
	}}})
	protect, err := routes.Protect("/protected")
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(routes.Handle(protect(passedOn)))
	b.signIn(t, "/api/auth", "Ada")
	if w := b.get("/protected"); w.Code != http.StatusTeapot {
		t.Errorf("%d", w.Code)
	}
}

// Where the session is read once by the middleware, the page gets the same one, and one cookie.
func TestSessionIsReadOnce(t *testing.T) {
	t.Parallel()
	config := database(t)
	reads, read := 0, config.Adapter.GetSessionAndUser
	config.Adapter.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
		reads++
		return read(ctx, token)
	}
	routes := newRoutes(t, config)
	protect, err := routes.Protect("/a")
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(protect(protect(loader(routes))))
	b.jar["authjs.session-token"] = "ada"
	if w := b.get("/a/page"); w.Body.String() != "page of Ada" || reads != 1 || len(w.Result().Cookies()) != 1 {
		t.Errorf("%s, %d reads, cookies %v", w.Body, reads, w.Result().Cookies())
	}
}

// When the session can't be read, nobody is let in, and nobody is told that they are signed out.
func TestProtectionFailsClosed(t *testing.T) {
	t.Parallel()
	config := broken(t)
	logged := ""
	config.Logger.Error = func(msg string, _ ...any) { logged += msg + " " }
	config.Logger.Warn = func(string, ...any) {}
	routes := newRoutes(t, config)
	protect, err := routes.Protect("/a")
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]http.Handler{"middleware": protect(passedOn), "loader": loader(routes)} {
		logged = ""
		b := newBrowser(h)
		b.jar["authjs.session-token"] = "ada"
		w := b.get("/a")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Location") != "" || b.jar["authjs.session-token"] != "ada" || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %q", name, w.Code, w.Header())
		}
		if !strings.Contains(logged, "SessionTokenError") || strings.Contains(w.Body.String(), "down") {
			t.Errorf("%s: logged %q, told %q", name, logged, w.Body)
		}
		r := b.request("GET", "/a", "")
		r.Host = "not a host"
		if w := b.do(r); w.Code != http.StatusBadRequest {
			t.Errorf("%s: no host: %d", name, w.Code)
		}
	}
}

// What would redirect for ever, or lock everybody out, is refused when the middleware is made,
// or stays open.
func TestNoEndlessRedirects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		redirectTo string
		patterns   []string
		ok         bool
	}{
		{"", []string{"/"}, false},
		{"", []string{"/{$}"}, false},
		{"", []string{"/", "!/{$}"}, true},
		{"", []string{"/a"}, true},
		{"/login", []string{"/"}, true},
		{"/login", []string{"/login"}, false},
		{"/login?from=a", []string{"/login/{$}"}, false},
		{"/login", []string{"/LOGIN"}, false},
		{"/login", []string{"/login", "!/login"}, true},
		{"/login", []string{"/login/more"}, true},
		{"/in/login", []string{"/in"}, true},
		{"", []string{"/api/auth"}, false},
		{"", []string{"/api/auth/session"}, false},
		{"", []string{"/api"}, true},
		{"", nil, false},
		{"", []string{"!/a"}, false},
		{"", []string{"a"}, false},
	} {
		routes := newRoutes(t, route.Config{RedirectTo: c.redirectTo})
		protect, err := routes.Protect(c.patterns...)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("%q with RedirectTo %q: %v", c.patterns, c.redirectTo, err)
		}
		if err != nil {
			continue
		}
		b := newBrowser(protect(routes.Handle(passedOn)))
		b.signIn(t, "/api/auth", "Ada") // the routes are open even below a protected path
		b.jar = map[string]string{}
		path := "/a"
		for hops := 0; ; hops++ {
			w := b.get(path)
			if w.Code == http.StatusTeapot {
				break
			}
			if path = w.Header().Get("Location"); path == "" || hops == 3 {
				t.Errorf("%q with RedirectTo %q: %d after %d redirects", c.patterns, c.redirectTo, w.Code, hops)
				break
			}
		}
	}
	// A page that requires a session although it is what everybody is redirected to.
	routes := newRoutes(t, route.Config{})
	w := httptest.NewRecorder()
	loader(routes).ServeHTTP(w, httptest.NewRequest(http.MethodGet, site+"/?x=y", nil))
	if w.Code != http.StatusForbidden {
		t.Errorf("the page that is redirected to: %d", w.Code)
	}
}

// No header changes what is protected. The names are those by which middleware of other
// libraries was switched off, or by which proxies tell a path.
func TestProtectIgnoresHeaders(t *testing.T) {
	t.Parallel()
	routes := newRoutes(t, route.Config{})
	protect, err := routes.Protect("/admin")
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"X-Middleware-Subrequest": "middleware:middleware:middleware:middleware:middleware", "X-Middleware-Next": "1",
		"X-Middleware-Rewrite": "/", "X-Middleware-Override-Headers": "x", "X-Middleware-Prefetch": "1", "X-Nextjs-Data": "1", "Purpose": "prefetch",
		"X-Original-Url": "/", "X-Rewrite-Url": "/", "X-Original-Uri": "/", "X-Forwarded-Uri": "/", "X-Forwarded-Path": "/", "X-Forwarded-Prefix": "/open",
		"X-Http-Method-Override": "OPTIONS", "X-Forwarded-Host": "localhost", "X-Forwarded-For": "127.0.0.1", "X-Real-Ip": "127.0.0.1",
		"Authorization": "Basic YWRtaW46YWRtaW4=", "X-Auth-Return-Redirect": "1", "Upgrade": "websocket", "Range": "bytes=0-", "Next-Action": "1",
	} {
		b := newBrowser(protect(passedOn))
		r := b.request("GET", "/admin", "")
		r.Header.Set(name, value)
		if w := b.do(r); w.Code != http.StatusFound {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}
