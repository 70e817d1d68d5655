package route_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/route"
)

// passedOn is a next handler that is easily told apart.
var passedOn = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })

// The catch-all route answers GET and POST for the actions under its prefix. Everything else
// belongs to the app.
func TestIntegrationA_CatchAllRoute(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config route.Config
		base   string
	}{
		{"default", route.Config{}, "/api/auth"},
		{"a prefix", route.Config{Prefix: "/account/auth/"}, "/account/auth"},
		{"a base path", route.Config{Config: core.Config{BasePath: "/auth"}}, "/auth"},
		{"both, the same", route.Config{Prefix: "/auth", Config: core.Config{BasePath: "/auth"}}, "/auth"},
		{"an alias", route.Config{Config: core.Config{BasePathAliases: []string{"/auth"}}}, "/auth"},
	} {
		routes := newRoutes(t, c.config)
		for _, one := range []struct {
			method, path string
			want         int // with nothing behind the route
		}{
			{"GET", c.base + "/session", http.StatusOK},
			{"GET", c.base + "/csrf", http.StatusOK},
			{"GET", c.base + "/providers", http.StatusOK},
			{"GET", c.base + "/signin", http.StatusOK},
			{"POST", c.base + "/signout", http.StatusFound}, // to the sign-in page: no token
			{"PUT", c.base + "/session", http.StatusBadRequest},
			{"GET", c.base + "/unknown", http.StatusNotFound},
			{"GET", c.base, http.StatusNotFound},
			{"GET", c.base + "session", http.StatusNotFound},
			{"GET", "/elsewhere/session", http.StatusNotFound},
			{"GET", "/", http.StatusNotFound},
		} {
			r := func() *http.Request { return httptest.NewRequest(one.method, site+one.path, nil) }
			alone, chained := httptest.NewRecorder(), httptest.NewRecorder()
			routes.ServeHTTP(alone, r())
			routes.Handle(passedOn).ServeHTTP(chained, r())
			want := one.want
			if want == http.StatusNotFound {
				want = http.StatusTeapot
			}
			if alone.Code != one.want || chained.Code != want {
				t.Errorf("%s: %s %s: %d alone and %d chained, want %d and %d", c.name, one.method, one.path, alone.Code, chained.Code, one.want, want)
			}
		}
	}
}

func TestGETAndPOST(t *testing.T) {
	t.Parallel()
	routes := newRoutes(t, route.Config{})
	for _, c := range []struct {
		handler http.HandlerFunc
		method  string
		want    int
	}{
		{routes.GET, http.MethodGet, http.StatusOK}, {routes.GET, http.MethodPost, http.StatusMethodNotAllowed},
		{routes.POST, http.MethodPost, http.StatusBadRequest}, {routes.POST, http.MethodGet, http.StatusMethodNotAllowed},
	} {
		w := httptest.NewRecorder()
		c.handler(w, httptest.NewRequest(c.method, site+"/api/auth/session", nil))
		if isRefused := w.Code == http.StatusMethodNotAllowed; isRefused != (c.want == http.StatusMethodNotAllowed) || isRefused && w.Header().Get("Allow") == "" {
			t.Errorf("%s: %d, want %d", c.method, w.Code, c.want)
		}
	}
}

// The secret comes from AUTH_SECRET.
func TestIntegrationA_AuthSecret(t *testing.T) {
	t.Parallel()
	config := inTest(route.Config{})
	config.Secret = nil
	if _, err := route.New(config); !errors.Is(err, core.ErrMissingSecret) {
		t.Errorf("without a secret: %v", err)
	}
	with := func(secret string) *route.Routes {
		config.Getenv = func(name string) string {
			if name == "AUTH_SECRET" {
				return secret
			}
			return ""
		}
		routes, err := route.New(config)
		if err != nil {
			t.Fatalf("with AUTH_SECRET: %v", err)
		}
		return routes
	}
	first := with("the secret that the environment has")
	b := newBrowser(first)
	b.signIn(t, "/api/auth", "Ada")
	r := b.request(http.MethodGet, "/", "")
	if session, err := first.GetSession(r); err != nil || session == nil {
		t.Errorf("the session that was made with AUTH_SECRET: %v, %v", session, err)
	}
	if session, err := with("another secret, as long as the first").GetSession(r); err != nil || session != nil {
		t.Errorf("under another AUTH_SECRET: %v, %v", session, err)
	}
}

func TestNewMistakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config route.Config
		kind   core.Kind
	}{
		"two base paths":        {route.Config{Prefix: "/a", Config: core.Config{BasePath: "/b"}}, core.ErrInvalidConfig},
		"core's":                {route.Config{Config: core.Config{Providers: []core.Provider{core.Credentials{}}}}, core.ErrMissingAuthorize},
		"another site":          {route.Config{RedirectTo: "https://evil.example/"}, core.ErrInvalidConfig},
		"another host":          {route.Config{RedirectTo: "//evil.example/"}, core.ErrInvalidConfig},
		"a backslash":           {route.Config{RedirectTo: `/\evil.example`}, core.ErrInvalidConfig},
		"a tab":                 {route.Config{RedirectTo: "/\t/evil.example"}, core.ErrInvalidConfig},
		"a page without a path": {route.Config{RedirectTo: "login"}, core.ErrInvalidConfig},
		"a header of its own":   {route.Config{RedirectTo: "/login\r\nX: y"}, core.ErrInvalidConfig},
	} {
		if _, err := route.New(inTest(c.config)); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %s", name, err, c.kind)
		}
	}
	if _, err := route.New(inTest(route.Config{RedirectTo: "/login?from=here"})); err != nil {
		t.Errorf("a page with a query: %v", err)
	}
}

// GetSession tells three things apart: who is signed in, nobody, and that it can't tell.
func TestGetSession(t *testing.T) {
	t.Parallel()
	t.Run("jwt", func(t *testing.T) {
		t.Parallel()
		routes := newRoutes(t, route.Config{})
		b := newBrowser(routes)
		if session, err := routes.GetSession(b.request("GET", "/", "")); session != nil || err != nil {
			t.Errorf("nobody: %v, %v", session, err)
		}
		b.signIn(t, "/api/auth", "Ada")
		if session, err := routes.GetSession(b.request("GET", "/", "")); err != nil || session == nil || session.User.Name != "Ada" {
			t.Errorf("Ada: %v, %v", session, err)
		}
		b.jar["authjs.session-token"] = "nonsense"
		if session, err := routes.GetSession(b.request("GET", "/", "")); session != nil || err != nil {
			t.Errorf("an unreadable token: %v, %v", session, err)
		}
	})
	t.Run("database", func(t *testing.T) {
		t.Parallel()
		routes := newRoutes(t, database(t))
		b := newBrowser(routes)
		b.jar["authjs.session-token"] = "ada"
		if session, err := routes.GetSession(b.request("GET", "/", "")); err != nil || session == nil || session.User.Name != "Ada" {
			t.Errorf("Ada: %v, %v", session, err)
		}
		b.jar["authjs.session-token"] = "eve"
		if session, err := routes.GetSession(b.request("GET", "/", "")); session != nil || err != nil {
			t.Errorf("an unknown token: %v, %v", session, err)
		}
	})
	t.Run("store down", func(t *testing.T) {
		t.Parallel()
		routes := newRoutes(t, broken(t))
		b := newBrowser(routes)
		b.jar["authjs.session-token"] = "ada"
		if session, err := routes.GetSession(b.request("GET", "/", "")); session != nil || !errors.Is(err, core.ErrSessionToken) {
			t.Errorf("%v, %v", session, err)
		}
	})
	t.Run("no host", func(t *testing.T) {
		t.Parallel()
		routes := newRoutes(t, route.Config{})
		r := newBrowser(routes).request("GET", "/", "")
		r.Host = "not a host"
		if session, err := routes.GetSession(r); session != nil || !errors.Is(err, core.ErrUntrustedHost) {
			t.Errorf("%v, %v", session, err)
		}
	})
}

// Reading a session with a response at hand extends it in the browser, and no shared cache may
// keep that response.
func TestSessionIsExtended(t *testing.T) {
	t.Parallel()
	routes := newRoutes(t, database(t))
	b := newBrowser(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := routes.Session(w, r); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, "page")
	}))
	b.jar["authjs.session-token"] = "ada"
	w := b.get("/")
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || cookies[0].Value != "ada" || time.Until(cookies[0].Expires) < 29*24*time.Hour {
		t.Errorf("cookies: %v", cookies)
	}
	if got := w.Header().Get("Cache-Control"); !strings.Contains(got, "no-store") || w.Header().Get("Vary") != "Cookie" {
		t.Errorf("Cache-Control %q, Vary %q", got, w.Header().Get("Vary"))
	}
	b.jar["authjs.session-token"] = "eve"
	if b.get("/"); b.jar["authjs.session-token"] != "" {
		t.Error("a session that is gone was not forgotten")
	}
}

// The GET session route and GetSession say the same.
func TestGetSessionIsTheRoutes(t *testing.T) {
	t.Parallel()
	routes := newRoutes(t, route.Config{})
	b := newBrowser(routes)
	b.signIn(t, "/api/auth", "Ada")
	session, err := routes.GetSession(b.request("GET", "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	direct, err := json.Marshal(session.User)
	if err != nil {
		t.Fatal(err)
	}
	if body := b.get("/api/auth/session").Body.String(); !strings.Contains(body, string(direct)) {
		t.Errorf("GetSession gives %s, the route %s", direct, body)
	}
}
